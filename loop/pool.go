package loop

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// PoolConfig is what the runs of a [Pool] share.
type PoolConfig struct {
	// Model replies to all of them: it must be safe for concurrent use. Required.
	Model Model
	// Config is what each run is held to, Options wire it as they do [Run]: all but WithJournal, for a journal is that of one
	// session.
	Config  Config
	Options []Option
	// Done is told of the end of each run that has begun with what [Run] would return, before the caller of [Pool.Await] is. It is called
	// by the worker that ended the run, so that several may be called at once, and may add runs to the pool. It is required by [Pool.Add].
	Done func(s *session.Session, r Result, err error)
}

// ErrPoolClosed is the error of adding to a pool that was closed.
var ErrPoolClosed = errors.New("loop: the pool is closed")

// Pool makes the runs of very many sessions, for runtimes in which nearly all of them wait. A session that waits is its state
// as data and a place in one heap of deadlines: it has no goroutine and no timer. The models and tools of those that go on are
// called by a bounded number of workers. Each run decides as [Run] does, and records the same.
//
// Make one with [NewPool], and give it runs by [Pool.Add] or, where somebody waits for the end, by [Pool.Await]. Drive it with [Pool.Run] or
// [Pool.Serve]; or, in an engine with a scheduler of its own, call [Pool.Due] whenever
// [Pool.Next] has come. All methods are safe for concurrent use.
type Pool struct {
	cfg      PoolConfig
	o        *options
	compiled *machine.Compiled
	settings tool.Settings

	mu sync.Mutex
	// seats are the runs that are to be gone on with at some time.
	seats seats
	// added counts the times that one was laid down, working counts those that are worked on.
	added   int64
	working int
	closed  bool
	// changed holds a token after something became ready, began to wait, or ended; idle is told when a worker lets go.
	changed chan struct{}
	idle    *sync.Cond
}

// NewPool returns a pool without runs. The error joins all that is wrong with the config.
func NewPool(cfg PoolConfig) (*Pool, error) {
	o, err := collect(cfg.Options)
	if err != nil {
		return nil, err
	}
	if cfg.Model == nil {
		err = errors.New("model: there is none: give one that replies")
	}
	if o.journals {
		err = errors.Join(err, errors.New("options: a journal is that of one session: give it to Add"))
	}
	if err = errors.Join(err, cfg.Config.fits(o)); err != nil {
		return nil, fmt.Errorf("loop: the pool's config: %w", err)
	}
	compiled, err := cfg.Config.compile(o)
	if err != nil {
		return nil, err
	}
	p := &Pool{cfg: cfg, o: o, compiled: compiled, settings: ReadSettings(&compiled.Config().Policy), changed: make(chan struct{}, 1)}
	p.idle = sync.NewCond(&p.mu)
	return p, nil
}

// Add begins a run of a session, as [Run] does with prompt; a run that its journal holds and that has not ended goes on instead,
// as by [Resume]. j is nil for no journal. The session is the pool's until its end is told. The errors are those of Run and
// Resume before anything is asked, and [ErrPoolClosed].
func (p *Pool) Add(s *session.Session, prompt string, j *journal.Journal) (*Seat, error) {
	if p.cfg.Done == nil {
		return nil, errUntold
	}
	t := &Seat{pool: p, s: s, journal: j}
	d, asked, err := t.begin(context.Background(), prompt)
	if err != nil {
		return nil, err
	}
	t.lay(d, &asked)
	if !p.enqueue(t, time.Time{}) {
		t.left(ErrPoolClosed)
		d.release()
		return nil, ErrPoolClosed
	}
	return t, nil
}

// errUntold is the error of adding a run of whose end nobody is told.
var errUntold = errors.New("loop: the pool's config: done: there is nobody to tell of the end of a run: give a function, or call Await")

// AddParked takes over a run that [Pool.Close] of a pool of the same config handed back. Errors are as those of [Pool.Add].
func (p *Pool) AddParked(k Parked) (*Seat, error) {
	if p.cfg.Done == nil {
		return nil, errUntold
	}
	r, err := RunnerAt(k.Session, p.cfg.Config, k.State, nil)
	if err != nil {
		return nil, err
	}
	t := &Seat{pool: p, s: k.Session, journal: k.Journal, berth: berth{asked: &k.Asked, parked: machine.Park(&k.State)}}
	t.trace(&driver{options: p.o, cfg: p.cfg.Config, s: k.Session, runner: r}, context.Background(), true)
	var until time.Time
	if w := k.Asked.Wait; k.Asked.Kind == machine.WaitUntil && w != nil {
		t.asked, until = nil, w.Until
	}
	if p.enqueue(t, until) {
		return t, nil
	}
	t.left(ErrPoolClosed)
	r.Close()
	return nil, ErrPoolClosed
}

