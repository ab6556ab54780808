package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-go/retake/internal/after"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// PoolConfig configures a [Pool].
type PoolConfig struct {
	// Model is the model of all runs. It must be safe for concurrent use. Required.
	Model Model
	// Config configures each run. Options are as for [New].
	Config  Config
	Options []Option
	// Done is called at the end of each run that has begun, with the results of [Loop.Run], before
	// [Pool.Await] returns. The worker that ended the run calls it, so several calls may run at once; it may
	// add runs to the pool. A panic in it is not recovered: it leaves [Pool.Due], and ends the process if a
	// worker of [Pool.Run] or [Pool.Serve] calls it. The run has ended even so. [Pool.Add] requires Done.
	Done func(s *session.Session, r Result, err error)
}

// ErrPoolClosed is the error of a closed pool.
var ErrPoolClosed = errors.New("loop: the pool is closed")

// Pool runs many sessions that mostly wait. A waiting session is only its state and an entry in a heap of
// deadlines: it has no goroutine and no timer. While it waits for a person, or for a second or more, its
// journal rests ([journal.Rester]): it has no open file, and another process may take the session over; the
// run then ends with [journal.ErrConflict], when it wakes or when a drive of the pool notices. From the end
// of a run to the next of its session nobody holds the journal, whatever the store
// ([journal.Journal.Release]). A limited number of workers calls models and tools. Each run decides and
// records the same as with [Loop.Run].
//
// The runs share a limiter: that of [WithLimiter] or, without this option, one that lets all calls pass until
// a retry is refused or finds the provider down, or a response tells a limit. It ends runs whose provider is
// down for more than ten minutes. WithLimiter(nil) leaves it out.
//
// Make one with [NewPool]. Add runs with [Pool.Add], or with [Pool.Await] to wait for the end. Drive it with
// [Pool.Run] or [Pool.Serve]; or, in an engine with its own scheduler, call [Pool.Due] whenever the time of
// [Pool.Next] has come. All methods are safe for concurrent use.
type Pool struct {
	cfg      PoolConfig
	o        *options
	compiled *machine.Compiled
	inboxes  inboxes
	// drives counts the calls of Run and Serve that go on.
	drives atomic.Int32
	// time is that of the clock, but goes on if it is set back.
	time *after.Steady
	// life is the context of the pool; end cancels it when the pool is closed.
	life context.Context
	end  context.CancelFunc

	mu    sync.Mutex
	queue queue
	// working is the number of runs that workers have.
	working int
	closed  bool
	// changed is closed when a run is queued or has ended, or the pool is closed; nil if nobody waits for
	// that.
	changed chan struct{}
}

// NewPool returns an empty pool. The error joins everything that is wrong with the config.
func NewPool(cfg PoolConfig) (*Pool, error) {
	o, err := collect(cfg.Options)
	if o = o.limited().driving(cfg.Model, &cfg.Config); o.model == nil {
		err = errors.Join(err, errors.New("model: is nil: set a model"))
	}
	compiled, refused := cfg.Config.asking(o)
	if err = errors.Join(err, refused); err != nil {
		return nil, fmt.Errorf("loop: the pool's config: %w", err)
	}
	p := &Pool{cfg: cfg, o: o, compiled: compiled, time: after.SteadyTime(o.clock)}
	p.life, p.end = context.WithCancel(context.Background())
	return p, nil
}

// Add begins a run of a session, as [Loop.Run] does. If the session's journal has this run unfinished, it
// continues, as with [Loop.Resume]. If the journal's last run has ended and was the same request, nothing is
// done again, and its recorded end is reported. Requests are the same if their [Input].RequestID is or, if
// neither has one, if history and prompt are; the zero Input is the last request, whatever it was. If a
// redacted journal cannot tell, the error is [journal.ErrRedacted]. An unfinished run of another request is
// an error of [journal.ErrConflict]. The session belongs to the pool until the run's end is reported. Other
// errors are those of Run and Resume before the first model call, and [ErrPoolClosed].
func (p *Pool) Add(s *session.Session, in Input) (_ *PoolRun, err error) {
	if p.cfg.Done == nil {
		return nil, errUntold
	}
	t, err := p.newRun(s, &in)
	if err != nil {
		return nil, err
	}
	err = errExited // unless it returns
	defer func() {
		if err != nil {
			t.release(err)
		}
	}()
	if t.begin(); t.run.broke != nil {
		_, err = t.run.result()
		return nil, err
	}
	if t.run.restLong(); !p.enqueue(t, time.Time{}) {
		return nil, ErrPoolClosed
	}
	return t, nil
}

func (p *Pool) newRun(s *session.Session, in *Input) (*PoolRun, error) {
	run, err := newProcess(context.Background(), p.o, s, &p.cfg.Config, in)
	if err != nil {
		return nil, err
	}
	t := &PoolRun{pool: p, run: run}
	run.takesMail(t)
	return t, nil
}

// errUntold is the error of adding a run without Done.
var errUntold = errors.New("loop: the pool's config: done: is nil: set a function that gets the end of a run, or call Await")

