package loop

import (
	"container/heap"
	"context"
	"errors"
	"runtime/debug"
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
	// berth holds the run while nobody works on it. Where it is empty then, the run is still to be begun.
	berth
	// until is when the run is to be gone on with, zero for at once; order is the order of lying down, and place the place in the
	// pool's queue, -1 outside of it.
	until time.Time
	order int64
	place int32
	// over is set once the pool has done with the run.
	over bool
	// gone is what the run was cancelled by; nil where it was not.
	gone error
	// stop cancels the work under way; nil where there is none.
	stop context.CancelCauseFunc
	// caller waits for the end; nil for nobody.
	caller *caller
}

// errLeft is what a run was cancelled by where nobody said.
var errLeft = errors.New("cancelled")

// begin begins the run or goes on with that in the journal, and returns what is to be done next.
func (t *Seat) begin(ctx context.Context, prompt string) (*driver, machine.Effect, error) {
	p, o := t.pool, t.pool.o
	if t.journal != nil {
		own := *o
		own.journal, own.journals = recorderOf(t.journal), true
		o = &own
	}
	d := &driver{options: o, model: p.cfg.Model, cfg: p.cfg.Config, s: t.s, ctx: ctx}
	if t.journal != nil && t.journal.Unfinished() {
		asked, err := d.resume(func(f *journal.Fold) error { return errors.Join(o.fits(f), fitTools(&f.Header, d.cfg)) })
		if err == nil {
			t.trace(d, ctx, true)
		}
		return d, asked, err
	}
	if _, err := startDriver(ctx, d, p.compiled); err != nil {
		return nil, machine.Effect{}, err
	}
	t.trace(d, ctx, false)
	said := p.cfg.Config.History.Append(message.Message{Role: message.User, Text: prompt})
	effects, err := d.runner.Start(d.now(), said.Slice(0, said.Len())...)
	if err != nil {
		err = d.broken(err)
		t.left(err)
		d.release()
		return nil, machine.Effect{}, err
	}
	return d, effects[len(effects)-1], nil
}

// trace begins the run for the tracers, where there are any.
func (t *Seat) trace(d *driver, ctx context.Context, resumed bool) {
	if len(d.tracers) == 0 {
		return
	}
	values, end := d.beginRun(ctx, resumed)
	t.rest = &rest{values: values, end: end}
}

// driver is what goes on with the run, or begins it, and returns what is to be done. life is the context of the work.
func (t *Seat) driver(life context.Context) (d *driver, asked machine.Effect, err error) {
	p := t.pool
	if t.parked == nil {
		if d, asked, err = t.begin(t.caller.ctx, t.caller.prompt); err != nil {
			return nil, asked, err
		}
	} else {
		d = &driver{options: p.o, model: p.cfg.Model, cfg: p.cfg.Config, s: t.s}
		asked = t.take(d, recorderOf(t.journal))
		if d.runner.settings = p.settings; d.runner.st.Policy != &p.compiled.Config().Policy {
			d.runner.settings = ReadSettings(d.runner.st.Policy)
		}
	}
	switch {
	case t.rest != nil && t.rest.values != nil:
		d.ctx = scoped{life, t.rest.values}
	case t.caller != nil:
		d.ctx = scoped{life, t.caller.ctx}
	default:
		d.ctx = life
	}
	return d, asked, nil
}

// work goes on with the run until it waits, ends, the pool is closed, or drive ends. One that was cancelled ends, whatever else does.
func (t *Seat) work(drive context.Context) {
	life, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	t.begun(stop)
	for !t.goOn(life, drive) {
	}
}

// begun notes what cancels the work; a run that was cancelled before ends at once.
func (t *Seat) begun(stop context.CancelCauseFunc) {
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	t.stop = stop
	if t.gone != nil {
		stop(t.gone)
	}
}

