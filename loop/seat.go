package loop

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// Seat is one run in a [Pool].
type Seat struct {
	pool    *Pool
	s       *session.Session
	journal *journal.Journal
	// parking holds the run while nobody works on it. Where it is empty then, the run is still to be begun.
	parking
	// until is when the run is to be gone on with or, where it is ready, since when it is; order is the order of parking, and place
	// the place in its half of the pool's queue, -1 outside of it.
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
	// by is what [Seat.Cancel] cancelled it by; nil where it did not.
	by error
	// stop cancels the work under way; nil where there is none.
	stop context.CancelCauseFunc
}

// errLeft is what a run was cancelled by where nobody said.
var errLeft = errors.New("cancelled")

// newDriver is a driver that has nothing of the run yet.
func (t *Seat) newDriver(life context.Context) *driver {
	return &driver{options: t.pool.o, model: t.pool.cfg.Model, cfg: &t.pool.cfg.Config, s: t.s, ctx: life}
}

// begin begins the run or goes on with that in the journal, and returns what is to be done next.
func (t *Seat) begin(d *driver, prompt string) (machine.Effect, error) {
	if t.journal != nil {
		own := *d.options
		own.journal, own.journals = recorderOf(t.journal), true
		d.options = &own
	}
	said := d.cfg.History.Append(message.Message{Role: message.User, Text: prompt})
	held, ended, err := t.held(said)
	if err != nil {
		return machine.Effect{}, err
	}
	if held {
		asked, err := d.resume(func(f *journal.Fold) error { return errors.Join(d.fits(f), fitConfig(f, *d.cfg)) })
		if err == nil && !ended {
			t.trace(d, true)
		}
		return asked, err
	}
	if err := startDriver(d.ctx, d, t.pool.compiled); err != nil {
		return machine.Effect{}, err
	}
	t.trace(d, false)
	effects, err := d.runner.ask(d.now(), prompt)
	if err != nil {
		return machine.Effect{}, err
	}
	return effects[len(effects)-1], nil
}

// held reports whether the journal holds the run that would begin with what is said, and whether it has ended.
func (t *Seat) held(said message.Transcript) (held, ended bool, err error) {
	if t.journal == nil {
		return false, false, nil
	}
	if t.journal.Unfinished() {
		return true, false, nil
	}
	past, err := t.journal.Past()
	if err != nil {
		if errors.Is(err, journal.ErrRedacted) {
			return false, false, err
		}
		return false, false, nil // what is wrong is told as the run begins
	}
	ended = past.State.Phase == machine.Stopped && !past.Header.Config.Single && sameRequest(past, t.pool.cfg.Config.RequestID, said)
	return ended, ended, nil
}

// sameRequest reports whether the last run of a journal answered the request of that id or, where neither has one, that was said so.
func sameRequest(past *journal.Fold, id string, said message.Transcript) bool {
	if was := past.Header.Config.RequestID; was != "" || id != "" {
		return was == id
	}
	then, now := past.State.Transcript.Slice(0, past.State.Began), printableMessages(said.Slice(0, said.Len()))
	return slices.EqualFunc(then, now, message.Message.Equal)
}

// trace begins the run for the tracers, where there are any.
func (t *Seat) trace(d *driver, resumed bool) {
	if len(d.tracers) == 0 {
		return
	}
	if t.rare == nil {
		t.rare = new(rare)
	}
	t.rare.values, t.rare.end = d.beginRun(d.ctx, resumed)
}

// wake begins the run, or gives the driver what was parked of it, and returns what is to be done next.
func (t *Seat) wake(d *driver) (machine.Effect, error) {
	if t.parked == nil {
		return t.begin(d, t.caller.prompt)
	}
	asked := t.unpark(d, recorderOf(t.journal))
	d.runner.settings, d.runner.settled = t.pool.settings, &t.pool.compiled.Config().Policy
	if t.rare != nil && t.rare.values != nil {
		d.ctx = scoped{d.ctx, t.rare.values}
	}
	return asked, nil
}

// work goes on with the run until it waits, ends, the pool is closed, or drive ends. One that was cancelled ends, whatever else does.
// Waits until now are over, whatever the clock says.
func (t *Seat) work(drive context.Context, now time.Time) {
	life, stop := t.life()
	defer stop(nil)
	for !t.goOn(life, drive, now) {
	}
}

