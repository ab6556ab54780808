package loop

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/benbjohnson/clock"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Option is an option of a driver. If an option is given twice, the last one counts, except that
// [WithObserver] adds. An option with a nil argument has no effect, but a nil observer and a nil Option are
// errors.
type Option func(*options)

type options struct {
	clock     Clock
	observers []observe.Observer
	tracers   observe.Tracers
	planner   planner.Planner
	summary   SummaryFunc
	approver  func(context.Context, PersonQuestion) (machine.Response, error)
	adjust    func(session.State) (policy.Layer, bool)
	prompt    PromptFunc
	models    map[string]Model
	stream    func(Delta)
	parallel  int
	classify  func(error) fault.Verdict
	limiter   *limiter.Limiter
	// unlimited reports that a pool shall have no limiter.
	unlimited bool
	scope     func(Request) string
	priority  func(session string) int

	// The rest is set for a [Loop] or a [Pool]: its model, who takes people's answers, and seeds
	// for a config with a seed, which its sessions share.
	model  Model
	askers *askers
	seeds  *seeds
}

// DefaultParallel is how many tools of one reply run at once without [WithParallel].
const DefaultParallel = 4

// PromptFunc makes the prompt of a model call from the session and the positions of its actions: a system
// prompt, and messages to append. Its result is recorded, and a replay does not call it.
type PromptFunc func(
	ctx context.Context, view session.State, at []machine.Position,
) (system string, add []message.Message, err error)

// WithClock sets the clock for waits and times; the default is the machine's clock. Tests use a
// [github.com/retake-go/retake/looptest.Clock].
func WithClock(c Clock) Option { return func(o *options) { o.clock = c } }

// WithObserver adds an observer. If it is also an [observe.Tracer], it follows the run's work.
func WithObserver(obs observe.Observer) Option {
	return func(o *options) { o.observers = append(o.observers, obs) }
}

// WithPlanner sets the planner that decides what follows exhaustion, and what to do about failures that
// [Config].Consult names. Without a planner, the run ends.
func WithPlanner(p planner.Planner) Option { return func(o *options) { o.planner = p } }

// WithSummary sets the function that sums up older messages, for a policy with the step summarise: see
// [policy.Context]. [SummaryBy] asks a model.
func WithSummary(f SummaryFunc) Option { return func(o *options) { o.summary = f } }

// WithAdjust sets a function that may change the policy during the run. It must be a pure function of the
// session. It is called before each decision; a layer that it returns with true is merged over the policy and
// recorded.
func WithAdjust(f func(session.State) (policy.Layer, bool)) Option {
	return func(o *options) { o.adjust = f }
}

// WithPrompt sets the function that makes the prompt of each model call. [Config].System is not used then.
func WithPrompt(f PromptFunc) Option { return func(o *options) { o.prompt = f } }

// WithModels sets the models, by name, that a planner may switch to and a policy may name for an attempt. Nil
// models are ignored. m is kept and must not change afterwards.
func WithModels(m map[string]Model) Option { return func(o *options) { o.models = m } }

// WithStream sets a function that receives streamed replies as they arrive, one piece at a time of a run. All
// runs of the loop or pool share it, and may call it at the same time; [Delta].Session says whose a piece is.
// A reset tells it to discard what it received: see [Delta]. The reply waits for the function. A run that is
// over waits for it for a tenth of a second at most; if it sends to a channel, it should stop when the run is
// over.
func WithStream(f func(Delta)) Option { return func(o *options) { o.stream = f } }

// WithParallel sets how many tools of one reply may run at once, at least 1. They begin in call order; with
// 1, each begins after the one before it has returned. None begins once the run has ended.
func WithParallel(n int) Option { return func(o *options) { o.parallel = n } }

// WithClassifier sets a function that says what went wrong in a try of [Do] or [Attempts]. It is asked about
// errors that are no typed errors of package fault, and leaves those to their types for which it returns the
// zero verdict. [fault.Classify] makes a verdict of a status and headers; [fault.ClassifyError] goes by
// words, too. One that is made by hand is final unless its Retryable is set. It must be a pure function.
// Model calls and tools of [Loop.Run] are not classified by it.
func WithClassifier(f func(err error) fault.Verdict) Option {
	return func(o *options) { o.classify = f }
}

// ClockOf returns the clock of the options, or the machine's clock, for packages that build on the drivers.
func ClockOf(opts ...Option) Clock {
	o, _ := collect(opts) // whoever uses the options says what is wrong with them
	return o.clock
}

// standard are the default options. Read-only.
var standard = &options{parallel: DefaultParallel, clock: clock.New()}

// collect applies the options. The result is read-only.
func collect(opts []Option) (*options, error) {
	if len(opts) == 0 {
		return standard, nil
	}
	o := &options{parallel: DefaultParallel}
	var errs []error
	for n, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil: leave it out", n+1))
			continue
		}
		opt(o)
	}
	if o.clock == nil {
		o.clock = standard.clock
	}
	if err := o.checkLimiter(); err != nil {
		errs = append(errs, err)
	}
	if o.parallel < 1 {
		errs = append(errs, fmt.Errorf("WithParallel: %d tools at once: give 1 or more", o.parallel))
	}
	for _, obs := range o.observers {
		if t, ok := obs.(observe.Tracer); ok {
			o.tracers = append(o.tracers, t)
		}
		if obs == nil {
			errs = append(errs, errors.New("WithObserver: the observer is nil: set one, or leave the option out"))
		}
	}
	return o, errors.Join(errs...)
}

// driving returns the options for the runs of a [Loop] or [Pool].
func (o *options) driving(model Model, cfg *Config) *options {
	own := *o
	own.model, own.askers = orNil(model), new(askers)
	if cfg.Seed != "" {
		own.seeds = new(seeds)
	}
	return &own
}

// seeds remembers which session the seed of a shared config serves. It is safe for concurrent use; nil serves
// any number of sessions.
type seeds struct{ first atomic.Pointer[string] }

// serve notes that the seed serves a session without a seed of its own. It returns a warning if it serves
// another one, too.
func (s *seeds) serve(seed, session string) []string {
	if s == nil || seed == "" || s.first.CompareAndSwap(nil, new(session)) || *s.first.Load() == session {
		return nil
	}
	return []string{"seed: several sessions share that of the config, so that they wait in lockstep: " +
		"leave Config.Seed empty, or give each session its own (session.Config.Seed)"}
}
