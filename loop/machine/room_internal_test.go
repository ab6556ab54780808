package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// A room waits for its next run in memory that all runs of a program share: a call of an earlier one, with all that it was told, is
// not in there, however many calls came after it.
func TestARoomThatIsClearedHasNoCallInIt(t *testing.T) {
	s, err := session.New(session.Config{ID: "order-42"})
	require.NoError(t, err)
	st, err := New(Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}, s.State())
	require.NoError(t, err)
	var room Room
	step := func(ev Event) {
		ev.At = time.Unix(0, 0).UTC()
		_, err := room.Step(&st, &ev)
		require.NoError(t, err)
	}
	step(Event{Kind: Started, Messages: []message.Message{{Role: message.User, Text: "Pay."}}})
	for _, calls := range []int{1, 1, 2, 2, maxKept + 1} {
		reply := Reply{Native: true, Message: message.Reply{Finish: message.ToolUse}}
		for range calls {
			reply.Calls = append(reply.Calls, Call{ID: "c1", Tool: "pay", Arguments: []byte(`{"card":"4242"}`)})
		}
		step(Event{Kind: Replied, Reply: &reply})
		for n := range calls {
			step(Event{Kind: ToolEnded, Tool: &ToolEnd{Index: n, Verdict: Done, Result: []byte("1")}})
		}
	}
	room.Clear()
	for _, b := range room.batches {
		assert.Zero(t, b.one)
		for _, c := range b.Calls[:cap(b.Calls)] {
			assert.Zero(t, c)
		}
	}
}
