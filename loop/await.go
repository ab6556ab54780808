package loop

import (
	"container/heap"
	"context"
	"errors"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/session"
)

// caller waits for the end of a run.
type caller struct {
	ctx    context.Context
	prompt string
	// over is closed once end is set.
	over chan struct{}
	end  *ending
}

// ending is how a run ended.
type ending struct {
	result Result
	err    error
}

// errClosedUnder is what callers are told whose runs a pool that was closed has handed back.
var errClosedUnder = errors.Join(ErrPoolClosed, ErrSuspended)

// Await makes a run of a session in the pool, and blocks until it has ended: it is [Run] for very many callers that nearly all wait, each
// on a goroutine that does nothing else and so stays small. All is done by the workers: somebody must drive the pool, best by
// [Pool.Serve]; until then Await waits. j is nil for no journal; a run that it holds and that has not ended goes on, as by [Resume].
//
// When ctx ends, so does the run, as that of Run would, whether or not somebody drives the pool: cancelled and recorded, or left where
// it stands for [ErrSuspended]. Its deadline is that of the run, and models and tools see its values. The result is what Run returns,
// but for a model, or a function that was given, that panics: its error is a [*PanicError], and the run is left as it stands. Of a pool
// that is closed the error is [ErrPoolClosed]; it is [ErrSuspended] too where [Pool.Close] has handed the run back.
func (p *Pool) Await(ctx context.Context, s *session.Session, prompt string, j *journal.Journal) (Result, error) {
	c := &caller{ctx: ctx, prompt: prompt, over: make(chan struct{})}
	t := &Seat{pool: p, s: s, journal: j, caller: c, gone: context.Cause(ctx)}
	if !p.enqueue(t, time.Time{}) {
		return Result{}, ErrPoolClosed
	}
	select {
	case <-c.over:
	case <-ctx.Done():
		t.leave(context.Cause(ctx))
		<-c.over
	}
	return c.end.result, c.end.err
}

// leave cancels the run for its caller, who ends it where nobody works on it.
func (t *Seat) leave(cause error) {
	p := t.pool
	p.mu.Lock()
	t.cancel(cause)
	idle := t.place >= 0
	if idle {
		heap.Remove(&p.seats, int(t.place))
		p.working++
	}
	p.mu.Unlock()
	if idle {
		t.work(context.Background())
	}
}

// told tells the caller, if there is one.
func (t *Seat) told(r Result, err error) {
	if c := t.caller; c != nil {
		c.end = &ending{r, err}
		close(c.over)
	}
}
