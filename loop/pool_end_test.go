package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// hanging is a model that returns only when its context ends, with the cause.
func hanging(called chan<- struct{}, why chan<- error) loop.Model {
	return loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		close(called)
		<-ctx.Done()
		why <- context.Cause(ctx)
		return message.Reply{}, ctx.Err()
	})
}

func TestTheEndOfAServeEndsTheModelsContexts(t *testing.T) {
	away := errors.New("the process is going down")
	for name, end := range map[string]func(p *loop.Pool, stop context.CancelCauseFunc) []loop.Parked{
		"the end of its context": func(p *loop.Pool, stop context.CancelCauseFunc) []loop.Parked { stop(away); return nil },
		"Close":                  func(p *loop.Pool, _ context.CancelCauseFunc) []loop.Parked { return p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			called, why := make(chan struct{}), make(chan error, 1)
			p, _ := pooled(t, loop.PoolConfig{Model: hanging(called, why)})
			_, err := p.Add(newSession(t), loop.Input{Prompt: "Hello."})
			require.NoError(t, err)
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			served := make(chan error, 1)
			go func() { served <- p.Serve(ctx, 1) }()
			<-called
			left := end(p, stop)
			want := away
			if name == "Close" {
				want = loop.ErrPoolClosed
			}
			require.ErrorIs(t, <-served, want)
			require.ErrorIs(t, <-why, want)

			left = append(left, p.Close()...)
			require.Len(t, left, 1, "the run is handed back, not cancelled")
			next, told := pooled(t, loop.PoolConfig{Model: looptest.NewModel(looptest.Say("Hi."))})
			_, err = next.AddParked(left[0])
			require.NoError(t, err)
			require.NoError(t, next.Run(t.Context(), 1))
			require.Len(t, told(), 1)
			require.NoError(t, told()[0].err)
			assert.Equal(t, "Hi.", told()[0].result.Text)
			assert.Len(t, told()[0].result.Attempts, 1, "the call that was left costs no attempt")
		})
	}
}

func TestAPoolDoesNotMakeARunThatHasEndedAgain(t *testing.T) {
	dir, ran := journal.Dir(t.TempDir()), 0
	set := bookRoom(t, func(context.Context, booking) (receipt, error) { ran++; return receipt{Number: "R-1"}, nil })
	batch := func(in loop.Input, turns ...looptest.Turn) (loop.Result, error) {
		j := recorded(t, dir)
		defer j.Close()
		p, told := pooled(t, loop.PoolConfig{Model: looptest.NewModel(turns...), Config: loop.Config{Tools: set}})
		_, err := p.Add(fixture.In(newSession(t), j), in)
		require.NoError(t, err)
		require.NoError(t, p.Run(t.Context(), 1))
		require.Len(t, told(), 1)
		return told()[0].result, told()[0].err
	}
	turns := []looptest.Turn{looptest.Call(call("book_room", lisbon)), looptest.Say("Done.")}
	first, err := batch(loop.Input{Prompt: "Book."}, turns...)
	require.NoError(t, err)
	written := lines(t, dir)

	again, err := batch(loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	assert.Zero(t, first.Recorded)
	assert.NotZero(t, again.Recorded, "the result says that it is read from the record")
	again.Recorded = first.Recorded
	assert.Equal(t, first, again)
	assert.Equal(t, 1, ran)
	assert.Equal(t, written, lines(t, dir), "nothing is written")

	_, err = batch(loop.Input{Prompt: "Book another."}, turns...)
	require.NoError(t, err)
	assert.Equal(t, 2, ran, "another request is another run")
	_, err = batch(loop.Input{Prompt: "Book another.", RequestID: "r-3"}, turns...)
	require.NoError(t, err)
	_, err = batch(loop.Input{Prompt: "Book, please.", RequestID: "r-4"}, turns...)
	require.NoError(t, err)
	third, err := batch(loop.Input{Prompt: "Book another.", RequestID: "r-3"})
	require.NoError(t, err)
	assert.Equal(t, "Done.", third.Text)
	assert.Equal(t, 4, ran, "a request before the last is not made again either")
}

func TestAPoolGoesOnWithNoOtherRequest(t *testing.T) {
	j := recorded(t, journal.Dir(t.TempDir()))
	defer j.Close()
	left, leave := context.WithCancelCause(t.Context())
	leave(loop.ErrSuspended)
	_, err := fixture.Run(left, looptest.NewModel(), fixture.In(newSession(t), j), loop.Input{Prompt: "Book."}, loop.Config{})
	require.ErrorIs(t, err, loop.ErrSuspended)
	p, told := pooled(t, loop.PoolConfig{Model: looptest.NewModel(looptest.Say("Done."))})
	_, err = p.Add(fixture.In(newSession(t), j), loop.Input{Prompt: "Cancel."})
	require.ErrorIs(t, err, journal.ErrConflict)
	_, err = p.Add(fixture.In(newSession(t), j), loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	require.NoError(t, p.Run(t.Context(), 1))
	require.Len(t, told(), 1)
	assert.Equal(t, "Done.", told()[0].result.Text)
}

func TestAnotherDescriptionOfAToolIsTold(t *testing.T) {
	of := func(description string) loop.Config {
		set, err := tool.NewSet(tool.New("book_room", description, booked))
		require.NoError(t, err)
		return loop.Config{Tools: set}
	}
	dir := journal.Dir(t.TempDir())
	j := recorded(t, dir)
	defer j.Close()
	_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say("No.")), fixture.In(newSession(t), j), loop.Input{Prompt: "Book."}, of("Book a room."))
	require.NoError(t, err)
	result, err := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), of("Book a hotel room."))
	require.NoError(t, err)
	assert.Equal(t, []string{`tool "book_room" has another description than when the run began`}, result.Warnings)

	past, err := j.Past()
	require.NoError(t, err)
	now := engine.Header(past.Header.Config, engine.Offer{Tools: of("Book a hotel room.").Tools})
	now.Format, now.Session, now.State = past.Header.Format, past.Header.Session, past.Header.State
	d, differs := journal.DiffHeaders(past.Header, now)
	assert.True(t, differs)
	assert.Contains(t, d.String(), "tool book_room: its description is another")
}
