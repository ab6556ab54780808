package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
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

// The calls whose effect is unknown are in the result, and in the error of a run that failed, with their
// keys.
func TestCallsInDoubtAreInTheResult(t *testing.T) {
	for name, c := range map[string]struct {
		end, again error
		budget     int
		doubt      int
	}{
		"a call that failed":          {end: errors.New("reading the receipt failed"), doubt: 1},
		"a call that panicked":        {doubt: 1},
		"a call of unknown outcome":   {end: tool.ErrUnknown, doubt: 1},
		"a call that failed for good": {end: tool.Fail("no money")},
		"a call that did nothing":     {end: tool.TryLater(nil, 0)},
		"a call that ends the run":    {end: errors.New("reading the receipt failed"), budget: 1, doubt: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var key string
			tools, err := tool.NewSet(tool.New("pay", "Pay.", func(ctx context.Context, _ struct{}) (string, error) {
				if key = tool.IdempotencyKey(ctx); c.end == nil {
					panic("no till")
				}
				return "", c.end
			}))
			require.NoError(t, err)
			set := policy.DefaultSet()
			turns := []looptest.Turn{looptest.Call(call("pay", `{}`)), looptest.Say("Done.")}
			if c.budget > 0 {
				set.Budgets.Tool = c.budget - 1
			}
			result, err := fixture.Run(t.Context(), looptest.NewModel(turns...), newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools, Policy: &set}, loop.WithClock(looptest.NewClock()))
			got := result.InDoubt
			if c.budget > 0 {
				var exhausted *loop.RetryExhaustedError
				require.ErrorAs(t, err, &exhausted)
				assert.Equal(t, got, exhausted.InDoubt)
			} else {
				require.NoError(t, err)
			}
			if c.doubt == 0 {
				assert.Empty(t, got)
				return
			}
			assert.Equal(t, []machine.CallRef{{Tool: "pay", CallID: "c1", Key: key}}, got)
		})
	}
}

// A call that is made again and succeeds is no longer in doubt.
func TestACallThatSucceedsTheSecondTimeIsNotInDoubt(t *testing.T) {
	runs := 0
	result, _ := payTwice(t, func() error {
		if runs++; runs == 1 {
			return errors.New("reading the receipt failed")
		}
		return nil
	})
	assert.Empty(t, result.InDoubt)
}

// What a later try of a call says is no word about the effect of an earlier one, unless it succeeds: the
// first may have been carried out, or still be under way.
func TestALaterTryThatFailsLeavesTheFirstInDoubt(t *testing.T) {
	lost := &fault.TransportError{Class: fault.Timeout}
	full := fault.Issue{Pointer: "/n", Rule: "free", Expected: "a room that is free"}
	for name, c := range map[string]struct {
		later    error
		readOnly bool
		doubt    string
	}{
		"fails":                  {tool.Fail("no room"), false, `The call failed, and its effect may or may not have happened. The tool says: "no room"`},
		"asks again":             {tool.AskAgain(full), false, "Something that this call did may or may not have happened.\n"},
		"succeeds":               {nil, false, ""},
		"fails, and only reads":  {tool.Fail("no room"), true, ""},
		"asks again, only reads": {tool.AskAgain(full), true, ""},
	} {
		for way, declared := range map[string]bool{"by the policy": true, "by the model": false} {
			if c.readOnly && !declared {
				continue
			}
			t.Run(name+", "+way, func(t *testing.T) {
				var opts []tool.Option
				turns := []looptest.Turn{looptest.Call(call("book", `{}`)), looptest.Call(call("book", `{}`)), looptest.Say("Done.")}
				if declared {
					opts, turns = append(opts, tool.Idempotent()), turns[1:]
				}
				if c.readOnly {
					opts = []tool.Option{tool.ReadOnly()}
				}
				tries := 0
				tools, err := tool.NewSet(tool.New("book", "Book.", func(context.Context, struct{}) (string, error) {
					if tries++; tries == 1 {
						return "", lost
					}
					return "booked", c.later
				}, opts...))
				require.NoError(t, err)
				model := looptest.NewModel(turns...)
				r, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
				require.NoError(t, err)
				assert.Equal(t, 2, tries)
				told := model.Requests()[len(turns)-1].Last().Text
				if c.doubt == "" {
					assert.Empty(t, r.InDoubt)
					assert.NotContains(t, told, "may or may not")
					return
				}
				assert.Len(t, r.InDoubt, 1)
				assert.Contains(t, told, c.doubt)
			})
		}
	}
}

func payTwice(t *testing.T, end func() error) (loop.Result, error) {
	t.Helper()
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "paid", end() }))
	require.NoError(t, err)
	return fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Call(call("pay", `{}`)), looptest.Say("Done.")), newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
}

