package loop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// A model makes the calls of a pattern again and again. A round that comes long after the one before counts
// on as long as nothing new comes, however many rounds fit the window; and each nudge is given once.
func TestAnInterruptedCycleIsCountedToItsEnd(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		readOnly bool
		// calls are those of the run, and rounds those of the cycle that ended it. nudges are told at the 4th
		// and the 8th round of each cycle, or at each 10th of a tool that is read-only.
		calls, rounds, nudges int
	}{
		{pattern: "A", calls: 10, rounds: 10, nudges: 2},
		{pattern: "AAB", calls: 29, rounds: 10, nudges: 4},
		{pattern: "AABB", calls: 36, rounds: 10, nudges: 4},
		{pattern: "ABABA", calls: 44, rounds: 10, nudges: 6},
		{pattern: "AAAB", readOnly: true, calls: 102, rounds: 50, nudges: 6},
	} {
		t.Run(fmt.Sprint(c.pattern, c.readOnly), func(t *testing.T) {
			var options []tool.Option
			if c.readOnly {
				options = append(options, tool.ReadOnly())
			}
			type in struct {
				Q string `json:"q"`
			}
			tools, err := tool.NewSet(tool.New("act", "Acts.", func(context.Context, in) (string, error) { return "ok", nil }, options...))
			require.NoError(t, err)
			p := policy.DefaultSet()
			p.MaxTurns = 200
			calls, nudges := 0, 0
			model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
				if last := req.Last(); last.Role == message.User && strings.Contains(last.Text, "again and again") {
					nudges++
				}
				calls++
				letter := c.pattern[(calls-1)%len(c.pattern)]
				return message.Reply{Finish: message.ToolUse, Calls: []message.Call{
					{ID: fmt.Sprint("c", calls), Name: "act", Arguments: fmt.Sprintf(`{"q":%q}`, string(letter))}}}, nil
			})
			_, err = fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: tools, Policy: &p})
			require.ErrorIs(t, err, policy.ReasonNoProgress)
			var x *loop.RetryExhaustedError
			require.ErrorAs(t, err, &x)
			assert.Equal(t, c.rounds, x.Cycle.Rounds)
			assert.Equal(t, c.calls, calls)
			assert.Equal(t, c.nudges, nudges)
		})
	}
}

// A model makes the same call natively and in its text, in turn. What the call returns is the same, also
// where the journal has marks in place of results: those of JSON are texts.
func TestACallIsTheSameInEveryFormOfReply(t *testing.T) {
	type none struct{}
	type paid struct {
		OK bool `json:"ok"`
	}
	for name, pay := range map[string]*tool.Tool{
		"text": tool.New("pay", "Pays.", func(context.Context, none) (string, error) { return "ok", nil }),
		"JSON": tool.New("pay", "Pays.", func(context.Context, none) (paid, error) { return paid{true}, nil }),
	} {
		t.Run(name, func(t *testing.T) {
			tools, err := tool.NewSet(pay)
			require.NoError(t, err)
			turns := 0
			model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
				if turns++; turns%2 == 0 {
					return message.Reply{Text: `<tool_call>{"name": "pay", "arguments": {}}</tool_call>`, Finish: message.Stop}, nil
				}
				return message.Reply{Finish: message.ToolUse,
					Calls: []message.Call{{ID: fmt.Sprint("c", turns), Name: "pay", Arguments: `{}`}}}, nil
			})
			all := []string{""}
			j, err := journal.Open(t.Context(), new(looptest.Store), "order-42", journal.Settings{Redact: &journal.Redaction{
				Tools: map[string]journal.ToolRedaction{"*": {Arguments: all, Result: all}}}})
			require.NoError(t, err)
			defer j.Close()
			s, err := session.New(session.Config{Journal: j})
			require.NoError(t, err)
			_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Go."}, loop.Config{Tools: tools})
			require.ErrorIs(t, err, policy.ReasonNoProgress)
			assert.Equal(t, 10, turns)
			assert.False(t, j.Unfinished(), "the journal has the end")
		})
	}
}

