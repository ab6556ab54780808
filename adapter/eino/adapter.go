package eino

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/session"
)

// Config configures the runs of an adapter: see [turns.Settings], whose request is that of Eino.
type Config = turns.Settings

// Option is an optional part of an adapter.
type Option func(*Adapter)

// WithClock sets the clock for waits and times; the default is the machine's.
func WithClock(c loop.Clock) Option { return func(a *Adapter) { a.clock = c } }

// WithClassifier classifies the errors of the model and of tools, for SDKs whose errors [fault.Classify]
// does not know. For a zero failure the adapter uses that.
func WithClassifier(f func(error) fault.Failure) Option { return func(a *Adapter) { a.classify = f } }

// WithEnd calls f with the end of each run that began by itself, within a tool call: that of an agent that is
// a tool. The session, whose id is that of the outer run and the key of the call, is free by then.
func WithEnd(f func(*session.Session, loop.Result, error)) Option {
	return func(a *Adapter) { a.ended = f }
}

// WithObserver tells o of every attempt, retry, exhaustion and end of the adapter's runs, such as
// observe.LogTo or an observer of adapter/otel. It may be given several times. The goroutines of all runs
// call it, and it must be quick. A [observe.Tracer] follows runs, model calls and tools; a tool's context has
// its values, a model's has not.
func WithObserver(o observe.Observer) Option {
	return func(a *Adapter) { a.observers = append(a.observers, o) }
}

// Adapter is retake within Eino. It is safe for concurrent use once it is wired: many runs and agents share
// it. Agents that share a run take turns: those that work at the same time, as in a ParallelAgent, need an
// adapter each, and get an error otherwise.
type Adapter struct {
	cfg        Config
	ended      func(*session.Session, loop.Result, error)
	clock      loop.Clock
	classify   func(error) fault.Failure
	observers  []observe.Observer
	sequential bool
}

// New returns an adapter. The error joins all that is wrong with cfg, or names a nil option.
func New(cfg Config, opts ...Option) (*Adapter, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("retake: %w", err)
	}
	a := &Adapter{cfg: cfg}
	for n, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("retake: option %d is nil; leave it out", n+1)
		}
		opt(a)
	}
	if slices.Contains(a.observers, nil) {
		return nil, errors.New("retake: WithObserver: the observer is nil; leave the option out")
	}
	a.clock = cmp.Or(a.clock, loop.ClockOf())
	return a, nil
}

// Run is one run of an agent or graph. It is safe for concurrent use.
type Run struct {
	of *turns.Run
	// offered are the tools known so far, by their declarations.
	offered turns.Shelf
	a       *Adapter
	s       *session.Session
	// within is the tool call that the run began in; nil for none.
	within *scope

	mu sync.Mutex
	// calls are the tool calls that run or are paused, by key, and working is how many run.
	calls   map[string]*scope
	working int
	// speaker is whose model was asked last. It has the turn until the model has replied and due, the number
	// of calls in its reply that Eino has not begun, is 0.
	speaker *speaker
	asked   bool
	due     int
}

// speaker is an agent or a model that the adapter is wired into.
type speaker struct{ a *Adapter }

// errTogether means that agents share a run and work at the same time.
var errTogether = errors.New("retake: two agents work in one run at the same time, which would mix their calls; " +
	"give each an Adapter of its own, and pass Eino a context from the Start of each")

// speaks notes whose model is asked. Agents take turns in a run.
func (r *Run) speaks(who *speaker) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.working > 0 || r.speaker != who && (r.asked || r.due > 0) {
		return errTogether
	}
	r.speaker, r.asked, r.due = who, true, 0
	return nil
}

// spoke notes that the model has replied, with so many calls.
func (r *Run) spoke(calls int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked, r.due = false, calls
}

// works notes that a tool call begins, until the returned function is called.
func (r *Run) works() (over func()) {
	r.count(1, -1)
	return func() { r.count(-1, 0) }
}

func (r *Run) count(working, due int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.working += working
	r.due = max(r.due+due, 0)
}

// runKey is an adapter's key in a context.
type runKey struct{ of *Adapter }

// Start begins a run in s and returns the context for Eino. s may hold earlier runs of the conversation.
// It belongs to the run until [Run.End]; nil means a new session.
func (a *Adapter) Start(ctx context.Context, s *session.Session) (context.Context, *Run, error) {
	if s == nil {
		var err error
		if s, err = session.New(session.Config{}); err != nil {
			return nil, nil, err
		}
	}
	run, err := a.begin(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	return run.In(ctx), run, nil
}

// In returns a context with the run, for Eino. Use it to resume an interrupted run, with its budgets, from
// another context than the one it began with.
func (r *Run) In(ctx context.Context) context.Context { return context.WithValue(ctx, runKey{r.a}, r) }

func (a *Adapter) begin(ctx context.Context, s *session.Session) (*Run, error) {
	deadline, _ := ctx.Deadline()
	of, err := turns.New(s, turns.Config{
		Settings: a.cfg, Deadline: deadline, Clock: a.clock, Classify: a.classify,
		Observers:  a.observers,
		Sequential: a.sequential,
	})
	if err != nil {
		return nil, err
	}
	within, _ := ctx.Value(scopeKey{}).(*scope)
	return &Run{of: of, a: a, s: s, within: within}, nil
}

// End ends the run and releases its session. It returns what [loop.Loop.Run] would: the error is a
// [loop.RetryExhaustedError] if the run did not end well. A run without a final answer (a tool that
// returns directly, an interrupt) counts as cancelled. A run that asked no model has neither a result nor
// an error. A second call returns the same.
func (r *Run) End() (loop.Result, error) {
	r.mu.Lock()
	open := slices.Collect(maps.Values(r.calls))
	r.calls = nil
	r.mu.Unlock()
	for _, w := range open {
		w.end()
	}
	return r.of.End()
}

// ErrNoRun means that the context is not one that [Adapter.Start] returned.
var ErrNoRun = errors.New("retake: the context has no run; pass the context that Adapter.Start returned to Eino")

// run returns the run of a context. Within a tool call it is one that began there: an agent that is a tool
// has a run of its own.
func (a *Adapter) run(ctx context.Context) (*Run, error) {
	within, _ := ctx.Value(scopeKey{}).(*scope)
	r, ok := ctx.Value(runKey{a}).(*Run)
	switch {
	case ok && r.within == within:
		return r, nil
	case within != nil:
		return within.run(ctx, a)
	}
	return nil, ErrNoRun
}