// The calls that run when the run ends are in doubt, and the conversation says so. Those that had not begun
// are not.
func TestCallsThatRunWhenTheRunEndsAreInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		parallel int
		journal  bool
	}{"one at a time": {1, false}, "two at a time": {2, false}, "recorded": {2, true}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			began := make(chan string, 3)
			tools, err := tool.NewSet(tool.New("pay", "Pay.", func(ctx context.Context, _ struct {
				N int `json:"n"`
			}) (string, error) {
				if began <- tool.CallID(ctx); len(began) == c.parallel {
					cancel()
				}
				<-ctx.Done()
				return "", ctx.Err()
			}))
			require.NoError(t, err)
			opts := []loop.Option{loop.WithParallel(c.parallel)}
			var j *journal.Journal
			if c.journal {
				j, err = journal.Open(t.Context(), journal.Dir(t.TempDir()), "s", journal.Settings{})
				require.NoError(t, err)
			}
			calls := []message.Call{call("pay", `{"n":1}`), call("pay", `{"n":2}`), call("pay", `{"n":3}`)}
			for n := range calls {
				calls[n].ID = string(rune('a' + n))
			}
			result, err := fixture.Run(ctx, looptest.NewModel(looptest.Call(calls...)), fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Pay.", RequestID: "r"}, loop.Config{Tools: tools}, opts...)
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, err, &exhausted)
			require.Len(t, result.InDoubt, c.parallel)
			assert.Equal(t, result.InDoubt, exhausted.InDoubt)
			for n, said := range result.Transcript[2:] {
				want := "Not done: the run was stopped."
				if n < c.parallel {
					want = "No result: the run was stopped. The effect of this call may or may not have happened."
					assert.Equal(t, calls[n].ID, result.InDoubt[n].CallID)
					assert.NotEmpty(t, result.InDoubt[n].Key)
				}
				assert.Equal(t, want, said.Text)
			}
			if c.journal {
				again, err := fixture.Run(t.Context(), looptest.NewModel(), fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Pay.", RequestID: "r"}, loop.Config{Tools: tools}, opts...)
				require.Error(t, err)
				assert.Equal(t, result.InDoubt, again.InDoubt)
			}
		})
	}
}

// A read-only tool has no effect that may have happened: its call may fail, and is never in doubt.
func TestACallOfAReadOnlyToolIsNeverInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		end  error
		told string
	}{
		"it failed":                 {errors.New("no such file"), "The call failed."},
		"it failed more than once":  {&fault.ProviderError{Class: fault.Unavailable}, "The call failed 4 times."},
		"it panicked":               {nil, "The call failed."},
		"nobody knows":              {tool.ErrUnknown, "The outcome of this call is not known."},
		"it says that it may have":  {&tool.FailedError{Text: "half read", InDoubt: true}, `The tool failed: "half read"`},
		"it was stopped in the run": {context.Canceled, "No result: the run was stopped."},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tools, err := tool.NewSet(tool.New("look", "Looks.", func(ctx context.Context, _ struct{}) (string, error) {
				switch {
				case c.end == nil:
					panic("no eyes")
				case errors.Is(c.end, context.Canceled):
					cancel()
					<-ctx.Done()
				}
				return "", c.end
			}, tool.ReadOnly()))
			require.NoError(t, err)
			var heard []session.ToolFailedEvent
			told := session.LogSlice[session.ToolFailedEvent]("told")
			s, err := session.New(session.Config{Slices: []session.Declared{told}, Reducers: []session.Reducer{
				session.On(told, session.EventToolFailed, "hear", reducer.Appending[session.ToolFailedEvent]()),
			}})
			require.NoError(t, err)
			result, err := fixture.Run(ctx, looptest.NewModel(looptest.Call(call("look", `{}`)), looptest.Say("Done.")), s, loop.Input{Prompt: "Look."},
				loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
			if stopped := errors.Is(c.end, context.Canceled); !stopped {
				require.NoError(t, err)
				require.Len(t, result.ToolFailures, 1, "it has failed")
				for _, e := range session.View(s.State(), told).All() {
					heard = append(heard, e)
				}
				require.Len(t, heard, 1)
				assert.False(t, heard[0].InDoubt)
			}
			assert.Empty(t, result.InDoubt)
			assert.Equal(t, c.told, result.Transcript[2].Text)
		})
	}
}

// A policy comes to want approval between two tries. A person who refuses the second does not undo the first.
func TestASecondTryThatIsRefusedLeavesTheFirstInDoubt(t *testing.T) {
	var key string
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(ctx context.Context, _ struct{}) (string, error) {
		key = tool.IdempotencyKey(ctx)
		return "", &fault.TransportError{Class: fault.Timeout}
	}, tool.Idempotent()))
	require.NoError(t, err)
	adjust := func(session.State) (layer policy.Layer, ok bool) {
		return policy.Layer{Approval: &policy.Approval{When: policy.ApproveAlways}}, key != ""
	}
	refuse := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		return machine.Response{Verdict: machine.Refuse}, nil
	}
	r, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Say("Done.")), newSession(t),
		loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()), loop.WithAdjust(adjust),
		loop.WithApprover(refuse))
	require.NoError(t, err)
	assert.Equal(t, []machine.CallRef{{Tool: "pay", CallID: "c1", Key: key}}, r.InDoubt)
	assert.Equal(t, "Not run again: a person refused this call. The effect of this call may or may not have happened.", r.Transcript[2].Text)
}
