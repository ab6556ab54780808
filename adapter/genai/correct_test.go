package genai_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// There is no call to answer, so the model gets a message, without a wait.
func TestACallThatTheAPICannotReadIsCorrected(t *testing.T) {
	for reason, want := range map[string]struct {
		class fault.Class
		words string
	}{
		"MALFORMED_FUNCTION_CALL": {fault.ToolValidation, "a function call that can be read"},
		"UNEXPECTED_TOOL_CALL":    {fault.UnknownTool, "a call of a function that is on offer"},
		"TOO_MANY_TOOL_CALLS":     {fault.ToolValidation, "fewer function calls"},
	} {
		t.Run(reason, func(t *testing.T) {
			s := kittest.Serve(t, "200 OK\n\n"+`{"candidates":[{"finishReason":"`+reason+`"}]}`, "200 OK\n\n"+done)
			tools, err := tool.NewSet(kittest.BookRoom())
			require.NoError(t, err)
			sess, err := session.New(session.Config{ID: "order-42"})
			require.NoError(t, err)
			clock := looptest.NewClock()
			l, err := loop.New(model(t, s.URL, s.Client), loop.Config{Tools: tools}, loop.WithClock(clock))
			require.NoError(t, err)
			result, err := l.Run(t.Context(), sess, loop.Input{Prompt: "Book."})
			require.NoError(t, err)
			assert.Equal(t, "Hello.", result.Text)
			assert.Equal(t, want.class, result.Attempts[0].Class)
			assert.Zero(t, result.Waited)
			assert.Contains(t, s.Requests()[1], want.words)
		})
	}
}
