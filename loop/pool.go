package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// PoolConfig is what the runs of a [Pool] share.
type PoolConfig struct {
	// Model replies to all of them: it must be safe for concurrent use. Required.
	Model Model
	// Config is what each run is held to, Options wire it as they do [Run]: all but WithJournal, for a
	// journal is that of one session.
	Config  Config
	Options []Option
	// Done is told of the end of each run that has begun with what [Run] would return, before the caller of
	// [Pool.Await] is. It is called by the worker that ended the run, so that several may be called at once,
	// and may add runs to the pool. A panic in it is contained by nobody: it comes out of [Pool.Due], and
	// ends the process where a worker of [Pool.Run] or [Pool.Serve] calls it; the run has ended all the same.
	// It is required by [Pool.Add].
	Done func(s *session.Session, r Result, err error)
}

// ErrPoolClosed is the error of adding to a pool that was closed.
var ErrPoolClosed = errors.New("loop: the pool is closed")

// Pool makes the runs of very many sessions, for runtimes in which nearly all of them wait. A session that
// waits is its state as data and a place in one heap of deadlines: it has no goroutine and no timer. The
// models and tools of those that go on are called by a bounded number of workers. Each run decides as [Run]
// does, and records the same.
//
// Make one with [NewPool], and give it runs by [Pool.Add] or, where somebody waits for the end, by
// [Pool.Await]. Drive it with [Pool.Run] or [Pool.Serve]; or, in an engine with a scheduler of its own, call
// [Pool.Due] whenever [Pool.Next] has come. All methods are safe for concurrent use.
type Pool struct {
	cfg      PoolConfig
	o        *options
	compiled *machine.Compiled
	// life ends as the pool is closed, by end.
	life context.Context
	end  context.CancelFunc

	mu    sync.Mutex
	queue queue
	// working counts the runs that are worked on.
	working int
	closed  bool
	// changed is closed as soon as a run is queued or has ended, or the pool is closed; nil where nobody
	// waits for that.
	changed chan struct{}
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
	compiled, refused := cfg.Config.asking(o)
	if err = errors.Join(err, refused); err != nil {
		return nil, fmt.Errorf("loop: the pool's config: %w", err)
	}
	p := &Pool{cfg: cfg, o: o, compiled: compiled}
	p.life, p.end = context.WithCancel(context.Background())
	return p, nil
}

// Add begins a run of a session, as [Run] does with prompt; a run that its journal holds and that has not
// ended goes on instead, as by [Resume]. Where the journal's last run has ended and was of the same request,
// nothing is done again: its recorded end is told, as by Resume. The same request has the same
// [Config].RequestID or, where neither run has one, the same history and prompt; of a journal whose history
// was left out and cannot be had, that cannot be told, and the error is one of [journal.ErrRedacted]. j is
// nil for no journal. The session is the pool's until its end is told. The errors are those of Run and Resume
// before anything is asked, and [ErrPoolClosed].
func (p *Pool) Add(s *session.Session, prompt string, j *journal.Journal) (_ *PoolRun, err error) {
	if p.cfg.Done == nil {
		return nil, errUntold
	}
	t := p.seat(s, prompt, j)
	err = errExited // unless it returns
	defer func() {
		if err != nil {
			t.letGo(err)
		}
	}()
	if t.begin(); t.run.broke != nil {
		_, err = t.run.result()
		return nil, err
	}
	if !p.enqueue(t, time.Time{}) {
		return nil, ErrPoolClosed
	}
	return t, nil
}

// seat is a run of the pool that has not begun.
func (p *Pool) seat(s *session.Session, prompt string, j *journal.Journal) *PoolRun {
	run := newProcess(context.Background(), p.o.recordedIn(j), p.cfg.Model, s, &p.cfg.Config)
	return &PoolRun{pool: p, prompt: prompt, run: run}
}

// errUntold is the error of adding a run of whose end nobody is told.
var errUntold = errors.New("loop: the pool's config: done: there is nobody to tell of the end of a run: give a function, or call Await")

