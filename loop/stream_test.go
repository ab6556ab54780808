package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
)

// streaming breaks off within a word if its script has an error.
func streaming(script ...looptest.Turn) loop.Model {
	model := looptest.NewModel(script...)
	return loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		reply, err := model.Reply(ctx, req)
		if err != nil {
			req.Stream(loop.Delta{Call: -1, Text: "Ha"})
		}
		return reply, err
	})
}

func TestAStreamSaysWhatItBelongsToAndWhatIsToBeTakenBack(t *testing.T) {
	bad := looptest.Call(call("book_room", `{"city": "Lisbon", "nights": 90, "room": "double"}`))
	bad.Reply.Text = "Ninety nights."
	good := looptest.Call(call("book_room", `{"city": "Lisbon", "nights": 2, "room": "double"}`))
	good.Reply.Text = "Two nights."
	broke := looptest.Fail(&fault.ProviderError{Class: fault.Network, Provider: "example"})
	var told []loop.Delta
	s := newSession(t)
	id := s.ID()
	_, err := fixture.Run(t.Context(), streaming(broke, bad, good, looptest.Say("Booked.")), s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()), loop.WithStream(func(d loop.Delta) {
		if d.Name == "" {
			told = append(told, d)
		}
	}))
	require.NoError(t, err)
	reset := func(turn, attempt, transport int) loop.Delta {
		return loop.Delta{Call: -1, Reset: true, Session: id, Turn: turn, Attempt: attempt, Transport: transport}
	}
	text := func(text string, turn, attempt, transport int) loop.Delta {
		return loop.Delta{Call: -1, Text: text, Session: id, Turn: turn, Attempt: attempt, Transport: transport}
	}
	assert.Equal(t, []loop.Delta{
		text("Ha", 1, 1, 1),
		reset(1, 1, 2), text("Ninety nights.", 1, 1, 2),
		reset(2, 2, 1), text("Two nights.", 2, 2, 1),
		text("Booked.", 3, 1, 1),
	}, told)
}
