package loop

import (
	"context"
	"errors"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/contain"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// PoolRun is one run in a [Pool].
type PoolRun struct {
	pool *Pool
	// run makes the run. begun reports that it has taken its session.
	run   *process
	begun bool
	// until is when the run is due or, if it is ready, since when. order is its number in the queue, and
	// place its index in the heap, -1 outside.
	until time.Time
	// shift is how far until is ahead of the run's own time.
	shift time.Duration
	order int64
	place int32
	ready bool
	// over reports that the pool has finished the run.
	over bool
	// cut is set if the run was cancelled, or if a worker has it and it has no caller.
	cut *cancellation
	// caller waits for the end; may be nil.
	caller *caller
}

// cancellation cancels a run without a caller.
type cancellation struct {
	// by is the cause given to [PoolRun.Cancel]; nil if it was not called.
	by error
	// stop cancels the current work; may be nil.
	stop context.CancelCauseFunc
}

// errLeft is the default cause of a cancellation.
var errLeft = errors.New("cancelled")

// waited returns the time when the wait was to end, by the run's time, for which a run was due; zero if it
// was ready.
func (t *PoolRun) waited() time.Time {
	if t.ready {
		return time.Time{}
	}
	return t.until.Add(-t.shift)
}

// begin begins the run, or continues that in the journal.
func (t *PoolRun) begin() {
	p := t.run
	fresh, err := p.enter(t.pool.compiled, true)
	t.begun = err == nil
	if p.broke = err; fresh && err == nil {
		p.start()
	}
	p.in = nil
}

// work goes on with the run until it waits, ends, the pool is closed, or drive ends. One that was cancelled
// ends, whatever else does. Waits until now are over, whatever the clock says.
func (t *PoolRun) work(drive context.Context, now time.Time) {
	life, stop := t.life()
	defer stop(nil)
	for !t.goOn(life, drive, now) {
	}
}

// life returns the context of the work: that of the caller, or one that is cancelled with the run.
func (t *PoolRun) life() (context.Context, context.CancelCauseFunc) {
	if c := t.caller; c != nil {
		return c.ctx, func(error) {}
	}
	life, stop := context.WithCancelCause(context.Background())
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.cut == nil {
		t.cut = new(cancellation)
	}
	if t.cut.stop = stop; t.cut.by != nil {
		stop(t.cut.by)
	}
	return life, stop
}

// goOn is one round of work. It returns false if the run was cancelled while it was queued.
func (t *PoolRun) goOn(life, drive context.Context, now time.Time) (over bool) {
	exited := true
	defer func() {
		if exited {
			over = true
			t.exit(recover())
		}
	}()
	p := t.run
	p.live(life)
	if p.until = drive; !t.begun {
		t.begin()
	}
	switch p.advance(now) {
	case machine.WaitUntil:
		exited = false
		return t.rest(p.asked.Wait.Until)
	case machine.AskPerson:
		exited = false
		return t.pool.restAsking(t)
	case machine.AskGrant:
		exited = false
		return t.pool.rest(t, forever)
	case leftToResume:
		exited = false
		return t.pool.rest(t, time.Time{})
	}
	var end ending
	end.result, end.err = p.result()
	exited = false
	t.done(&end)
	return true
}

// rest puts back a run that waits, and lets its journal rest. It returns false as [Pool.rest] does.
func (t *PoolRun) rest(until time.Time) bool {
	t.run.restLong()
	return t.pool.rest(t, until)
}

// panicErrorOf returns a recovered value as an error.
func panicErrorOf(panicked any) *fault.PanicError {
	err, _ := panicked.(error)
	if own, ok := errors.AsType[*fault.PanicError](err); ok {
		return own
	}
	return contain.Panicked(panicked)
}

// exit ends a run whose goroutine was ended by a function that it called. After a panic the run is left as it
// is, to be resumed; a caller gets the panic as an error, and without one the panic continues.
func (t *PoolRun) exit(panicked any) {
	end := ending{err: errExited}
	if panicked != nil {
		end.err = panicErrorOf(panicked)
		if t.caller != nil {
			t.done(&end)
			return
		}
		defer panic(panicked)
		defer t.pool.ended(t)
		t.release(end.err)
		return
	}
	defer func() { // the callback may panic or end the goroutine, too
		if again := recover(); again != nil {
			t.exit(again)
			return
		}
		t.done(&end)
	}()
	if t.run.begun() {
		end.result, end.err = t.run.exit()
	}
}

// done reports the end of a run and releases it, whatever the callback does.
func (t *PoolRun) done(end *ending) {
	s := t.run.s
	defer t.tellCaller(end)
	defer t.pool.ended(t)
	if done := t.pool.cfg.Done; done != nil && (t.run.begun() || t.run.recorded != nil) {
		defer done(s, end.result, end.err)
	}
	t.release(end.err)
}

// release releases the session of a run that is over, and its journal, and tells the tracers.
func (t *PoolRun) release(err error) {
	if !t.begun {
		return
	}
	defer t.run.journal.Release()
	defer t.run.close()
	if !t.run.over {
		t.run.ended(err)
	}
}

// Cancel ends the run at its current position, as the end of its context would end [Loop.Run]. The error for
// Done has the cause, which may be nil. It does nothing if the run has ended, and does not block.
func (t *PoolRun) Cancel(cause error) {
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.over || t.cut != nil && t.cut.by != nil {
		return
	}
	if cause == nil {
		cause = errLeft
	}
	if t.cut == nil {
		t.cut = new(cancellation)
	}
	if t.cut.by = cause; t.cut.stop != nil {
		t.cut.stop(cause)
	}
	t.makeReady()
}

// cancelled reports whether the run has to end. p.mu is held.
func (t *PoolRun) cancelled() bool {
	return t.cut != nil && t.cut.by != nil || t.caller != nil && t.caller.ctx.Err() != nil
}

// park returns the run as data and releases its session.
func (t *PoolRun) park() Parked {
	p := t.run
	contained(func() { p.ended(ErrSuspended) })
	p.close()
	return Parked{Session: p.s, State: p.unpacked(), Asked: *p.asked, Adjusted: p.adjusted}
}

// caller waits for the end of a run.
type caller struct {
	ctx context.Context
	// over is closed once end is set.
	over chan struct{}
	end  *ending
}

// ending is how a run ended.
type ending struct {
	result Result
	err    error
}

// errClosedUnder is the error for callers whose runs were handed back by a closed pool.
var errClosedUnder = errors.Join(ErrPoolClosed, ErrSuspended)

// Await runs a session in the pool and blocks until the run has ended. It is [Loop.Run] for many callers that
// mostly wait: their goroutines do nothing and stay small, because the workers do everything. The pool must
// be driven, best with [Pool.Serve]; until then Await blocks. An unfinished run in the session's journal
// continues, as with [Loop.Resume].
//
// ctx is the context of the run; models and tools see its values, deadline and cause. When it ends, the run
// ends as with Run, even if the pool is not driven: cancelled and recorded, or left for [ErrSuspended]. The
// result is that of Run, except that a panic of a model or a given function is returned as a
// [*fault.PanicError], and the run can be resumed. If the pool is closed, the error is [ErrPoolClosed], and
// also [ErrSuspended] if [Pool.Close] returned the run.
func (p *Pool) Await(
	ctx context.Context, s *session.Session, in Input,
) (Result, error) {
	if ctx == nil {
		return Result{}, errNoContext
	}
	t, err := p.newRun(s, &in)
	if err != nil {
		return Result{}, err
	}
	t.caller = &caller{ctx: ctx, over: make(chan struct{})}
	if !p.enqueue(t, time.Time{}) {
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

// leave ends the run for its caller, whose context has ended, if no worker has it. Otherwise the worker ends
// it.
func (t *PoolRun) leave() {
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

func (t *PoolRun) tellCaller(end *ending) {
	if c := t.caller; c != nil {
		c.end = end
		close(c.over)
	}
}
