package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
)

// The last attempt has feedback like the others, although no attempt follows: the caller can show it. It is
// the same in a run, in a session, without one, and from the journal of an ended action.
func TestExhaustionCarriesItsFeedback(t *testing.T) {
	missing := &fault.ToolValidationError{Tool: "book_room", Issues: []fault.Issue{
		{Pointer: "/city", Rule: "required", Expected: "string", Source: fault.FromSchema}}}
	try := func(context.Context, loop.Attempt) (int, error) { return 0, missing }
	j := recorded(t, journal.Dir(t.TempDir()))
	defer j.Close()
	named := loop.ToolCall("book_room")
	named.ID = "book"
	again := func() error {
		_, err := loop.Do(t.Context(), fixture.In(nil, j), named, try)
		return err
	}
	require.Error(t, again())
	bad := looptest.Call(call("book_room", `{"nights":2,"room":"single"}`))
	for name, do := range map[string]func() error{
		"run": func() error {
			_, err := fixture.Run(t.Context(), looptest.NewModel(bad, bad, bad), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)})
			return err
		},
		"do_with_a_session": func() error {
			_, err := loop.Do(t.Context(), newSession(t), loop.ToolCall("book_room"), try)
			return err
		},
		"do_without": func() error {
			_, err := loop.Do(t.Context(), nil, loop.ToolCall("book_room"), try)
			return err
		},
		"an_end_in_the_journal": again,
	} {
		t.Run(name, func(t *testing.T) {
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, do(), &exhausted)
			fb := exhausted.Feedback
			require.NotNil(t, fb)
			assert.Equal(t, []int{3, 3}, []int{fb.Attempt, fb.MaxAttempts})
			assert.Equal(t, feedback.Tool, fb.Source)
			assert.Nil(t, fb.Schedule, "nothing is scheduled")
			assert.Equal(t, "/city", fb.Issues[0].Pointer)
			assert.Len(t, fb.Diff.Persistent, 1)
		})
	}
	silent := loop.ToolCall("book_room")
	silent.Policy.EmitFeedback = false
	_, err := loop.Do(t.Context(), newSession(t), silent, try)
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, policy.ReasonAttemptsExhausted, exhausted.Reason)
	assert.Nil(t, exhausted.Feedback)
}
