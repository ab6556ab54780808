package dbos

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// atOnce makes attempts of the transport plane without a wait.
func atOnce() *policy.Set {
	set := policy.DefaultSet()
	b := backoff.Constant(0)
	set.Transport.Backoff = &b
	return &set
}

// A choice is held against the tools, and asked of the model as in process.
func TestACallIsForcedAsInProcess(t *testing.T) {
	tools, err := tool.NewSet(tool.New("echo", "Says it again.", func(context.Context, struct{}) (string, error) { return "said", nil }))
	require.NoError(t, err)
	call := looptest.Call(message.Call{ID: "c1", Name: "echo", Arguments: "{}"})
	n := 0
	for choice, want := range map[message.ToolChoice][]message.ToolChoice{
		"echo":          {"echo", ""},
		message.AnyTool: {message.AnyTool, ""},
		message.NoTool:  {message.NoTool, message.NoTool},
	} {
		model := looptest.NewModel(call, looptest.Say("Done."))
		c, r := launched(t, fmt.Sprint("choice", n), Agent{Model: model, Config: loop.Config{Tools: tools, ToolChoice: choice}})
		run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go."})
		require.NoError(t, err)
		_, err = run.Result()
		require.NoError(t, err)
		var got []message.ToolChoice
		for _, r := range model.Requests() {
			got = append(got, r.ToolChoice)
		}
		assert.Equal(t, want, got, choice)
		n++
	}
	_, err = Register(contextOf(t, "choiceless"), Agent{Model: looptest.NewModel(), Config: loop.Config{Tools: tools, ToolChoice: "book"}})
	assert.ErrorContains(t, err, `there is no tool "book"`)
}

// A deadline that a model or a tool gives a context of its own is a timeout of the call, and not the end of the
// run.
func TestADeadlineOfAModelsOwnIsATimeout(t *testing.T) {
	late := fmt.Errorf("post: %w", context.DeadlineExceeded)
	var searched atomic.Int32
	tools, err := tool.NewSet(tool.New("search", "Searches.", func(context.Context, struct{}) (string, error) {
		searched.Add(1)
		return "", late
	}, tool.ReadOnly()))
	require.NoError(t, err)
	call := looptest.Call(message.Call{ID: "c1", Name: "search", Arguments: "{}"})
	model := looptest.NewModel(looptest.Fail(late), call, looptest.Say("Nothing."))
	c, r := launched(t, "late", Agent{Model: model, Config: loop.Config{Tools: tools, Policy: atOnce()}})
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Search."})
	require.NoError(t, err)
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Nothing.", result.Text)
	assert.Equal(t, fault.Timeout, result.Attempts[0].Class)
	assert.EqualValues(t, 4, searched.Load())
	require.Len(t, result.ToolFailures, 1)
	assert.Equal(t, fault.Timeout, result.ToolFailures[0].Class)
}
