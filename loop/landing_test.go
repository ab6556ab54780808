package loop_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// landing is a run that was left while its tools ran, and is resumed in the same process.
type landing struct {
	t     *testing.T
	store looptest.Store
	j     *journal.Journal
	tools *tool.Set
	// slow and late count the runs of the tools. late returns once released.
	slow, late atomic.Int32
	released   chan struct{}
	// again is called by the second run of slow.
	again func()
}

func newLanding(t *testing.T) *landing {
	l := &landing{t: t, released: make(chan struct{}), again: func() {}}
	var err error
	l.j, err = journal.Open(t.Context(), &l.store, "order-42", plainSettings)
	require.NoError(t, err)
	leave, suspend := context.WithCancelCause(t.Context())
	var begun sync.WaitGroup
	begun.Add(2)
	slow := func(ctx context.Context, _ struct{}) (string, error) {
		if l.slow.Add(1) == 1 {
			begun.Done()
			<-ctx.Done()
			return "", ctx.Err()
		}
		l.again()
		return "slow", nil
	}
	late := func(context.Context, struct{}) (string, error) {
		if l.late.Add(1) == 1 {
			begun.Done()
		}
		<-l.released
		return "late", nil
	}
	l.tools, err = tool.NewSet(tool.New("slow", "Is slow.", slow, tool.Idempotent()), tool.New("late", "Is late.", late, tool.Idempotent()))
	require.NoError(t, err)
	go func() {
		begun.Wait()
		suspend(loop.ErrSuspended)
	}()
	_, err = fixture.Run(leave, looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "slow", Arguments: `{}`},
		message.Call{ID: "c2", Name: "late", Arguments: `{}`})), fixture.In(landingSession(t), l.j), loop.Input{Prompt: "Go."}, loop.Config{Tools: l.tools})
	require.ErrorIs(t, err, loop.ErrSuspended)
	return l
}

func landingSession(t *testing.T) *session.Session {
	s, err := session.New(session.Config{})
	require.NoError(t, err)
	return s
}

// resume continues the run to its end.
func (l *landing) resume(opts ...loop.Option) {
	r, err := fixture.Resume(l.t.Context(), looptest.NewModel(looptest.Say("Done.")), fixture.In(landingSession(l.t), l.j), loop.Config{Tools: l.tools}, opts...)
	looptest.AssertAnswer(l.t, r, err, "Done.")
	var results []string
	for _, m := range r.Transcript {
		if m.Role == message.Tool {
			results = append(results, m.Text)
		}
	}
	assert.Equal(l.t, []string{"slow", "late"}, results)
	assert.NoError(l.t, l.j.Close())
	_, err = journal.Replay(strings.NewReader(string(l.store.Text("order-42"))), nil)
	assert.NoError(l.t, err)
}

// A tool may land at any moment while its run is resumed.
func TestAToolLandsWhileItsRunIsResumed(t *testing.T) {
	for range 100 {
		l := newLanding(t)
		go close(l.released)
		l.resume()
	}
}

// What lands after the run was resumed and before its turn is not run again.
func TestWhatLandsAfterTheResumeIsNotRunAgain(t *testing.T) {
	l := newLanding(t)
	l.again = func() {
		close(l.released)
		for !strings.Contains(string(l.store.Text("order-42")), `"kind":"landed"`) {
			runtime.Gosched()
		}
	}
	l.resume(loop.WithParallel(1))
	assert.EqualValues(t, 1, l.late.Load())
}