// life is the context of the work: that of the caller, or one that ends as the run is cancelled.
func (t *Seat) life() (context.Context, context.CancelCauseFunc) {
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
func (t *Seat) goOn(life, drive context.Context, now time.Time) (over bool) {
	d, exited := t.newDriver(life), true
	d.until = drive
	defer func() {
		if exited {
			over = true
			t.exit(d, recover())
		}
	}()
	asked, err := t.wake(d)
	for err == nil && d.runner.st.Phase != machine.Stopped {
		if next, until, parks := t.parks(d, drive, now, &asked); parks {
			exited = false
			t.park(d, next)
			return t.pool.rest(t, until)
		}
		var effects []machine.Effect
		switch effects, err = d.carry(d.ctx, asked); {
		case err == nil:
			asked = effects[len(effects)-1]
		case errors.Is(err, errCallLeft):
			err = nil // drive has ended: the run is parked before the call
		}
	}
	var end ending
	end.result, end.err = d.ended(err)
	exited = false
	t.done(d, &end)
	return true
}

// parks reports whether the run is to be parked before what is asked for, for what and until when: the end of the wait, or at once.
func (t *Seat) parks(
	d *driver, drive context.Context, now time.Time, asked *machine.Effect,
) (next *machine.Effect, until time.Time, parks bool) {
	switch {
	case d.ctx.Err() != nil:
		return nil, until, false
	case asked.Kind == machine.WaitUntil && asked.Wait.Until.After(now) && asked.Wait.Until.After(d.now()):
		return nil, asked.Wait.Until, true
	case drive.Err() != nil || t.pool.closing():
		return asked, until, true
	}
	return nil, until, false
}

// begun reports whether there is a run that can be ended.
func (d *driver) begun() bool { return d.runner != nil && d.runner.st.Phase != machine.Idle }

// ended is how a run ended that has stopped, or cannot begin or go on for err.
func (d *driver) ended(err error) (Result, error) {
	switch {
	case !d.begun():
		return Result{}, err
	case err != nil:
		return Result{}, d.broken(err)
	}
	return d.runner.Result(d.cause)
}

// exit ends a run whose goroutine was ended by what it called. One in which that panicked stays as it is: it can be resumed. A caller
// is told, and the worker lives on; without one, the panic goes on.
func (t *Seat) exit(d *driver, panicked any) {
	end := ending{err: errExited}
	if panicked != nil {
		end.err = &PanicError{Value: panicked, Stack: string(debug.Stack())}
		if t.caller != nil {
			t.done(d, &end)
			return
		}
		defer panic(panicked)
		defer t.pool.ended(t)
		t.letGo(d, end.err)
		return
	}
	defer func() { // who is told of the exit may panic, or end the goroutine once more
		if again := recover(); again != nil {
			t.exit(d, again)
			return
		}
		t.done(d, &end)
	}()
	if d.begun() {
		end.result, end.err = d.exit()
	}
}

// done tells of the end of a run, and lets go of it: whatever becomes of who is told.
func (t *Seat) done(d *driver, end *ending) {
	defer t.told(end)
	defer t.pool.ended(t)
	if done := t.pool.cfg.Done; done != nil && d.begun() {
		defer done(t.s, end.result, end.err)
	}
	t.letGo(d, end.err)
}

// Cancel ends the run as the end of its context would end that of [Run], wherever it stands: what it was cancelled by is in the
// error that Done is told. cause may be nil. It does nothing to a run that has ended. It waits for nothing.
func (t *Seat) Cancel(cause error) {
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
func (t *Seat) cancelled() bool {
	return t.cut != nil && t.cut.by != nil || t.caller != nil && t.caller.ctx.Err() != nil
}

// left tells tracers that the pool goes on with the run no more, how far it came, and why.
func (t *Seat) left(o *machine.Outcome, err error) {
	if t.rare != nil && t.rare.end != nil {
		t.rare.end(o, err)
	}
}

// letGo tells tracers that the run is over, and frees its session, where the driver took that.
func (t *Seat) letGo(d *driver, err error) {
	if d.runner != nil {
		defer d.release()
		t.left(d.runner.st.Outcome, err)
	}
}

// handBack is the run as data. Its session is free again.
func (t *Seat) handBack() Parked {
	st := *t.parked
	asked := t.next(&st)
	if t.rare != nil {
		contained(func() { t.left(nil, ErrSuspended) })
	}
	t.s.Release()
	return Parked{Session: t.s, Journal: t.journal, State: st, Asked: asked}
}
