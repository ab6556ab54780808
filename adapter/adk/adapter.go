package adk

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/benbjohnson/clock"

	"github.com/retake-go/retake/adapter/internal/turns"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	_ "github.com/retake-go/retake/feedback/prompt"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	retake "github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
)

// OnExhausted says what follows where a tool's attempts are used up. The zero value is [StopRun].
type OnExhausted string

const (
	// StopRun ends ADK's run with a [loop.RetryExhaustedError].
	StopRun OnExhausted = "stop_run"
	// TellModel lets the run go on: the tool's last answer says that no attempt is left, and the model may do
	// without the tool. The budgets of the run still end it, and so does an answer that cannot be used.
	TellModel OnExhausted = "tell_model"
)

// Config is what the runs of an adapter are held to: plain data. The zero value is the default policy. What a
// policy sets for an attempt goes into ADK's request: its temperature, and its model as the name of a model.
type Config struct {
	// Policy holds layers, budgets and the transport policy; nil means [policy.DefaultSet].
	Policy *policy.Set
	// Seed is what the jitter is drawn from; empty means the session's id.
	Seed string
	// Output is what a final answer is held to; nil accepts any text.
	Output *schema.Schema
	// Feedback is a template for the words that correct the model; empty means the default words.
	Feedback string
	// Limits bounds what a model is shown of a failure; nil means [feedback.DefaultLimits].
	Limits *feedback.Limits
	// ToolChoice forces a call of a tool, of any or of none, until one has ended: see [loop.Config]. A model
	// call that does not offer the tool is not forced. Empty leaves it to ADK and the model.
	ToolChoice retake.ToolChoice
	// Stop are texts at which the model is to stop writing, none of them empty; nil leaves them to ADK.
	Stop []string
	// Deadline is the time no wait may outlast; zero means that of the invocation's context, if it has one.
	// The earlier of both counts.
	Deadline time.Time
	// ReadOnly and Idempotent are the names of tools whose calls may be made again after a transport fault,
	// which is told by an error's type: calls of the first change nothing, calls of the others have the
	// effect of one. A call of any other tool is made again only where the tool asks for it
	// ([tool.TryLater]).
	ReadOnly, Idempotent []string
	// OnExhausted says what follows where a tool's attempts are used up.
	OnExhausted OnExhausted
	// Sequential must be set where a task runner (platform.WithTaskRunner) makes the calls of a reply one
	// after the other, in call order: then a transport fault of a tool is not retried, for a call cannot wait
	// for those after it.
	Sequential bool
}

// Validate says all that is wrong with the config, each fault with its field.
func (c Config) Validate() error {
	var mode error
	if c.OnExhausted != "" && c.OnExhausted != StopRun && c.OnExhausted != TellModel {
		mode = fmt.Errorf("on_exhausted: %q is none of %q, %q", c.OnExhausted, StopRun, TellModel)
	}
	held := c.loop()
	held.ToolChoice = "" // ADK has the tools
	return errors.Join(mode, held.Validate())
}

func (c Config) loop() loop.Config {
	return loop.Config{
		Policy: c.Policy, Seed: c.Seed, Output: c.Output, Feedback: c.Feedback,
		Limits: c.Limits, Deadline: c.Deadline, ToolChoice: c.ToolChoice, Stop: c.Stop,
	}
}

// Invocation says which of ADK's invocations a run belongs to.
type Invocation struct {
	// ID is the invocation's, Branch that of a parallel agent within it; agents of one branch share a run.
	ID, Branch string
	// AppName, UserID and SessionID are those of ADK's session.
	AppName, UserID, SessionID string
}

// Option wires an optional part of an adapter.
type Option func(*Adapter)

// WithClock drives waits and times by c; the machine's own clock where it is not given.
func WithClock(c clock.Clock) Option { return func(a *Adapter) { a.clock = c } }

// WithClassifier says what the errors of models and tools are, for SDKs whose errors [fault.Classify] cannot
// read. Those of google.golang.org/genai are read already. A zero failure leaves an error to the adapter.
func WithClassifier(f func(error) fault.Failure) Option { return func(a *Adapter) { a.custom = f } }

// WithRecord tells f of every step of every run, in the run's order: for journals and metrics. It is called
// from the goroutines of all runs, and must be quick.
func WithRecord(f func(machine.Event, []machine.Effect, machine.State)) Option {
	return func(a *Adapter) { a.record = f }
}

// WithSessions lets f find the session of an invocation, for conversations that keep one. A session is for
// one run at a time: give each branch its own. Without it each run has a new session, named by invocation and
// branch.
func WithSessions(f func(Invocation) (*session.Session, error)) Option {
	return func(a *Adapter) { a.sessions = f }
}

// WithEnd tells f how each run ended, when ADK's run is over: the error is a [loop.RetryExhaustedError] where
// it did not end well. A run without a final answer (a paused one) counts as cancelled. The session is free
// by then.
func WithEnd(f func(Invocation, *session.Session, loop.Result, error)) Option {
	return func(a *Adapter) { a.ended = f }
}

// Adapter is retake wired into ADK. It is safe for concurrent use: many invocations at a time share it.
type Adapter struct {
	cfg      Config
	clock    clock.Clock
	custom   func(error) fault.Failure
	record   func(machine.Event, []machine.Effect, machine.State)
	sessions func(Invocation) (*session.Session, error)
	ended    func(Invocation, *session.Session, loop.Result, error)

	mu   sync.Mutex
	runs map[place]*run
}

// place is where a run is found: agents of one branch take turns.
type place struct{ invocation, branch string }

// New returns an adapter. The error joins all that is wrong with cfg, or names an option that is nil.
func New(cfg Config, opts ...Option) (*Adapter, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("retake: %w", err)
	}
	a := &Adapter{cfg: cfg, runs: map[place]*run{}}
	for n, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("retake: option %d is nil: leave it out", n+1)
		}
		opt(a)
	}
	a.clock = cmp.Or(a.clock, clock.Clock(clock.New()))
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
	// calls are those that ADK has begun, by id, until they have ended.
	calls map[string]*turns.Call
	// unwatched are the tools that ADK runs without asking its plugins, by name.
	unwatched map[string]bool
}

// begin returns the run of a place, begun where there was none.
func (a *Adapter) begin(i Invocation, deadline time.Time) (*run, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := place{i.ID, i.Branch}
	if r := a.runs[key]; r != nil {
		return r, nil
	}
	s, err := a.sessions(i)
	if err != nil {
		return nil, fmt.Errorf("retake: session: %w", err)
	}
	cfg := a.cfg.loop()
	if !deadline.IsZero() && (cfg.Deadline.IsZero() || deadline.Before(cfg.Deadline)) {
		cfg.Deadline = deadline
	}
	of, err := turns.New(s, turns.Config{
		Loop: cfg, Clock: a.clock, Classify: a.classify, Record: a.record,
		Tell: a.cfg.OnExhausted == TellModel, Sequential: a.cfg.Sequential,
	})
	if err != nil {
		return nil, fmt.Errorf("retake: %w", err)
	}
	r := &run{of: of, cfg: a.cfg, at: i, s: s, calls: map[string]*turns.Call{}}
	a.runs[key] = r
	return r, nil
}

// find returns the run of a place; nil where there is none.
func (a *Adapter) find(invocation, branch string) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[place{invocation, branch}]
}

// finish ends the runs of an invocation, in order of branch.
func (a *Adapter) finish(invocation string) {
	for _, r := range a.take(invocation) {
		result, err := r.of.End()
		if a.ended != nil {
			a.ended(r.at, r.s, result, err)
		}
	}
}
