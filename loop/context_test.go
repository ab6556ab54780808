package loop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// page is the progress of a long tool.
type page struct {
	Page int `json:"page"`
}

// A tool knows its attempt, sees the session, and continues from the progress of the previous attempt, also
// after a timeout. Reducers get the progress, too.
func TestAToolAsksItsContext(t *testing.T) {
	failed := session.StateSlice[session.ToolFailedEvent]("failed")
	s, err := session.New(session.Config{ID: "order-42", Slices: []session.Declared{failed},
		Reducers: []session.Reducer{session.On(failed, session.EventToolFailed, "failed", reducer.Latest[session.ToolFailedEvent]())}})
	require.NoError(t, err)
	clock := looptest.NewClock()
	var seen []any
	convert := func(ctx context.Context, in struct {
		Pages int `json:"pages" validate:"max=9"`
	}) (string, error) {
		number, most, transport := tool.Attempt(ctx)
		var last page
		known := tool.LastProgress(ctx, &last)
		view, ok := loop.View(ctx)
		seen = append(seen, []any{tool.SessionID(ctx), number, most, transport, known, last.Page, ok, view.AttemptCount()})
		require.NoError(t, tool.Progress(ctx, page{last.Page + 1}))
		switch transport {
		case 1:
			return "", &fault.TransportError{}
		case 2:
			clock.Add(time.Minute)
			<-ctx.Done()
		}
		return "", &fault.TransportError{Final: true}
	}
	tools, err := tool.NewSet(tool.New("convert", "Convert.", convert, tool.Idempotent(), tool.WithTransport(policy.Layer{ToolTimeout: new(time.Second)})))
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(call("convert", `{"pages":10}`)), looptest.Call(call("convert", `{"pages":3}`)), looptest.Say("Sorry."))
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Convert."}, loop.Config{Tools: tools}, loop.WithClock(clock))
	require.NoError(t, err)
	assert.Equal(t, []any{
		[]any{"order-42", 2, 3, 1, false, 0, true, 1},
		[]any{"order-42", 2, 3, 2, true, 1, true, 2},
		[]any{"order-42", 2, 3, 3, true, 2, true, 3},
	}, seen)
	last, _ := session.View(s.State(), failed).Last()
	assert.JSONEq(t, `{"page":3}`, string(last.Progress))
	_, ok := loop.View(t.Context())
	assert.False(t, ok)
}