// AddParked takes over a run that [Pool.Close] of a pool of the same config handed back. Errors are as those
// of [Pool.Add].
func (p *Pool) AddParked(k Parked) (*PoolRun, error) {
	if p.cfg.Done == nil {
		return nil, errUntold
	}
	t := p.seat(k.Session, "", k.Journal)
	r, err := RunnerAt(k.Session, p.cfg.Config, k.State, t.run.stepped)
	if err != nil {
		return nil, err
	}
	r.journal = k.Journal
	t.run.runner, t.run.asked, t.run.last, t.begun = *r, k.Asked, k.State.At, true
	t.run.trace(true)
	var until time.Time
	if w := k.Asked.Wait; k.Asked.Kind == machine.WaitUntil && w != nil {
		until = w.Until
	}
	if p.enqueue(t, until) {
		return t, nil
	}
	t.letGo(ErrPoolClosed)
	return nil, ErrPoolClosed
}

// Parked is a run that a closed pool did not end: plain data but for the session and its journal. The session
// is free again.
type Parked struct {
	Session *session.Session
	// Journal is that of the session; nil for none. It is still open.
	Journal *journal.Journal
	// State is the core's, Asked is the effect that is to be carried out next. Go errors are no data: a run
	// that ends later without an answer names those since.
	State machine.State
	Asked machine.Effect
}

// Close ends the pool: no run is gone on with. The contexts of models that are being called end; a call that
// returns an error then is made again by whoever goes on with the run. It waits until the workers have let
// go, each after the effect that it carries out, ends the runs that were cancelled and not yet ended, as a
// worker would, and hands the others back that have begun and not ended: those that were ready first, then
// those that wait, by deadline. Callers of [Pool.Await] are told. A [observe.Tracer] is told that they end
// here with [ErrSuspended], and that they begin again with [Pool.AddParked]. What a worker calls (Done,
// models, tools) must not close the pool itself: it would wait for itself for ever.
func (p *Pool) Close() []Parked {
	gone, left := p.empty()
	for _, t := range gone {
		contained(func() { t.work(context.Background(), time.Time{}) })
	}
	all := make([]Parked, 0, len(left))
	for _, t := range left {
		end := &ending{err: ErrPoolClosed}
		if t.begun {
			all = append(all, t.handBack())
			end.err = errClosedUnder
		}
		t.told(end)
	}
	return all
}

// empty closes the pool, waits until nobody works, and takes all runs: those that were cancelled, to be
// worked on, and the others.
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

// contained calls f, and returns also where that ends its goroutine.
func contained(f func()) {
	var over sync.WaitGroup
	over.Go(f)
	over.Wait()
}

// Len is the number of runs that have not ended.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.len() + p.working
}

// Next is the earliest time at which there is something to do; ok is false where all runs have ended, or are
// worked on. It is zero where there is something to do at once.
func (p *Pool) Next() (at time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue.ready) == 0 && len(p.queue.waits) > 0 {
		at = p.queue.waits[0].until
	}
	return at, p.queue.len() > 0
}

// Due goes on with the runs that are due at the given time, one after the other in the order in which they
// were due, and then of parking, until each waits for a later time or has ended. It returns how many it went
// on with. It blocks while models and tools are called.
//
// now is the word of the engine: a wait that ends by then is over even where the pool's clock has not come so
// far, and is recorded as having lasted until its end. A run that waits again is gone on with again only
// where that wait, too, ends by then.
func (p *Pool) Due(now time.Time) int {
	for n := 0; ; n++ {
		p.mu.Lock()
		t := p.take(now)
		p.mu.Unlock()
		if t == nil {
			return n
		}
		t.work(p.life, now)
	}
}

// Run drives the pool with so many workers, until all runs have ended (nil), the pool is closed
// ([ErrPoolClosed]) or ctx ends (its cause). The contexts of models that are being called end with ctx, and
// as the pool is closed: a call that returns an error then is made again by whoever goes on with the run. It
// returns when no worker works any more: models and tools have returned. What is left can be gone on with by
// another Run, or handed back by [Pool.Close].
func (p *Pool) Run(ctx context.Context, workers int) error { return p.drive(ctx, workers, false) }

// Serve is Run for a pool to which runs are added at any time, as by [Pool.Await]: that all have ended does
// not end it.
func (p *Pool) Serve(ctx context.Context, workers int) error { return p.drive(ctx, workers, true) }
