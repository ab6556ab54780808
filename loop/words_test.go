package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/session"
)

// A run that leaves its model call for a message knows of the message: else it would make the same call
// again.
func TestARunThatLeavesItsCallKnowsOfTheMessage(t *testing.T) {
	var e unrecordedWords
	signalled, left := false, false
	e.setCall(func(error) {
		left = true
		assert.True(t, signalled, "the call was left before the run knew why")
	})
	e.add(session.Words{Text: "Stop.", Stop: true}, func() { signalled = true })
	assert.True(t, left)
}

// A message that came between the run's last look and its call stops the call as well.
func TestAMessageStopsTheCallThatBeginsWithoutIt(t *testing.T) {
	var e unrecordedWords
	e.add(session.Words{Text: "Stop.", Stop: true}, func() {})
	left := false
	e.setCall(func(error) { left = true })
	assert.True(t, left)

	assert.Len(t, e.take(), 1)
	e.setCall(func(error) { assert.Fail(t, "the call has the message") })
}

// Who looks into an inbox may be slow: the call that is under way once it knows has the message already.
func TestASlowLookStopsNoLaterCall(t *testing.T) {
	var e unrecordedWords
	var left []string
	e.setCall(func(error) { left = append(left, "the first") })
	leave := e.canceller()
	e.setCall(func(error) { left = append(left, "the second") })
	leave()
	assert.Equal(t, []string{"the first"}, left)
}
