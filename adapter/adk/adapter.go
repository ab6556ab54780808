package adk

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/session"
)

// Config configures the runs of an adapter: see [turns.Settings], whose request is that of ADK.
type Config = turns.Settings

// Invocation identifies the invocation of ADK that a run belongs to.
type Invocation struct {
	// ID is that of the invocation, Branch that of a parallel agent within it. Agents of one branch share
	// a run.
	ID, Branch string
	// AppName, UserID and SessionID are those of ADK's session.
	AppName, UserID, SessionID string
}

// Option is an optional part of an adapter.
type Option func(*Adapter)

// WithClock sets the clock for waits and times; the default is the machine's.
func WithClock(c loop.Clock) Option { return func(a *Adapter) { a.clock = c } }

// WithClassifier classifies the errors of models and tools, for SDKs whose errors [fault.Classify] does
// not know. Those of google.golang.org/genai are known. For a zero failure the adapter classifies the
// error itself.
func WithClassifier(f func(error) fault.Failure) Option { return func(a *Adapter) { a.custom = f } }

// WithSessions makes f find the session of an invocation, for conversations that keep one. A session is
// for one run at a time: give each branch its own. By default each run has a new session, named by
// invocation and branch.
func WithSessions(f func(Invocation) (*session.Session, error)) Option {
	return func(a *Adapter) { a.sessions = f }
}

// WithEnd calls f with the end of each run, when ADK's run is over. The error is a [loop.RetryExhaustedError]
// if the run did not end well. A run without a final answer counts as cancelled. A run that waits for a
// confirmation ends when the invocation with the confirmation is over, or as cancelled when the conversation
// goes on without it. The session is free by then. Such a run waits in the memory of its process: after a
// restart the confirmed call runs unwatched, and the next model call begins a new run.
func WithEnd(f func(Invocation, *session.Session, loop.Result, error)) Option {
	return func(a *Adapter) { a.ended = f }
}

// WithSequential must be given if a task runner (platform.WithTaskRunner) makes the calls of a reply one
// after the other, in call order. A transport fault of a tool is not retried then, because a call cannot wait
// for those after it.
func WithSequential() Option { return func(a *Adapter) { a.sequential = true } }

// WithObserver tells o of every attempt, retry, exhaustion and end of the adapter's runs, such as
// observe.LogTo or an observer of adapter/otel. It may be given several times. The goroutines of all runs
// call it, and it must be quick. A [observe.Tracer] follows runs, model calls and tools; what ADK and its
// models and tools trace themselves does not become part of that, because ADK's callbacks pass no context on.
func WithObserver(o observe.Observer) Option {
	return func(a *Adapter) { a.observers = append(a.observers, o) }
}

// Adapter is retake within ADK. It is safe for concurrent use: many invocations share it.
type Adapter struct {
	cfg       Config
	clock     loop.Clock
	custom    func(error) fault.Failure
	observers []observe.Observer
	sessions  func(Invocation) (*session.Session, error)
	ended     func(Invocation, *session.Session, loop.Result, error)
	// sequential is that of WithSequential.
	sequential bool

	mu   sync.Mutex
	runs map[place]*run
	// paused are the runs that wait for a confirmation, oldest first.
	paused []*run
}

// place identifies a run: agents of one branch take turns.
type place struct{ invocation, branch string }

// ErrNoRun means that a model is asked in an invocation that the adapter's plugin does not see.
var ErrNoRun = errors.New("retake: the invocation has no run; put Adapter.Plugin into the runner, and make " +
	"an agent a tool with Adapter.AgentTool")

// New returns an adapter. The error joins all that is wrong with cfg, or names a nil option.
func New(cfg Config, opts ...Option) (*Adapter, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("retake: %w", err)
	}
	a := &Adapter{cfg: cfg, runs: map[place]*run{}}
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
	if a.sessions == nil {
		a.sessions = ownSession
	}
	return a, nil
}