// AddParked takes over a run that [Pool.Close] of a pool with the same config returned. Errors are those of
// [Pool.Add].
func (p *Pool) AddParked(k Parked) (*PoolRun, error) {
	if p.cfg.Done == nil {
		return nil, errUntold
	}
	t, err := p.newRun(k.Session, nil)
	if err != nil {
		return nil, err
	}
	if err := t.run.take(engine.RunnerConfig{State: &k.State}); err != nil {
		return nil, err
	}
	t.run.goesOn(k.State, k.Adjusted)
	t.run.asked, t.begun = &k.Asked, true
	t.run.trace(true)
	var until time.Time
	if w := k.Asked.Wait; k.Asked.Kind == machine.WaitUntil && w != nil {
		until = w.Until
	}
	t.run.restLong()
	if p.enqueue(t, until) {
		return t, nil
	}
	t.release(ErrPoolClosed)
	return nil, ErrPoolClosed
}

// Parked is an unfinished run of a closed pool. It is plain data except for the session. The session is
// released; its journal, if any, is still open.
type Parked struct {
	Session *session.Session
	// State is the state of the core, and Asked the next effect to carry out. Go errors are not kept: an
	// error of the run refers only to later errors.
	State machine.State
	Asked machine.Effect
	// Adjusted is the last layer of [WithAdjust], or nil.
	Adjusted *policy.Layer
}

// Limiter returns the limiter of the runs, to show or watch it: that of [WithLimiter], or the pool's own.
// It is nil if there is none.
func (p *Pool) Limiter() *limiter.Limiter { return p.o.limiter }

// Close closes the pool: no run continues. It cancels the contexts of models in progress; a failed call is
// made again when the run continues elsewhere. Close waits until the workers have finished their current
// effects, but not for a run within a tool that can be called again ([Loop.Within]) if there is a journal: it
// goes on later, too. Close ends the runs that were cancelled. It returns the other unfinished runs: first
// those that were ready, then those that wait, by deadline. Callers of [Pool.Await] return. An
// [observe.Tracer] is told that the runs end with [ErrSuspended], and begin again with [Pool.AddParked].
// Functions that workers call (Done, models, tools) must not call Close, or it deadlocks.
func (p *Pool) Close() []Parked {
	gone, left := p.empty()
	for _, t := range gone {
		contained(func() { t.work(context.Background(), time.Time{}) })
	}
	all := make([]Parked, 0, len(left))
	for _, t := range left {
		end := &ending{err: ErrPoolClosed}
		if t.begun {
			all = append(all, t.park())
			end.err = errClosedUnder
		}
		t.tellCaller(end)
	}
	return all
}

// empty closes the pool, waits for the workers, and takes all runs: those that were cancelled, and the
// others.
func (p *Pool) empty() (gone, left []*PoolRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.end()
	p.signal()
	for p.working > 0 {
		changed := p.change()
		p.mu.Unlock()
		<-changed
		p.mu.Lock()
	}
	for _, t := range p.queue.all() {
		if t.cancelled() {
			p.working++
			gone = append(gone, t)
		} else {
			t.over = true
			left = append(left, t)
		}
	}
	return gone, left
}

// contained calls f and returns even if f ends its goroutine.
func contained(f func()) {
	var over sync.WaitGroup
	over.Go(f)
	over.Wait()
}

// Len returns the number of runs that have not ended.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.len() + p.working
}

// Next returns the earliest time at which there is something to do; zero means now. ok is false if all runs
// have ended or are being worked on.
func (p *Pool) Next() (at time.Time, ok bool) {
	ahead := p.time.Ahead()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue.ready) == 0 && len(p.queue.waits) > 0 {
		if at = p.queue.waits[0].until; !at.Equal(forever) {
			at = at.Add(-ahead)
		}
		if p.o.limiter != nil {
			grants, _ := p.o.limiter.Next()
			at = after.Sooner(at, grants)
		}
	}
	return at, p.queue.len() > 0
}

// Due continues the runs that are due at the given time, one after the other in the order in which they
// became due, until each waits for a later time or has ended. It returns the number of runs. It blocks while
// models and tools are called. A limiter grants by its own clock: give it that of the engine.
//
// now is the engine's time: a wait that ends by then is over even if the pool's clock is behind, and is
// recorded as having lasted until its end. A run that waits again continues only if that wait also ends by
// now.
func (p *Pool) Due(now time.Time) int {
	if p.o.limiter != nil {
		p.o.limiter.Tick()
	}
	for n := 0; ; n++ {
		reached := now.Add(p.time.Ahead())
		p.mu.Lock()
		t := p.take(reached)
		p.mu.Unlock()
		if t == nil {
			return n
		}
		over := now
		if waited := t.waited(); waited.After(now) {
			over = waited
		}
		t.work(p.life, over)
	}
}

// Run drives the pool with the given number of workers until all runs have ended (nil), the pool is closed
// ([ErrPoolClosed]) or ctx ends (its cause). When ctx ends or the pool is closed, the contexts of models in
// progress are cancelled; a failed call is made again when the run continues. Run returns after all workers
// have stopped. Unfinished runs can be continued by another Run, or returned by [Pool.Close].
func (p *Pool) Run(ctx context.Context, workers int) error { return p.drive(ctx, workers, false) }

// Serve is Run for a pool to which runs are added at any time, such as by [Pool.Await]: it does not return
// when all runs have ended.
func (p *Pool) Serve(ctx context.Context, workers int) error { return p.drive(ctx, workers, true) }
