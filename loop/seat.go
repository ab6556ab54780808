package loop

import (
	"container/heap"
	"context"
	"errors"
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
	// berth holds the run while nobody works on it; until is when it is woken, order the order of parking. place is its place in the
	// heap; -1 outside of it.
	berth
	until time.Time
	order int64
	place int32
	// gone is what the run was cancelled by; nil where it was not.
	gone error
	// stop cancels the work under way; nil where there is none.
	stop context.CancelCauseFunc
}

// errLeft is what a run was cancelled by where nobody said.
var errLeft = errors.New("cancelled")

// begin begins the run or goes on with that in the journal, and returns what is to be done next.
func (p *Pool) begin(t *Seat, prompt string) (*driver, machine.Effect, error) {
	o := p.o
	if t.journal != nil {
		own := *p.o
		own.journal, own.journals = recorderOf(t.journal), true
		o = &own
	}
	ctx := context.Background()
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
	t.rest = &rest{values: values, end: end, scope: d}
}

// driver is what goes on with the run, and returns what is to be done.
func (t *Seat) driver(ctx context.Context) (*driver, context.Context, machine.Effect) {
	p := t.pool
	d := &driver{options: p.o, model: p.cfg.Model, cfg: p.cfg.Config, s: t.s}
	asked := t.take(d, recorderOf(t.journal))
	if d.runner.settings = p.settings; d.runner.st.Policy != &p.compiled.Config().Policy {
		d.runner.settings = ReadSettings(d.runner.st.Policy)
	}
	if x := t.rest; x != nil && x.values != nil {
		ctx = scoped{ctx, x.values}
	}
	d.ctx = ctx
	return d, ctx, asked
}

// work goes on with the run until it waits, ends, the pool is closed, or drive ends.
func (t *Seat) work(drive context.Context) {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	t.begun(stop)
	d, ctx, asked := t.driver(ctx)
	back := true
	defer func() {
		if !back {
			t.exit(d, recover())
		}
	}()
	for {
		if asked.Kind == machine.WaitUntil && asked.Wait.Until.After(d.now()) && ctx.Err() == nil {
			t.asked = nil
			t.lay(d)
			t.pool.rest(t, asked.Wait.Until)
			return
		}
		if drive.Err() != nil || t.pool.closing() {
			t.asked = &asked
			t.lay(d)
			t.pool.rest(t, time.Time{})
			return
		}
		back = false
		effects, err := d.carry(ctx, asked)
		back = true
		if err != nil || d.runner.st.Phase == machine.Stopped {
			t.end(d, err)
			return
		}
		asked = effects[len(effects)-1]
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

// exit ends a run whose goroutine was ended by what it called. One in which that panicked stays as it is: it can be resumed.
func (t *Seat) exit(d *driver, panicked any) {
	if panicked != nil {
		panic(panicked)
	}
	r, err := d.exit()
	t.over(d, r, err)
}

// end ends a run that has stopped, or cannot go on for err.
func (t *Seat) end(d *driver, err error) {
	if err != nil {
		t.over(d, Result{}, d.broken(err))
		return
	}
	r, err := d.runner.Result(d.cause)
	t.over(d, r, err)
}

// over tells of the end.
func (t *Seat) over(d *driver, r Result, err error) {
	if t.rest != nil && t.rest.end != nil {
		t.rest.scope.runner = d.runner
		r, err = t.rest.end(r, err)
	}
	d.release()
	defer t.pool.ended(t) // whatever becomes of who is told
	t.pool.cfg.Done(t.s, r, err)
}

// Cancel ends the run as the end of its context would end that of [Run], wherever it stands: what it was cancelled by is in the
// error that Done is told. cause may be nil. It does nothing to a run that has ended. It waits for nothing.
func (t *Seat) Cancel(cause error) {
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.gone != nil || t.stop == nil && t.parked == nil {
		return
	}
	if t.gone = cause; cause == nil {
		t.gone = errLeft
	}
	if t.stop != nil {
		t.stop(t.gone)
		return
	}
	if t.place >= 0 {
		heap.Remove(&p.asleep, int(t.place))
		p.ready = append(p.ready, t)
		p.signal()
	}
}

// left tells tracers that the pool goes on with the run no more, and why.
func (t *Seat) left(err error) {
	if t.rest != nil && t.rest.end != nil {
		_, _ = t.rest.end(Result{}, err)
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

// sleepers are the runs that wait, as a heap: by the end of their wait, and then by the order in which they were parked.
type sleepers []*Seat

func (s sleepers) Len() int { return len(s) }

func (s sleepers) Less(i, j int) bool {
	if s[i].until.Equal(s[j].until) {
		return s[i].order < s[j].order
	}
	return s[i].until.Before(s[j].until)
}

func (s sleepers) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = int32(i), int32(j)
}

// Push is for package heap.
func (s *sleepers) Push(x any) {
	t := x.(*Seat)
	t.place = int32(len(*s))
	*s = append(*s, t)
}

// Pop is for package heap.
func (s *sleepers) Pop() any {
	last := len(*s) - 1
	t := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	t.place = -1
	return t
}

// enqueue makes a run ready; false where the pool is closed.
func (p *Pool) enqueue(t *Seat) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	t.place = -1
	p.ready = append(p.ready, t)
	p.signal()
	return true
}

// park lets a run wait; false where the pool is closed.
func (p *Pool) park(t *Seat, until time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.sleep(t, until)
	return true
}

// sleep puts a run to the heap. p.mu is held.
func (p *Pool) sleep(t *Seat, until time.Time) {
	p.added++
	t.until, t.order = until, p.added
	heap.Push(&p.asleep, t)
	p.signal()
}

// rest lets go of a run that was worked on: it waits, or is ready for who goes on with it where until is zero.
func (p *Pool) rest(t *Seat, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.working--
	t.stop = nil
	p.idle.Broadcast()
	if until.IsZero() || t.gone != nil {
		t.place = -1
		p.ready = append(p.ready, t)
		p.signal()
		return
	}
	p.sleep(t, until)
}

// ended lets go of a run that is over.
func (p *Pool) ended(t *Seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.working--
	t.stop, t.parked = nil, nil
	p.idle.Broadcast()
	p.signal()
}

func (p *Pool) closing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// take takes the next run that is due, to be worked on; nil where there is none.
func (p *Pool) take(now time.Time) (t *Seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil
	case len(p.ready) > 0:
		t, p.ready[0] = p.ready[0], nil
		p.ready = p.ready[1:]
	case p.asleep.Len() > 0 && !p.asleep[0].until.After(now):
		t = heap.Pop(&p.asleep).(*Seat)
	default:
		return nil
	}
	p.working++
	return t
}

// putBack undoes take.
func (p *Pool) putBack(t *Seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.working--
	p.idle.Broadcast()
	p.ready = append([]*Seat{t}, p.ready...)
	p.signal()
}
