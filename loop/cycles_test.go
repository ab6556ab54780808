package loop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
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
