package temporal

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// A deadline that a model, a tool or a try gives a context of its own is a timeout of the call, and not the
// end of the run.
func TestADeadlineOfAModelsOwnIsATimeout(t *testing.T) {
	late, searched := fmt.Errorf("post: %w", context.DeadlineExceeded), 0
	tools, err := tool.NewSet(tool.New("search", "Searches.", func(context.Context, struct{}) (string, error) {
		searched++
		return "", late
	}, tool.ReadOnly()))
	require.NoError(t, err)
	search := looptest.Call(message.Call{ID: "c1", Name: "search", Arguments: "{}"})
	model := looptest.NewModel(looptest.Fail(late), search, looptest.Say("Nothing."))
	r, err := newBench(t, Worker{Model: model, Tools: tools}, loop.Config{}).run()
	require.NoError(t, err)
	assert.Equal(t, "Nothing.", r.Text)
	assert.Equal(t, fault.Timeout, r.Attempts[0].Class)
	assert.Equal(t, 4, searched)
	require.Len(t, r.ToolFailures, 1)
	assert.Equal(t, fault.Timeout, r.ToolFailures[0].Class)
}

// What wraps itself is told like any other error.
func TestAnErrorThatWrapsItselfHangsNoActivity(t *testing.T) {
	r, err := newBench(t, Worker{Model: looptest.NewModel(call("c1", `{"text":"x"}`), looptest.Say("Done.")),
		Tools: echo(t, func(context.Context, string) (string, error) { return "", circle{} })}, loop.Config{}).run()
	require.NoError(t, err)
	require.Len(t, r.ToolFailures, 1)
	require.ErrorContains(t, r.ToolFailures[0].Err, "circle")
	_, err = newBench(t, Worker{Model: looptest.NewModel(looptest.Fail(circle{}))}, loop.Config{}).run()
	require.ErrorContains(t, err, "circle")
}

// circle wraps itself.
type circle struct{}

func (c circle) Error() string   { return "circle" }
func (c circle) Unwrap() []error { return []error{c, c} }