// Parked is a run that a closed pool did not end: plain data but for the session and its journal. The session is free again.
type Parked struct {
	Session *session.Session
	// Journal is that of the session; nil for none. It is still open.
	Journal *journal.Journal
	// State is the core's, Asked is the effect that is to be carried out next. Go errors are no data: a run that ends later
	// without an answer names those since.
	State machine.State
	Asked machine.Effect
}

// Close ends the pool: no run is gone on with. It waits until the workers have let go, each after the effect that it carries
// out, and hands the runs back that have begun and not ended: those that were ready first, then those that wait, by deadline. Callers of
// [Pool.Await] are told. A [Tracer] is told
// that they end here with [ErrSuspended], and that they begin again with [Pool.AddParked].
func (p *Pool) Close() []Parked {
	p.mu.Lock()
	p.closed = true
	for p.working > 0 {
		p.idle.Wait()
	}
	left := make([]*Seat, 0, len(p.seats))
	for len(p.seats) > 0 {
		t := heap.Pop(&p.seats).(*Seat)
		t.over = true
		left = append(left, t)
	}
	p.mu.Unlock()
	p.signal()
	all := make([]Parked, 0, len(left))
	for _, t := range left {
		if t.parked == nil {
			t.told(Result{}, ErrPoolClosed)
			continue
		}
		all = append(all, t.handBack())
		t.told(Result{}, errClosedUnder)
	}
	return all
}

// Len is the number of runs that have not ended.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seats) + p.working
}

// Next is the earliest time at which there is something to do; ok is false where all runs have ended, or are worked on. It is
// zero where there is something to do at once.
func (p *Pool) Next() (at time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seats) == 0 {
		return time.Time{}, false
	}
	return p.seats[0].until, true
}

// Due goes on with the runs that are due at the given time, one after the other in order of deadline, and then of parking, until
// each waits again or has ended. It returns how many it went on with. It blocks while models and tools are called.
func (p *Pool) Due(now time.Time) int {
	for n := 0; ; n++ {
		t := p.take(now)
		if t == nil {
			return n
		}
		t.work(context.Background())
	}
}

// Run drives the pool with so many workers, until all runs have ended (nil), the pool is closed ([ErrPoolClosed]) or ctx ends (its
// cause). It returns when no worker works any more: each ends the effect that it carries out. What is left can be gone on
// with by another Run, or handed back by [Pool.Close].
func (p *Pool) Run(ctx context.Context, workers int) error { return p.drive(ctx, workers, false) }

// Serve is Run for a pool to which runs are added at any time, as by [Pool.Await]: that all have ended does not end it.
func (p *Pool) Serve(ctx context.Context, workers int) error { return p.drive(ctx, workers, true) }

// drive drives the pool; stays is set where it goes on without runs.
func (p *Pool) drive(ctx context.Context, workers int, stays bool) error {
	if workers < 1 {
		return fmt.Errorf("loop: %d workers: give 1 or more", workers)
	}
	var all sync.WaitGroup
	defer all.Wait()
	jobs := make(chan *Seat)
	defer close(jobs)
	for range workers {
		all.Go(func() { p.worker(ctx, jobs, &all) })
	}
	for {
		t, over, err := p.nextDue(ctx, stays)
		if over || err != nil {
			return err
		}
		select {
		case jobs <- t:
		case <-ctx.Done():
			if !p.putBack(t) {
				t.work(ctx)
			}
			return context.Cause(ctx)
		}
	}
}

// worker goes on with the runs that come. Where what a run calls ends its goroutine, another takes its place.
func (p *Pool) worker(ctx context.Context, jobs <-chan *Seat, all *sync.WaitGroup) {
	over := false
	defer func() {
		if !over {
			all.Go(func() { p.worker(ctx, jobs, all) })
		}
	}()
	for t := range jobs {
		t.work(ctx)
	}
	over = true
}

// nextDue waits until a run is due, and takes it; over is set where there is none any more, and that is the end.
func (p *Pool) nextDue(ctx context.Context, stays bool) (t *Seat, over bool, err error) {
	for {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		now := p.o.clock.Now()
		if t = p.take(now); t != nil {
			return t, false, nil
		}
		left, idle, err := p.untilNext(now)
		if err != nil || idle && left <= 0 && !stays {
			return nil, true, err
		}
		p.pause(ctx, left)
	}
}

// untilNext is how long it takes until the next run is due; 0 for no such time. idle is set where none is worked on.
func (p *Pool) untilNext(now time.Time) (left time.Duration, idle bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, false, ErrPoolClosed
	}
	if ready := p.seats.ready(); ready || len(p.seats) == 0 {
		return 0, p.working == 0 && !ready, nil
	}
	return max(p.seats[0].until.Sub(now), 1), p.working == 0, nil
}

// pause waits for a change, at most for so long; 0 for as long as it takes.
func (p *Pool) pause(ctx context.Context, left time.Duration) {
	var over <-chan time.Time
	if left > 0 {
		timer := p.o.clock.Timer(left)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
	case <-p.changed:
	case <-over:
	}
}

// signal says that something changed. A token that is there already says so too.
func (p *Pool) signal() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}
