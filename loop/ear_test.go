package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/session"
)

// A run that leaves its model call for a message knows of the message: else it would make the same call
// again.
func TestARunThatLeavesItsCallKnowsOfTheMessage(t *testing.T) {
	var e ear
	poked, left := false, false
	e.calling(func(error) {
		left = true
		assert.True(t, poked, "the call was left before the run knew why")
	})
	e.hear(session.Words{Text: "Stop.", Stop: true}, func() { poked = true })
	assert.True(t, left)
}

// A message that came between the run's last look and its call stops the call as well.
func TestAMessageStopsTheCallThatBeginsWithoutIt(t *testing.T) {
	var e ear
	e.hear(session.Words{Text: "Stop.", Stop: true}, func() {})
	left := false
	e.calling(func(error) { left = true })
	assert.True(t, left)

	assert.Len(t, e.heard(), 1)
	e.calling(func(error) { assert.Fail(t, "the call has the message") })
}

// Who looks into an inbox may be slow: the call that is under way once it knows has the message already.
func TestASlowLookStopsNoLaterCall(t *testing.T) {
	var e ear
	var left []string
	e.calling(func(error) { left = append(left, "the first") })
	leave := e.leaver()
	e.calling(func(error) { left = append(left, "the second") })
	leave()
	assert.Equal(t, []string{"the first"}, left)
}
