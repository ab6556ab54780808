package looptest_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// failing records the errors of a test.
type failing struct {
	testing.TB
	errors []string
}

func (f *failing) Helper() {}

func (f *failing) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func TestAssertionsOfARun(t *testing.T) {
	s, err := session.New(session.Config{ID: "test-1"})
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(message.Call{Name: "no_such_tool", Arguments: "{}"}), looptest.Say("Hello."))
	result, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Say hello."}, loop.Config{})
	looptest.AssertAnswer(t, result, err, "Hello.")
	looptest.AssertAttempts(t, result.Attempts,
		"no_such_tool attempt 1 of 3: unknown_tool, again (immediate)",
		"attempt 1 of 3: passed (accepted)")
	assert.True(t, looptest.AssertAnswer(t, loop.Result{Value: json.RawMessage(`{"a":1,"b":1e2}`)}, nil, `{"b": 1e2, "a": 1}`))

	var told failing
	assert.False(t, looptest.AssertAttempts(&told, result.Attempts[:1], "another"))
	assert.False(t, looptest.AssertAnswer(&told, result, nil, "Goodbye."))
	assert.Equal(t, []string{
		"other attempts than wanted\ngot:\nno_such_tool attempt 1 of 3: unknown_tool, again (immediate)\nwant:\nanother",
		"other answer than wanted\ngot:\nHello.\nwant:\nGoodbye.",
	}, told.errors)
}

func TestAssertionsOfAStop(t *testing.T) {
	err := &loop.RetryExhaustedError{Reason: policy.ReasonDeadline}
	assert.Same(t, err, looptest.AssertStopped(t, fmt.Errorf("booking: %w", err), policy.ReasonDeadline))
	var told failing
	assert.Nil(t, looptest.AssertStopped(&told, err, policy.ReasonAttemptsExhausted))
	assert.Nil(t, looptest.AssertStopped(&told, nil, policy.ReasonDeadline))
	assert.False(t, looptest.AssertAnswer(&told, loop.Result{}, err, "Hello."))
	assert.Equal(t, []string{
		"it did not stop by attempts_exhausted: run stopped: the deadline leaves no time",
		"it did not stop by deadline: <nil>",
		"the run has no answer: run stopped: the deadline leaves no time\nwant: Hello.",
	}, told.errors)
}