// goOn is one round of work; it reports false where the run was cancelled when it was laid down already.
func (t *Seat) goOn(life, drive context.Context) (over bool) {
	var d *driver
	exited := true
	defer func() {
		if exited {
			t.exit(d, recover())
			over = true
		}
	}()
	d, asked, err := t.driver(life)
	if err != nil {
		exited = false
		t.refuse(err)
		return true
	}
	for err == nil && d.runner.st.Phase != machine.Stopped {
		if next, until, lies := t.lies(d, drive, &asked); lies {
			exited = false
			t.lay(d, next)
			return t.pool.rest(t, until)
		}
		var effects []machine.Effect
		if effects, err = d.carry(d.ctx, asked); err == nil {
			asked = effects[len(effects)-1]
		}
	}
	exited = false
	t.end(d, err)
	return true
}

// lies reports whether the run is to be laid down before what is asked for, for what and until when: the end of the wait, or at once.
func (t *Seat) lies(d *driver, drive context.Context, asked *machine.Effect) (next *machine.Effect, until time.Time, lies bool) {
	switch {
	case d.ctx.Err() != nil:
		return nil, until, false
	case asked.Kind == machine.WaitUntil && asked.Wait.Until.After(d.now()):
		return nil, asked.Wait.Until, true
	case drive.Err() != nil || t.pool.closing():
		return asked, until, true
	}
	return nil, until, false
}

// exit ends a run whose goroutine was ended by what it called. One in which that panicked stays as it is: it can be resumed. A caller
// is told, and the worker lives on.
func (t *Seat) exit(d *driver, panicked any) {
	switch {
	case panicked != nil && t.caller == nil:
		panic(panicked)
	case panicked != nil:
		t.done(d, Result{}, &PanicError{Value: panicked, Stack: string(debug.Stack())})
	case d == nil:
		t.refuse(errExited)
	default:
		r, err := d.exit()
		t.done(d, r, err)
	}
}

// end ends a run that has stopped, or cannot go on for err.
func (t *Seat) end(d *driver, err error) {
	if err != nil {
		t.done(d, Result{}, d.broken(err))
		return
	}
	r, err := d.runner.Result(d.cause)
	t.done(d, r, err)
}

// done tells of the end.
func (t *Seat) done(d *driver, r Result, err error) {
	if d == nil {
		t.refuse(err)
		return
	}
	if t.rest != nil && t.rest.end != nil {
		t.rest.end(d.runner.st.Outcome, err)
	}
	d.release()
	defer t.told(r, err)
	defer t.pool.ended(t) // whatever becomes of who is told
	if done := t.pool.cfg.Done; done != nil {
		done(t.s, r, err)
	}
}

// refuse ends a run that could not be begun.
func (t *Seat) refuse(err error) {
	t.pool.ended(t)
	t.told(Result{}, err)
}

// Cancel ends the run as the end of its context would end that of [Run], wherever it stands: what it was cancelled by is in the
// error that Done is told. cause may be nil. It does nothing to a run that has ended. It waits for nothing.
func (t *Seat) Cancel(cause error) {
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.cancel(cause) && t.place >= 0 {
		t.until = time.Time{}
		heap.Fix(&p.seats, int(t.place))
		p.signal()
	}
}

// cancel notes what the run is cancelled by, and cancels the work under way; it reports false where that is too late. p.mu is held.
func (t *Seat) cancel(cause error) bool {
	if t.over || t.gone != nil {
		return false
	}
	if t.gone = cause; cause == nil {
		t.gone = errLeft
	}
	if t.stop != nil {
		t.stop(t.gone)
	}
	return true
}

// left tells tracers that the pool goes on with the run no more, and why.
func (t *Seat) left(err error) {
	if t.rest != nil && t.rest.end != nil {
		t.rest.end(nil, err)
	}
}

// handBack is the run as data. Its session is free again.
func (t *Seat) handBack() Parked {
	st := t.parked.State(t.s.State())
	asked := st.Pending()
	if t.asked != nil {
		asked = *t.asked
	}
	t.left(ErrSuspended)
	t.s.Release()
	return Parked{Session: t.s, Journal: t.journal, State: st, Asked: asked}
}
