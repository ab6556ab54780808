package loop

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// PoolRun is one run in a [Pool].
type PoolRun struct {
	pool   *Pool
	prompt string
	// run makes the run, begun is set once it has taken its session.
	run   *process
	begun bool
	// until is when the run is to be gone on with or, where it is ready, since when it is; order is the order
	// of parking, and place the place in its half of the pool's queue, -1 outside of it.
	until time.Time
	order int64
	place int32
	ready bool
	// over is set once the pool has done with the run.
	over bool
	// cut is how the run is cancelled; nil where it was not, and nobody works on it or it has a caller.
	cut *cut
	// caller waits for the end; nil for nobody.
	caller *caller
}

// cut is how a run without a caller is cancelled.
type cut struct {
	// by is what [PoolRun.Cancel] cancelled it by; nil where it did not.
	by error
	// stop cancels the work under way; nil where there is none.
	stop context.CancelCauseFunc
}

// errLeft is what a run was cancelled by where nobody said.
var errLeft = errors.New("cancelled")

// begin begins the run, or goes on with that in the journal.
func (t *PoolRun) begin() {
	p := t.run
	said := slices.Concat(p.cfg.History, []message.Message{p.cfg.prompt(t.prompt)})
	held, err := t.held(said)
	if err == nil && held {
		err = p.resumeRun()
	} else if err == nil {
		err = p.take(t.pool.compiled)
	}
	t.begun = err == nil
	if p.broke = err; err == nil && !held {
		p.start(t.prompt)
	}
}

// held reports whether the journal holds the run that would begin with what is said: one that has not ended,
// or one that has.
func (t *PoolRun) held(said []message.Message) (bool, error) {
	j := t.run.journal
	if j == nil || j.Unfinished() {
		return j != nil, nil
	}
	past, err := j.Past()
	if errors.Is(err, journal.ErrRedacted) {
		return false, err
	}
	if err != nil {
		return false, nil // what is wrong is told as the run begins
	}
	stopped := past.State.Phase == machine.Stopped && !past.Header.Config.Single
	return stopped && sameRequest(past, t.pool.cfg.Config.RequestID, said), nil
}

// sameRequest reports whether the last run of a journal answered the request of that id or, where neither has
// one, that was said so.
func sameRequest(past *journal.Fold, id string, said []message.Message) bool {
	if was := past.Header.Config.RequestID; was != "" || id != "" {
		return was == id
	}
	then, now := past.State.Transcript()[:past.State.Began], message.Printable(said)
	return slices.EqualFunc(then, now, message.Message.Equal)
}

// work goes on with the run until it waits, ends, the pool is closed, or drive ends. One that was cancelled
// ends, whatever else does. Waits until now are over, whatever the clock says.
func (t *PoolRun) work(drive context.Context, now time.Time) {
	life, stop := t.life()
	defer stop(nil)
	for !t.goOn(life, drive, now) {
	}
}

// life is the context of the work: that of the caller, or one that ends as the run is cancelled.
func (t *PoolRun) life() (context.Context, context.CancelCauseFunc) {
	if c := t.caller; c != nil {
		return c.ctx, func(error) {}
	}
	life, stop := context.WithCancelCause(context.Background())
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.cut == nil {
		t.cut = new(cut)
	}
	if t.cut.stop = stop; t.cut.by != nil {
		stop(t.cut.by)
	}
	return life, stop
}

// goOn is one round of work; it reports false where the run was cancelled when it was queued already.
func (t *PoolRun) goOn(life, drive context.Context, now time.Time) (over bool) {
	exited := true
	defer func() {
		if exited {
			over = true
			t.exit(recover())
		}
	}()
	p := t.run
	p.until = drive
	if p.live(life); !t.begun {
		t.begin()
	}
	switch p.advance(now) {
	case machine.WaitUntil:
		exited = false
		return t.pool.rest(t, p.asked.Wait.Until)
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

// exit ends a run whose goroutine was ended by what it called. One in which that panicked stays as it is: it
// can be resumed. A caller is told, and the worker lives on; without one, the panic goes on.
func (t *PoolRun) exit(panicked any) {
	end := ending{err: errExited}
	if panicked != nil {
		end.err = &fault.PanicError{Value: panicked, Stack: string(debug.Stack())}
		if t.caller != nil {
			t.done(&end)
			return
		}
		defer panic(panicked)
		defer t.pool.ended(t)
		t.letGo(end.err)
		return
	}
	defer func() { // who is told of the exit may panic, or end the goroutine once more
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

// done tells of the end of a run, and lets go of it: whatever becomes of who is told.
func (t *PoolRun) done(end *ending) {
	s := t.run.s
	defer t.told(end)
	defer t.pool.ended(t)
	if done := t.pool.cfg.Done; done != nil && t.run.begun() {
		defer done(s, end.result, end.err)
	}
	t.letGo(end.err)
}

// letGo frees the session of a run that is over, where it was taken. Tracers are told, if they were not.
func (t *PoolRun) letGo(err error) {
	if !t.begun {
		return
	}
	defer t.run.runner.Close()
	if !t.run.over {
		t.run.ended(err)
	}
}

// Cancel ends the run as the end of its context would end that of [Run], wherever it stands: what it was
// cancelled by is in the error that Done is told. cause may be nil. It does nothing to a run that has ended.
// It waits for nothing.
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
		t.cut = new(cut)
	}
	if t.cut.by = cause; t.cut.stop != nil {
		t.cut.stop(cause)
	}
	if t.place >= 0 && !t.ready {
		p.queue.remove(t)
		p.add(t, time.Time{})
	}
}

// cancelled reports whether the run is to be ended, whatever else is. p.mu is held.
func (t *PoolRun) cancelled() bool {
	return t.cut != nil && t.cut.by != nil || t.caller != nil && t.caller.ctx.Err() != nil
}

// handBack is the run as data. Its session is free again.
func (t *PoolRun) handBack() Parked {
	p := t.run
	contained(func() { p.ended(ErrSuspended) })
	p.runner.Close()
	return Parked{Session: p.s, Journal: p.journal, State: p.runner.st, Asked: p.asked}
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

// errClosedUnder is what callers are told whose runs a pool that was closed has handed back.
var errClosedUnder = errors.Join(ErrPoolClosed, ErrSuspended)

// Await makes a run of a session in the pool, and blocks until it has ended: it is [Run] for very many
// callers that nearly all wait, each on a goroutine that does nothing else and so stays small. All is done by
// the workers: somebody must drive the pool, best by [Pool.Serve]; until then Await waits. j is nil for no
// journal; a run that it holds and that has not ended goes on, as by [Resume].
//
// When ctx ends, so does the run, as that of Run would, whether or not somebody drives the pool: cancelled
// and recorded, or left where it stands for [ErrSuspended]. It is the context of the run: models and tools
// see its values, its deadline and how it ended. The result is what Run returns, but for a model, or a
// function that was given, that panics: its error is a [*fault.PanicError], and the run is left as it stands.
// Of a pool that is closed the error is [ErrPoolClosed]; it is [ErrSuspended] too where [Pool.Close] has
// handed the run back.
func (p *Pool) Await(ctx context.Context, s *session.Session, prompt string, j *journal.Journal) (Result, error) {
	t := p.seat(s, prompt, j)
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

// leave ends the run for its caller, whose context has ended, where nobody works on it: who does ends it as
// well.
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

// told tells the caller, if there is one.
func (t *PoolRun) told(end *ending) {
	if c := t.caller; c != nil {
		c.end = end
		close(c.over)
	}
}
