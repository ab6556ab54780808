package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/benbjohnson/clock"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Config is what a run is held to. The zero value is a run without tools, under the default policy, whose
// answer is any text. It is not changed by a run, and may be shared.
type Config struct {
	// Tools are on offer; nil for none.
	Tools *tool.Set
	// Output is the schema of the structured answer; nil accepts any text. [Generate] sets it.
	Output *schema.Schema
	// CallsOnly makes tool calls the answer, for callers that run them themselves: a reply without one is a
	// failed attempt, the calls of a reply are accepted all or none, and the run ends with the first that are
	// all good, in [Result].Calls.
	CallsOnly bool
	// ToolChoice forces a call of a tool, of any ([message.AnyTool]) or of none ([message.NoTool]); empty
	// leaves it to the model. A call is forced until one has ended, failed or not, and the model is free from
	// then on; with CallsOnly it is always forced. It needs tools, and a provider that can be asked so.
	ToolChoice message.ToolChoice
	// Stop are texts at which the model is to stop writing, none of them empty; the reply ends before them.
	Stop []string
	// Attach are media that go with the prompt of the run, after its text.
	Attach []message.Part
	// History is what was said before this run, as an earlier [Result].Transcript has it. Empty goes on with
	// what the session holds, or else with what its journal holds: the conversation of the runs before. With
	// a session that holds one it is an error.
	History []message.Message
	// NewConversation begins a conversation, with History if that is set, whatever the session holds.
	NewConversation bool
	// Policy holds layers, budgets and the transport policy; nil means [policy.DefaultSet]. What the tools
	// say of themselves ([tool.WithPolicy]) lies over its global layer and beneath its layers for them. A
	// layer for a tool that is not there is an error where its name is near that of one that is, else a
	// warning of the result.
	Policy *policy.Set
	// RequestID names the request that this run answers, for the idempotency keys of its calls: give each
	// request of a conversation an id of its own, and the same one where a request is made again, and at most
	// [machine.MaxRequestID] bytes of printable text. Empty means that the history and the prompt stand for
	// it: a run with the session id, history and prompt of another is the same request then.
	RequestID string
	// Seed is what the jitter of this run is drawn from; empty means the session's id. Waits that are not to
	// be spread are said by the policy: "jitter: none".
	Seed string
	// System is the system prompt: a text, or a template, rendered anew for each model call, so that it can
	// show feedback and slices. A template, which is a text with "{{" in it, needs package feedback/prompt to
	// be imported.
	System string
	// Feedback is a text or a template for the words that correct the model; empty means the default words.
	Feedback string
	// Limits bounds what a model is shown of a failure; nil means [feedback.DefaultLimits].
	Limits *feedback.Limits
	// Deadline is the time no wait may outlast; zero means that of the context, if it has one. The earlier of
	// both counts.
	Deadline time.Time
	// Consult are the classes of the transport plane at which the planner ([WithPlanner]) is asked before the
	// policy is followed; it is always asked at exhaustion. Classes without a planner are an error.
	Consult []fault.Class
}

// prompt is the user's message that a run begins with.
func (c *Config) prompt(text string) message.Message {
	return message.Message{Role: message.User, Text: text, Parts: c.Attach}
}

// machine is the config of the core for a run.
func (c Config) machine(o *options) machine.Config {
	m := machine.Config{
		RequestID: c.RequestID, Seed: c.Seed, Policy: policy.DefaultSet(), Deadline: c.Deadline, System: canon.UTF8(c.System), Feedback: canon.UTF8(c.Feedback),
		Limits: feedback.DefaultLimits(), CallsOnly: c.CallsOnly, ToolChoice: c.ToolChoice, Stop: c.Stop, UserPrompt: o.prompt != nil, Planner: o.planner != nil,
		Consult: c.Consult, Behaviours: machine.Behaviours(),
	}
	if c.Policy != nil {
		m.Policy = *c.Policy.Clone()
	}
	m.Policy = c.Tools.Policy(m.Policy)
	if c.Limits != nil {
		m.Limits = *c.Limits
	}
	return m
}

// offer is what replies are read and checked against.
func (c *Config) offer() engine.Offer {
	return engine.Offer{Tools: c.Tools, Output: c.Output, CallsOnly: c.CallsOnly}
}

// compile is the config of the core for a run, made ready.
func (c *Config) compile(o *options) (*machine.Compiled, error) {
	m := c.machine(o)
	_, absent := c.Tools.Absent(&m.Policy)
	compiled, err := machine.Compile(&m)
	return compiled, errors.Join(absent, err, c.checkRequest())
}

// Validate says all that is wrong with the config, each fault with its field.
func (c Config) Validate() error {
	_, err := c.compile(&options{})
	return errors.Join(err, c.checkChoice())
}

// ready is compile for runs under the options. The error says too what the config needs of them.
func (c *Config) ready(o *options) (*machine.Compiled, error) {
	m, err := c.compile(o)
	if len(c.Consult) > 0 && o.planner == nil {
		err = errors.Join(err, errors.New("consult: there is no planner to ask: give one by WithPlanner, or leave it empty"))
	}
	return m, err
}

// asking is ready for who asks the models too. The error says too which models the options lack.
func (c *Config) asking(o *options) (*machine.Compiled, error) {
	m, err := c.ready(o)
	err = errors.Join(err, c.checkChoice())
	if m != nil {
		err = errors.Join(err, o.lacks(&m.Config().Policy))
	}
	return m, err
}

