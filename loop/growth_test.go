package loop_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// manyCalls are replies of n calls, native and in text.
var manyCalls = []struct {
	name string
	call func(n int) (tool, arguments string)
}{
	{"good", func(n int) (string, string) { return "add", fmt.Sprintf(`{"n": %d}`, n) }},
	{"equal", func(int) (string, string) { return "add", `{"n": 1}` }},
	{"bad", func(n int) (string, string) { return "add", fmt.Sprintf(`{"m%d": %d}`, n, n) }},
	{"unknown", func(n int) (string, string) { return fmt.Sprintf("ad%d", n), `{}` }},
	{"refused", func(n int) (string, string) { return "refuse", fmt.Sprintf(`{"n": %d}`, n) }},
	{"failing", func(n int) (string, string) { return "fail", fmt.Sprintf(`{"n": %d}`, n) }},
}

type addend struct {
	N int `json:"n"`
}

func replyOf(n int, native bool, call func(int) (string, string)) looptest.Turn {
	var (
		calls []message.Call
		text  strings.Builder
	)
	for i := range n {
		name, arguments := call(i)
		calls = append(calls, message.Call{ID: fmt.Sprintf("c%d", i), Name: name, Arguments: arguments})
		fmt.Fprintf(&text, "<tool_call>{\"name\": %q, \"arguments\": %s}</tool_call>\n", name, arguments)
	}
	if native {
		return looptest.Call(calls...)
	}
	return looptest.Say(text.String())
}

// without is a config without any bounds.
func without(t testing.TB) loop.Config {
	tools, err := tool.NewSet(
		tool.New("add", "Add.", func(_ context.Context, a addend) (int, error) { return a.N, nil }),
		tool.New("refuse", "Refuse.", func(context.Context, addend) (int, error) { return 0, tool.AskAgain() }),
		tool.New("fail", "Fail.", func(context.Context, addend) (int, error) { return 0, tool.Fail(strings.Repeat("no ", 500)) }),
	)
	require.NoError(t, err)
	set := policy.DefaultSet()
	free := policy.Unlimited
	set.MaxCalls, set.Budgets = free, policy.Budgets{Tool: free, Run: free, UnknownTools: free}
	return loop.Config{Tools: tools, Policy: &set}
}

// ranWith runs one reply of n calls and an answer. It returns the prompt after the calls.
func ranWith(t testing.TB, cfg loop.Config, turn looptest.Turn) []message.Message {
	s, err := session.New(session.Config{ID: "many"})
	require.NoError(t, err)
	model := looptest.NewModel(turn, looptest.Say("done"))
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Add."}, cfg, loop.WithParallel(4))
	require.NoError(t, err)
	return model.Requests()[1].Messages
}

// BenchmarkManyCalls runs a reply of as many calls as there may be. Twice as many cost twice as much: compare
// ns/call.
func BenchmarkManyCalls(b *testing.B) {
	for _, kind := range manyCalls {
		for _, n := range []int{125, 250, 500, 1000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				cfg, turn := without(b), replyOf(n, true, kind.call)
				for b.Loop() {
					ranWith(b, cfg, turn)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
			})
		}
	}
}

// Replies of up to some hundred calls (the default allows 128) need memory in proportion. Of
// thousands, the list of calls that each outcome copies is the larger part.
func TestManyCallsTakeMemoryInProportion(t *testing.T) {
	recorded := func(t *testing.T, n int) float64 {
		cfg, turn := without(t), replyOf(n, true, manyCalls[0].call)
		return taken(func() {
			j, err := journal.Open(t.Context(), journal.Dir(t.TempDir()), "many", journal.Settings{Sync: journal.SyncNever})
			require.NoError(t, err)
			_, err = fixture.Run(t.Context(), looptest.NewModel(turn, looptest.Say("done")), fixture.In(nil, j), loop.Input{Prompt: "Add."},
				cfg, loop.WithParallel(4))
			require.NoError(t, err)
		})
	}
	t.Run("recorded", func(t *testing.T) {
		recorded(t, 64)
		assert.Less(t, recorded(t, 256)/recorded(t, 64), 6.0, "4 times as many calls")
	})
	for _, kind := range manyCalls {
		for _, native := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/native=%v", kind.name, native), func(t *testing.T) {
				cfg := without(t)
				few, many := replyOf(64, native, kind.call), replyOf(256, native, kind.call)
				ran := func(turn looptest.Turn) float64 { return taken(func() { ranWith(t, cfg, turn) }) }
				ran(few) // what is made once
				assert.Less(t, ran(many)/ran(few), 6.0, "4 times as many calls")
			})
		}
	}
}

