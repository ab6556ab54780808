package temporal

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
)

// A choice is held against the tools of the worker that are offered, and asked of the model as in process.
func TestACallIsForcedWithTheToolsOfTheWorker(t *testing.T) {
	for choice, want := range map[message.ToolChoice][]message.ToolChoice{
		"echo":          {"echo", "echo", ""},
		message.AnyTool: {message.AnyTool, message.AnyTool, ""},
		message.NoTool:  {message.NoTool, message.NoTool, message.NoTool},
	} {
		model := looptest.NewModel(call("c1", `{"text":1}`), call("c2", `{"text":"Hi."}`), looptest.Say("Done."))
		ran := false
		tools := echo(t, func(ctx context.Context, text string) (string, error) {
			ran = true
			return say(ctx, text)
		})
		_, err := newBench(t, Worker{Model: model, Tools: tools}, loop.Config{ToolChoice: choice}).run()
		require.NoError(t, err)
		var got []message.ToolChoice
		for _, r := range model.Requests() {
			got = append(got, r.ToolChoice)
		}
		assert.Equal(t, want, got, choice)
		assert.Equal(t, choice != message.NoTool, ran, choice)
	}
}

func TestAChoiceThatTheWorkerDoesNotHaveIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		choice message.ToolChoice
		worker Worker
		offer  []string
		want   string
	}{
		"unknown": {"book", Worker{Tools: echo(t, say)}, nil,
			`temporal: tool_choice: there is no tool "book": name one of Tools (echo), or leave it empty`},
		"not_offered": {"echo", Worker{Tools: echo(t, say)}, []string{},
			"temporal: tool_choice: there is no tool to call: give Tools, or leave it empty"},
		"no_tools": {message.AnyTool, Worker{}, nil,
			"temporal: tool_choice: there is no tool to call: give Tools, or leave it empty"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.worker.Model = looptest.NewModel(looptest.Say("Hi."))
			b := newBench(t, tt.worker, loop.Config{ToolChoice: tt.choice})
			b.order.Tools = tt.offer
			_, err := b.run()
			require.EqualError(t, err, tt.want)
		})
	}
}
