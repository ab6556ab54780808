package eino

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// StopRun ends Eino's run with a [loop.RetryExhaustedError].
	StopRun OnExhausted = "stop_run"
	// TellModel lets the run go on: the model has been told that no attempt is left, and may answer without
	// the tool. The budgets of the run still end it, and so does an answer that cannot be used.
	TellModel OnExhausted = "tell_model"
)

// Config is what the runs of an adapter are held to: plain data. The zero value is the default policy. What a
// policy sets for an attempt goes into Eino's request: its temperature, and its model as the name of a model.
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
	// call that does not offer the tool is not forced. Empty leaves it to Eino and the model.
	ToolChoice retake.ToolChoice
	// Stop are texts at which the model is to stop writing, none of them empty; nil leaves them to Eino.
	Stop []string
	// Deadline is the time no wait may outlast; zero means that of the context of [Adapter.Start], if it has
	// one. The earlier of both counts.
	Deadline time.Time
	// ReadOnly and Idempotent are the names of tools whose calls may be made again after a transport fault,
	// which is told by an error's type: calls of the first change nothing, calls of the others have the
	// effect of one. A call of any other tool is made again only where the tool asks for it
	// ([tool.TryLater]).
	ReadOnly, Idempotent []string
	// OnExhausted says what follows where a tool's attempts are used up.
	OnExhausted OnExhausted
}

// Validate says all that is wrong with the config, each fault with its field.
func (c Config) Validate() error {
	var mode error
	if c.OnExhausted != "" && c.OnExhausted != StopRun && c.OnExhausted != TellModel {
		mode = fmt.Errorf("on_exhausted: %q is none of %q, %q", c.OnExhausted, StopRun, TellModel)
	}
	held := c.loop()
	held.ToolChoice = "" // Eino has the tools
	return errors.Join(mode, held.Validate())
}

func (c Config) loop() loop.Config {
	return loop.Config{
		Policy: c.Policy, Seed: c.Seed, Output: c.Output, Feedback: c.Feedback,
		Limits: c.Limits, Deadline: c.Deadline, ToolChoice: c.ToolChoice, Stop: c.Stop,
	}
}

// Option wires an optional part of an adapter.
type Option func(*Adapter)

// WithClock drives waits and times by c; the machine's own clock where it is not given.
func WithClock(c clock.Clock) Option { return func(a *Adapter) { a.clock = c } }

// WithClassifier says what the errors of the model and of tools are, for providers whose errors
// [fault.Classify] cannot read. A zero failure leaves an error to it.
func WithClassifier(f func(error) fault.Failure) Option { return func(a *Adapter) { a.classify = f } }

// WithRecord tells f of every step of every run, in the run's order: for journals and metrics. It is called
// from the goroutines of all runs, and must be quick.
func WithRecord(f func(machine.Event, []machine.Effect, machine.State)) Option {
	return func(a *Adapter) { a.record = f }
}

// Adapter is retake wired into Eino. It is safe for concurrent use once it is wired: many runs at a time
// share it.
type Adapter struct {
	cfg        Config
	clock      clock.Clock
	classify   func(error) fault.Failure
	record     func(machine.Event, []machine.Effect, machine.State)
	sequential bool
}

// New returns an adapter. The error joins all that is wrong with cfg, or names an option that is nil.
func New(cfg Config, opts ...Option) (*Adapter, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("retake: %w", err)
	}
	a := &Adapter{cfg: cfg}
	for n, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("retake: option %d is nil: leave it out", n+1)
		}
		opt(a)
	}
	a.clock = cmp.Or(a.clock, clock.Clock(clock.New()))
	return a, nil
}

// Run is one run of an agent or graph. It is safe for concurrent use.
type Run struct {
	of *turns.Run
	// offered are the tools known so far, by what is said of them.
	offered turns.Shelf
}

// runKey is an adapter's own place in a context: an agent within a tool of another has an adapter of its own.
type runKey struct{ of *Adapter }

// Start begins a run in s, which may hold earlier runs of the conversation, and returns the context to give
// to Eino. s is the run's alone until [Run.End]; nil means a session of its own.
func (a *Adapter) Start(ctx context.Context, s *session.Session) (context.Context, *Run, error) {
	if s == nil {
		var err error
		if s, err = session.New(session.Config{}); err != nil {
			return nil, nil, err
		}
	}
	cfg := a.cfg.loop()
	if at, ok := ctx.Deadline(); ok && (cfg.Deadline.IsZero() || at.Before(cfg.Deadline)) {
		cfg.Deadline = at
	}
	of, err := turns.New(s, turns.Config{
		Loop: cfg, Clock: a.clock, Classify: a.classify, Record: a.record,
		Tell: a.cfg.OnExhausted == TellModel, Sequential: a.sequential,
	})
	if err != nil {
		return nil, nil, err
	}
	run := &Run{of: of}
	return context.WithValue(ctx, runKey{a}, run), run, nil
}

// End ends the run and lets its session go. It returns what [loop.Run] would: the error is a
// [loop.RetryExhaustedError] where the run did not end well. A run without a final answer (a tool that
// returns directly, an interrupt) counts as cancelled; one in which no model was asked has neither a result
// nor an error. A second call returns the same.
func (r *Run) End() (loop.Result, error) { return r.of.End() }

// ErrNoRun: the context is not one that [Adapter.Start] returned.
var ErrNoRun = errors.New("retake: no run in this context: give Eino the context that Adapter.Start returned")

func (a *Adapter) run(ctx context.Context) (*Run, error) {
	if r, ok := ctx.Value(runKey{a}).(*Run); ok {
		return r, nil
	}
	return nil, ErrNoRun
}
