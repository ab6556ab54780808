package agent_test

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
)

// fullInside is a store that has no more room for the journals of agents after some writes.
type fullInside struct {
	*looptest.Store
	left *atomic.Int64
}

func (f fullInside) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := f.Store.Open(ctx, session)
	if err == nil && strings.Contains(session, ".") {
		log = insideLog{log, f.left}
	}
	return log, err
}

type insideLog struct {
	journal.Log
	left *atomic.Int64
}

func (l insideLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	if l.left.Add(-1) < 0 {
		return syscall.ENOSPC
	}
	return l.Log.Append(ctx, at, lines, durable)
}

// A run whose agent cannot write its journal is left to be resumed, as if it could not write its own. It then
// goes on inside, and nothing is done twice.
func TestARunWhoseAgentCannotWriteIsLeftToBeResumed(t *testing.T) { synctest.Test(t, isLeftInside) }

func isLeftInside(t *testing.T) {
	whole := &story{looked: map[string]int{}}
	want, err := whole.runIn(t, new(looptest.Store))
	require.NoError(t, err)
	for n := int64(0); ; n++ {
		s, store := &story{looked: map[string]int{}}, fullInside{new(looptest.Store), new(atomic.Int64)}
		store.left.Store(n)
		_, err := s.runIn(t, store)
		full := err != nil
		if full {
			require.ErrorIs(t, err, loop.ErrSuspended, "after write %d", n)
			require.ErrorIs(t, err, journal.ErrUnwritable, "after write %d", n)
			require.ErrorIs(t, err, syscall.ENOSPC, "after write %d", n)
		}
		store.left.Store(math.MaxInt64)
		got, err := s.runIn(t, store)
		require.NoError(t, err, "after write %d", n)
		s.toldAs(t, whole, want, got, n)
		for _, id := range []string{"trip", "trip.1.1.1", "trip.1.1.2"} {
			verifies(t, store.Store, id)
			run, err := journal.Last(t.Context(), store.Store, id)
			require.NoError(t, err)
			assert.False(t, run.Unfinished(), "after write %d: %s", n, id)
		}
		if !full {
			assert.Greater(t, n, int64(10))
			return
		}
	}
}

// In a pool, too. The question of an agent that could not record its answer is open only until the run goes
// on: nobody is asked for ever.
func TestAQuestionWhoseAnswerCannotBeWrittenIsNotOpenForEver(t *testing.T) {
	synctest.Test(t, isAskedAgain)
}

func isAskedAgain(t *testing.T) {
	store := fullInside{new(looptest.Store), new(atomic.Int64)}
	store.left.Store(math.MaxInt64)
	p := &payers{paid: map[string]int{}, asked: make(chan string, 9), store: store}
	run := func() *journal.Journal {
		p.open(t)
		s := p.session(t)
		_, err := p.Add(s, loop.Input{Prompt: "Pay.", RequestID: "r"})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		t.Cleanup(stop)
		go func() { _ = p.Serve(ctx, 1) }()
		j, err := journal.Of(s)
		require.NoError(t, err)
		return j
	}
	j := run()
	<-p.asked
	synctest.Wait() // what was paid beside it is recorded
	store.left.Store(0)
	p.approve(t)
	err := <-p.over
	require.ErrorIs(t, err, loop.ErrSuspended)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, `the run within a call of "guide" has no journal that can be written: `)
	assert.Empty(t, p.Close(), "it is told by its error")
	require.NoError(t, j.Close())

	store.left.Store(math.MaxInt64)
	run()
	require.NoError(t, <-p.over)
	assert.Equal(t, "paid; paid; paid", p.last.Text)
	assert.Empty(t, p.last.InDoubt)
	for key, times := range p.paid {
		assert.Equal(t, 1, times, key)
	}
	for q, err := range inbox.Pending(t.Context(), store, looptest.Epoch) {
		require.NoError(t, err)
		assert.Fail(t, "it is over", q.String())
	}
}

// noFiles is a store that cannot open the journals of agents for a while, as where a process has too many
// files open. It says so once all else has come to rest: a run that is left then cuts off no call.
type noFiles struct {
	*looptest.Store
	left *atomic.Int64
}

func (f noFiles) Open(ctx context.Context, session string) (journal.Log, error) {
	if strings.Contains(session, ".") && f.left.Add(-1) < 0 {
		<-time.After(time.Nanosecond) // the time of the bubble goes on when nothing else does
		return nil, syscall.EMFILE
	}
	return f.Store.Open(ctx, session)
}

// So is a run whose agent cannot open its journal. It may have had one before.
func TestARunWhoseAgentCannotOpenItsJournalIsLeftToBeResumed(t *testing.T) {
	synctest.Test(t, isLeftUnopened)
}

func isLeftUnopened(t *testing.T) {
	for n := range int64(4) { // two agents have one each within them
		s, store := &story{looked: map[string]int{}}, noFiles{new(looptest.Store), new(atomic.Int64)}
		store.left.Store(n)
		_, err := s.runIn(t, store)
		require.ErrorIs(t, err, loop.ErrSuspended, "%d", n)
		require.ErrorIs(t, err, syscall.EMFILE, "%d", n)
		store.left.Store(math.MaxInt64)
		got, err := s.runIn(t, store)
		require.NoError(t, err)
		assert.Equal(t, "R-1 is free. is free.", got.Text)
		assert.Empty(t, got.InDoubt)
		assert.Len(t, s.looked, 2)
	}
}