// taken is the memory that a run allocates.
func taken(run func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// What a run keeps of its answers from people and of its calls in doubt is not copied with each new one.
func TestManyTurnsTakeMemoryInProportion(t *testing.T) {
	approve := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		return machine.Response{Verdict: machine.Approve}, nil
	}
	for name, call := range map[string]func(context.Context, addend) (int, error){
		"approved": func(_ context.Context, a addend) (int, error) { return a.N, nil },
		"in doubt": func(context.Context, addend) (int, error) { return 0, tool.ErrUnknown },
	} {
		t.Run(name, func(t *testing.T) {
			tools, err := tool.NewSet(tool.New("add", "Add.", call))
			require.NoError(t, err)
			set := policy.DefaultSet()
			free := policy.Unlimited
			set.MaxTurns, set.Budgets = free, policy.Budgets{Tool: free, Run: free, UnknownTools: free}
			set.Global.Approval = &policy.Approval{When: policy.ApproveAlways}
			set.Global.EqualCalls = policy.EqualRecorded
			ran := func(turns int) float64 {
				n := 0
				model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
					if n++; n > turns {
						return message.Reply{Text: "done"}, nil
					}
					c := message.Call{ID: fmt.Sprint("c", n), Name: "add", Arguments: fmt.Sprintf(`{"n": %d}`, n)}
					return message.Reply{Calls: []message.Call{c}}, nil
				})
				s, err := session.New(session.Config{ID: "many"})
				require.NoError(t, err)
				return taken(func() {
					_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Add."}, loop.Config{Tools: tools, Policy: &set},
						loop.WithApprover(approve))
					require.NoError(t, err)
				})
			}
			ran(100) // what is made once
			assert.Less(t, ran(400)/ran(100), 6.0, "4 times as many turns")
		})
	}
}

// A reducer appends to a slice without a copy of it, although what it makes is tried before it is applied.
func TestASliceIsNotCopiedByEachAppend(t *testing.T) {
	const held, header = 20_000, 24
	taken := func(held int) float64 {
		paid := session.StateSlice[int]("paid")
		s, err := session.New(session.Config{ID: "many", Slices: []session.Declared{paid}, Reducers: []session.Reducer{
			session.On(paid, session.EventToolResult, "pay", func(reducer.View[int], session.ToolResultEvent) (reducer.Change[int], error) {
				return reducer.Append(1), nil
			}),
			session.On(paid, "filled", "fill", func(reducer.View[int], int) (reducer.Change[int], error) {
				return reducer.Extend(make([]int, held)...), nil
			}),
		}})
		require.NoError(t, err)
		require.NoError(t, s.Dispatch(session.Event{Name: "filled", Payload: []byte("0")}))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		model := looptest.NewModel(replyOf(100, true, manyCalls[0].call), looptest.Say("done"))
		_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Add."}, without(t))
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		all, _ := s.State().Values("paid")
		require.Len(t, all, held+100)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	taken(0) // what is made once
	assert.Less(t, (taken(held)-taken(0))/(held*header), 20.0, "copies of the slice for a hundred calls")
}

// The limits of one feedback bound the text about all calls of a reply. Each native call gets at least a
// line.
func TestTheFeedbackOfOneReplyIsBounded(t *testing.T) {
	const line = 100
	limit := feedback.DefaultLimits().MaxBytes
	most := policy.MostCalls
	if testing.Short() {
		most = 200
	}
	for _, kind := range manyCalls[2:] {
		t.Run(kind.name, func(t *testing.T) {
			for _, n := range []int{1, 3, 40, most} {
				said := ranWith(t, without(t), replyOf(n, true, kind.call))
				total, answers := 0, 0
				for _, m := range said {
					if m.Role == message.Tool {
						total, answers = total+len(m.Text), answers+1
					}
				}
				assert.Equal(t, n, answers)
				assert.LessOrEqual(t, total, limit+n*line, "%d native calls", n)

				text := ranWith(t, without(t), replyOf(n, false, kind.call))
				assert.LessOrEqual(t, len(text[len(text)-1].Text), limit+2*line, "%d calls in a text", n)
			}
		})
	}
}

func TestTooManyCallsAreNotLookedAt(t *testing.T) {
	const n = 40_000
	cfg := without(t)
	cfg.Policy.MaxCalls = policy.DefaultSet().MaxCalls
	want := "Automatic check, not a message from the user: your reply makes too many tool calls, and none of them was run (attempt 1 of 3).\n" +
		"- too many calls, expected at most 128 calls in one reply, got 40000\nReply again with fewer calls."
	for _, kind := range manyCalls {
		said := ranWith(t, cfg, replyOf(n, true, kind.call))
		shown := cfg.Policy.MaxCalls
		require.Len(t, said, 1+1+shown+1, "each call that is shown is answered")
		require.Len(t, said[1].Calls, shown)
		assert.Equal(t, want, said[2+shown].Text, kind.name)
		assert.Equal(t, "Not run: the reply as a whole could not be used.", said[2].Text)
		assert.Equal(t, "Not run: the reply as a whole could not be used. It had 40000 calls; the others are left out here.", said[1+shown].Text)
	}
	said := ranWith(t, cfg, replyOf(n, false, manyCalls[0].call))
	require.Len(t, said, 3)
	assert.Equal(t, want, said[2].Text, "in a text")
}

// A policy without a bound leaves the one that every reply has.
func TestWithoutABoundAReplyMakesAThousandCalls(t *testing.T) {
	for _, native := range []bool{true, false} {
		said := ranWith(t, without(t), replyOf(policy.MostCalls, native, manyCalls[0].call))
		assert.NotContains(t, said[len(said)-1].Text, "too many", "native %v", native)
		said = ranWith(t, without(t), replyOf(policy.MostCalls+1, native, manyCalls[0].call))
		assert.Contains(t, said[len(said)-1].Text, "- too many calls, expected at most 1000 calls in one reply, got 1001\n", "native %v", native)
	}
}