func ownSession(i Invocation) (*session.Session, error) {
	id := i.ID
	if i.Branch != "" {
		id += "/" + i.Branch
	}
	return session.New(session.Config{ID: id})
}

// run is a run of the core within an invocation.
type run struct {
	of      *turns.Run
	at      Invocation
	s       *session.Session
	offered turns.Shelf
	cfg     Config

	mu sync.Mutex
	// calls are the calls that ADK has begun, until they end.
	calls []begunCall
	// unwatched are the names of the tools that ADK runs without its plugins.
	unwatched map[string]bool
}

// begin returns the run of a place, and begins it if there is none.
func (a *Adapter) begin(i Invocation, deadline time.Time) (*run, error) {
	key := place{i.ID, i.Branch}
	if r := a.find(i.ID, i.Branch); r != nil {
		return r, nil
	}
	if r := a.takePaused(i); r != nil { // the conversation goes on without what the run waits for
		a.end(r)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.runs[key]; r != nil {
		return r, nil
	}
	s, err := a.sessions(i)
	if err != nil {
		return nil, fmt.Errorf("retake: session: %w", err)
	}
	of, err := turns.New(s, turns.Config{
		Settings: a.cfg, Deadline: deadline, Clock: a.clock, Classify: a.classify,
		Observers: a.observers, Sequential: a.sequential,
	})
	if err != nil {
		return nil, fmt.Errorf("retake: %w", err)
	}
	r := &run{of: of, cfg: a.cfg, at: i, s: s}
	a.runs[key] = r
	return r, nil
}

// find returns the run of a place; nil if there is none.
func (a *Adapter) find(invocation, branch string) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[place{invocation, branch}]
}

// resume returns the run of a place. A run of the same conversation that waits for a confirmation continues
// there, with its budgets.
func (a *Adapter) resume(i Invocation) *run {
	if r := a.find(i.ID, i.Branch); r != nil {
		return r
	}
	r := a.takePaused(i)
	if r == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r.at.ID = i.ID
	a.runs[place{i.ID, i.Branch}] = r
	return r
}

// takePaused removes and returns the paused run of a conversation; nil for none.
func (a *Adapter) takePaused(i Invocation) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := slices.IndexFunc(a.paused, func(r *run) bool {
		same := r.at
		same.ID = i.ID
		return same == i
	})
	if at < 0 {
		return nil
	}
	r := a.paused[at]
	a.paused = slices.Delete(a.paused, at, at+1)
	return r
}

// abandon ends the paused runs of a conversation that does not go on.
func (a *Adapter) abandon(appName, userID, sessionID string) {
	of := func(r *run) bool {
		return r.at.AppName == appName && r.at.UserID == userID && r.at.SessionID == sessionID
	}
	a.mu.Lock()
	var over []*run
	a.paused = slices.DeleteFunc(a.paused, func(r *run) bool {
		if of(r) {
			over = append(over, r)
		}
		return of(r)
	})
	a.mu.Unlock()
	for _, r := range over {
		a.end(r)
	}
}

// maxPaused bounds the runs that wait for a confirmation. The oldest ends then.
const maxPaused = 10_000

// finish ends the runs of an invocation, in order of branch. Runs that wait for a confirmation stay open.
func (a *Adapter) finish(invocation string) {
	a.mu.Lock()
	var over []*run
	for _, r := range a.take(invocation) {
		if r.of.Paused() {
			a.paused = append(a.paused, r)
		} else {
			over = append(over, r)
		}
	}
	if many := len(a.paused) - maxPaused; many > 0 {
		over = append(over, a.paused[:many]...)
		a.paused = slices.Delete(a.paused, 0, many)
	}
	a.mu.Unlock()
	for _, r := range over {
		a.end(r)
	}
}

func (a *Adapter) end(r *run) {
	result, err := r.of.End()
	if a.ended != nil {
		a.ended(r.at, r.s, result, err)
	}
}
