package temporal

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// The last progress of a call reaches its next attempt, as in process.
func TestProgressReachesTheNextTry(t *testing.T) {
	type page struct{ Done int }
	var seen []page
	tools, err := tool.NewSet(tool.New("copy", "Copies.", func(ctx context.Context, _ struct{}) (string, error) {
		var last page
		if !tool.LastProgress(ctx, &last) {
			return "", tool.Progress(ctx, page{Done: 40})
		}
		seen = append(seen, last)
		return "copied", nil
	}, tool.Idempotent()))
	require.NoError(t, err)

	t.Run("after a worker died", func(t *testing.T) {
		seen = nil
		a, err := newAgent(Worker{Tools: tools, Model: one()})
		require.NoError(t, err)
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		env.RegisterActivityWithOptions(a.callTool, activity.RegisterOptions{Name: "tool"})
		env.SetHeartbeatDetails(`{"Done":40}`)
		call := toolCall{Run: machine.ToolRun{Call: machine.Call{Tool: "copy", Arguments: json.RawMessage(`{}`), Repeatable: true}}}
		for _, t := range a.begin(order{Session: "order-42"}).Tools {
			call.Schema = t.Schema
		}
		out, err := env.ExecuteActivity("tool", over(call))
		require.NoError(t, err)
		var got wire[toolResult]
		require.NoError(t, out.Get(&got))
		assert.Equal(t, machine.Done, got.v.End.Verdict)
		assert.Equal(t, []page{{Done: 40}}, seen)
	})
	t.Run("after it asked for another try", func(t *testing.T) {
		seen = nil
		var tries []int
		set, err := tool.NewSet(tool.New("copy", "Copies.", func(ctx context.Context, _ struct{}) (string, error) {
			_, _, transport := tool.Attempt(ctx)
			tries = append(tries, transport)
			var last page
			if tool.LastProgress(ctx, &last) {
				seen = append(seen, last)
				return "copied", nil
			}
			if err := tool.Progress(ctx, page{Done: 40}); err != nil {
				return "", err
			}
			return "", tool.TryLater(nil, 0)
		}))
		require.NoError(t, err)
		b := newBench(t, Worker{Tools: set, Model: looptest.NewModel(copying(), looptest.Say("Done."))}, loop.Config{})
		r, err := b.run()
		require.NoError(t, err)
		assert.Equal(t, "Done.", r.Text)
		assert.Equal(t, []page{{Done: 40}}, seen)
		assert.Equal(t, []int{1, 2}, tries)
	})
}

func copying() looptest.Turn { t := call("c1", `{}`); t.Reply.Calls[0].Name = "copy"; return t }

// A tool gets from its context what it gets in process.
func TestAToolAsksTheContextOfItsActivity(t *testing.T) {
	taken := session.StateSlice[string]("taken")
	for name, given := range map[string]bool{"with a view": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			tools := echo(t, func(ctx context.Context, text string) (string, error) {
				asked++
				assert.Equal(t, "order-42", tool.SessionID(ctx))
				number, most, transport := tool.Attempt(ctx)
				assert.Equal(t, 1, number)
				assert.Equal(t, policy.Correction().MaxAttempts, most)
				assert.Equal(t, 1, transport)
				view, ok := loop.View(ctx)
				assert.Equal(t, given, ok)
				if given {
					assert.Equal(t, asked-1, session.View(view, taken).Len())
				}
				return text, nil
			})
			keep := session.On(taken, session.EventToolResult, "keep", func(reducer.View[string], json.RawMessage) (reducer.Change[string], error) {
				return reducer.Append("a"), nil
			})
			b := newBench(t, Worker{
				Tools: tools, View: given, Session: session.Config{Slices: []session.Declared{taken}, Reducers: []session.Reducer{keep}},
				Model: looptest.NewModel(call("c1", `{"text":"a"}`), call("c2", `{"text":"b"}`), looptest.Say("Done.")),
			}, loop.Config{})
			_, err := b.run()
			require.NoError(t, err)
			assert.Equal(t, 2, asked)
		})
	}
}
