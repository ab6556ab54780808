package loop

import (
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
// it stands for [ErrSuspended]. It is the context of the run: models and tools see its values, its deadline and how it ended. The
// result is what Run returns, but for a model, or a function that was given, that panics: its error is a [*PanicError], and the run is
// left as it stands. Of a pool that is closed the error is [ErrPoolClosed]; it is [ErrSuspended] too where [Pool.Close] has handed the
// run back.
func (p *Pool) Await(ctx context.Context, s *session.Session, prompt string, j *journal.Journal) (Result, error) {
	t := p.seat(ctx, s, prompt, j)
	p.mu.Lock()
	in := p.enter(t)
	p.mu.Unlock()
	if !in {
		return Result{}, ErrPoolClosed
	}
	select {
	case <-t.caller.over:
	case <-ctx.Done():
		t.leave()
		<-t.caller.over
	}
	return t.caller.end.result, t.caller.end.err
}

// seat is a run with a caller, ready from now on. It is no part of Await, which keeps its stack while it waits for the end, and for the
// pool's lock before: as little as can be is to lie there.
//
//go:noinline
func (p *Pool) seat(ctx context.Context, s *session.Session, prompt string, j *journal.Journal) *Seat {
	c := &caller{ctx: ctx, prompt: prompt, over: make(chan struct{})}
	return &Seat{pool: p, s: s, journal: j, caller: c, until: p.o.clock.Now()}
}

// enter puts a run into the queue that is ready since then; false where the pool is closed. p.mu is held: it does not panic.
//
//go:noinline
func (p *Pool) enter(t *Seat) bool {
	if !p.closed {
		p.queue.add(t, true, t.until)
		p.signal()
	}
	return !p.closed
}

// leave ends the run for its caller, whose context has ended, where nobody works on it: who does ends it as well.
func (t *Seat) leave() {
	p := t.pool
	p.mu.Lock()
	idle := t.place >= 0
	if idle {
		p.queue.remove(t)
		p.working++
	}
	p.mu.Unlock()
	if idle {
		t.work(context.Background(), time.Time{})
	}
}

// told tells the caller, if there is one.
func (t *Seat) told(end *ending) {
	if c := t.caller; c != nil {
		c.end = end
		close(c.over)
	}
}