// lacks says which models a policy names that the options do not give.
func (o *options) lacks(p *policy.Set) error {
	var known []string
	for _, name := range slices.Sorted(maps.Keys(o.models)) {
		if o.models[name] != nil {
			known = append(known, name)
		}
	}
	if err := p.CheckModels(known); err != nil {
		return fmt.Errorf("policy: %w: WithModels gives the models of a run", err)
	}
	return nil
}

// Option wires an optional part of a driver. Of one that is given twice the last counts, but that
// [WithObserver] adds. An argument that is nil is as if the option were not given; an observer or a journal
// that is nil is an error, and so is a nil Option.
type Option func(*options)

type options struct {
	clock     clock.Clock
	observers []observe.Observer
	// tracers are those of the observers that follow work too.
	tracers  []observe.Tracer
	planner  planner.Planner
	adjust   func(session.State) (policy.Layer, bool)
	prompt   PromptFunc
	models   map[string]Model
	stream   func(Delta)
	parallel int
	journal  *journal.Journal
	// journals is set where a journal was given, be it nil.
	journals bool
}

// recordedIn are the options with the journal of one session; nil for those that there are.
func (o *options) recordedIn(j *journal.Journal) *options {
	if j == nil {
		return o
	}
	own := *o
	own.journal, own.journals = j, true
	return &own
}

// DefaultParallel is how many tools of one reply run at once, where [WithParallel] does not say.
const DefaultParallel = 4

// PromptFunc makes the prompt of a model call from the session and from where its actions stand: a system
// prompt, and messages to append. It is recorded, and not called again by a replay.
type PromptFunc func(ctx context.Context, view session.State, at []machine.Position) (system string, add []message.Message, err error)

// WithClock drives waits and times by c; the machine's own clock where it is not given. Tests give a
// [github.com/retake-go/retake/looptest.Clock].
func WithClock(c clock.Clock) Option { return func(o *options) { o.clock = c } }

// WithObserver adds an observer. One that is an [observe.Tracer] too follows the run's work.
func WithObserver(obs observe.Observer) Option {
	return func(o *options) { o.observers = append(o.observers, obs) }
}

// WithPlanner asks p what follows exhaustion, and about the faults that [Config].Consult names. Without one
// the run ends.
func WithPlanner(p planner.Planner) Option { return func(o *options) { o.planner = p } }

// WithAdjust lets f change the policy in mid-run. It is a pure function of the session, called before each
// decision; what it returns with true is laid over the policy, and recorded.
func WithAdjust(f func(session.State) (policy.Layer, bool)) Option {
	return func(o *options) { o.adjust = f }
}

// WithPrompt lets f make the prompt of each model call; [Config].System is not used then.
func WithPrompt(f PromptFunc) Option { return func(o *options) { o.prompt = f } }

// WithModels gives the models that a planner may fall back to and a policy may name for an attempt, by name;
// one that is nil is none. m is kept, and read-only from then on.
func WithModels(m map[string]Model) Option { return func(o *options) { o.models = m } }

// WithStream lets f see streamed replies as they come in, with marks where it is to take back what it showed:
// see [Delta].
func WithStream(f func(Delta)) Option { return func(o *options) { o.stream = f } }

// WithParallel lets at most n tools of one reply run at once; n is at least 1. They begin in call order: with
// 1, each after the one before it has returned. None begins once the run has ended.
func WithParallel(n int) Option { return func(o *options) { o.parallel = n } }

// WithJournal records the run in j, the journal of its session: each step before anything is done about it,
// so that it can be resumed ([Resume]) and replayed. A session without an id takes the journal's. Where the
// journal's last run has not ended, no other can begin; but [Do] and [Attempts] of the same action go on with
// it.
func WithJournal(j *journal.Journal) Option {
	return func(o *options) { o.journal, o.journals = j, true }
}

// ClockOf is the clock that the options give, for packages that build on the drivers: the machine's own where
// they give none.
func ClockOf(opts ...Option) clock.Clock {
	o := options{clock: standard.clock}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o.clock
}

// standard are the options of a driver where none is given. Read-only.
var standard = &options{parallel: DefaultParallel, clock: clock.New()}

// collect is what the options come to: read-only.
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
		o.clock = clock.New()
	}
	if o.parallel < 1 {
		errs = append(errs, fmt.Errorf("WithParallel: %d tools at once: give 1 or more", o.parallel))
	}
	for _, obs := range o.observers {
		if t, ok := obs.(observe.Tracer); ok {
			o.tracers = append(o.tracers, t)
		}
		if obs == nil {
			errs = append(errs, errors.New("WithObserver: the observer is nil: give one, or leave the option out"))
		}
	}
	if o.journals && o.journal == nil {
		errs = append(errs, errors.New("WithJournal: the journal is nil: give one that journal.Open returned, or leave the option out"))
	}
	return o, errors.Join(errs...)
}

// Machine is the config of the core for runs under c and the options. The error joins all that is wrong with
// them.
func (c Config) Machine(opts ...Option) (machine.Config, error) {
	o, err := collect(opts)
	if err != nil {
		return machine.Config{}, err
	}
	_, err = c.ready(o)
	return c.machine(o), errors.Join(err, c.checkChoice())
}