// A model makes the same replies again and again. One of five different calls and more counts as one call,
// whatever the order of its calls is; of fewer calls each counts.
func TestAReplyOfManyCallsIsOneCallOfACycle(t *testing.T) {
	for name, c := range map[string]struct {
		replies []string // capital letters are calls of a tool that declares nothing, small ones of one that reads
		// turns are those of the run, and rounds those of the cycle that ended it; 0 if none did.
		turns, rounds int
		others        []int
	}{
		"the same five":                  {[]string{"ABCDE"}, 10, 10, []int{4}},
		"the same five in another order": {[]string{"ABCDE", "ECABD"}, 10, 10, []int{4}},
		"five that only read":            {[]string{"abcde"}, 50, 50, []int{4}},
		"one of which writes":            {[]string{"abcdE"}, 10, 10, []int{4}},
		"four of five are different":     {[]string{"ABCDA"}, 10, 10, []int{0, 0, 0, 0}},
		"large replies take turns":       {[]string{"ABCDE", "FGHIJK"}, 20, 10, []int{4, 5}},
		"a large and a small one do":     {[]string{"ABCDE", "A"}, 20, 10, []int{4, 0}},
		"one call changes sides":         {[]string{"ABCDEF", "ABCDE"}, 20, 10, []int{5, 4}},
		"a large one is interrupted":     {[]string{"ABCDE", "ABCDE", "F"}, 29, 10, []int{4}},
		"one call stands often in it":    {[]string{"ABABABABABABABABABABABAB"}, 10, 10, []int{0, 0}},
		"five replies take turns":        {[]string{"ABCDE", "ABCDF", "ABCDG", "ABCDH", "ABCDI"}, 60, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			type in struct {
				Q string `json:"q"`
			}
			same := func(context.Context, in) (string, error) { return "ok", nil }
			tools, err := tool.NewSet(tool.New("act", "Acts.", same), tool.New("read", "Reads.", same, tool.ReadOnly()))
			require.NoError(t, err)
			p := policy.DefaultSet()
			turns := 0
			model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
				if turns++; turns > 60 {
					return message.Reply{Text: "Done."}, nil
				}
				r := message.Reply{Finish: message.ToolUse}
				for n, letter := range c.replies[(turns-1)%len(c.replies)] {
					name := "act"
					if letter >= 'a' {
						name = "read"
					}
					r.Calls = append(r.Calls, message.Call{ID: fmt.Sprint("c", turns, "-", n), Name: name, Arguments: fmt.Sprintf(`{"q":%q}`, string(letter))})
				}
				return r, nil
			})
			_, err = fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: tools, Policy: &p})
			if c.rounds == 0 {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, policy.ReasonNoProgress)
			var x *loop.RetryExhaustedError
			require.ErrorAs(t, err, &x)
			assert.Equal(t, c.rounds, x.Cycle.Rounds)
			assert.Equal(t, c.turns, turns)
			var others []int
			for _, one := range x.Cycle.Calls {
				others = append(others, one.Others)
			}
			assert.Equal(t, c.others, others)
			assert.LessOrEqual(t, len(x.Cycle.String()), feedback.MaxQuoted)
		})
	}
}

// A planner is asked at a round at which the model is told, too, and lets the run go on: the model is told
// all the same. With the default rounds of read-only tools this is the 30th.
func TestAPlannerThatFollowsTakesNoNudge(t *testing.T) {
	tools, err := tool.NewSet(tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) { return "ok", nil }, tool.ReadOnly()))
	require.NoError(t, err)
	p := policy.DefaultSet()
	calls, asked, nudges := 0, []int{}, []int{}
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		if last := req.Last(); last.Role == message.User && strings.Contains(last.Text, "again and again") {
			assert.Contains(t, last.Text, fmt.Sprintf("%d times so far; the run ends at 50", calls))
			nudges = append(nudges, calls)
		}
		calls++
		return message.Reply{Finish: message.ToolUse, Calls: []message.Call{{ID: fmt.Sprint("c", calls), Name: "look", Arguments: "{}"}}}, nil
	})
	follows := planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
		asked = append(asked, calls)
		return machine.Plan{Do: machine.Follow}, nil
	})
	_, err = fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: tools, Policy: &p}, loop.WithPlanner(follows))
	require.ErrorIs(t, err, policy.ReasonNoProgress)
	assert.Equal(t, []int{30, 50}, asked)
	assert.Equal(t, []int{10, 20, 30, 40}, nudges)
}
