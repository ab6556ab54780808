package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
)

// Result is the result of a run. If the run returns a [RetryExhaustedError], it has no answer, but the
// conversation and the attempts so far.
type Result struct {
	// Text is the answer as the model wrote it, after the thoughts that it begins with
	// ([extract.WithoutThoughts]). Value is its checked JSON, if a structured answer was wanted. If the
	// result of a call is the answer ([tool.Answers]), Text is that, and Value too unless it is a text.
	Text  string
	Value json.RawMessage
	// Calls are the accepted calls, which were not run, if [Config].CallsOnly is set.
	Calls []machine.ToolRun
	// Degraded reports that a planner accepted the plain text of the last reply. Warnings say so, and name
	// the tools whose calls gave no result ([session.Attempt.ToolFailure]).
	Degraded bool
	Warnings []string
	// InDoubt are the calls whose effect is unknown: they failed, timed out, or were running when the run
	// ended. A call that was made again and has an outcome is not among them.
	InDoubt []machine.CallRef
	// ToolFailures are the calls that failed, in the order of their ends, also of a run that ended well. A
	// call that was made again and failed again is there twice. One that asked for other arguments has not
	// failed.
	ToolFailures []ToolFailure
	// Transcript is all that was said, [Input].History first: what the next run of the conversation is
	// given. It is read-only.
	Transcript []message.Message
	// Attempts are all attempts of this run on both planes, oldest first, including successful ones. They say
	// what was repaired of the replies ([session.Attempt.Repairs]).
	Attempts []session.Attempt
	// Recorded is when the run ended, if this is its recorded end: the journal had it, and nothing was done
	// now. It is zero if the run ended now.
	Recorded time.Time
	machine.Totals
}

// Answer is a [Result] with its value decoded.
type Answer[T any] struct {
	// Value is the answer; the zero T if the run was degraded.
	Value T
	Result
}

// Loop is a model with a compiled config, for many runs. Make it with [New]. It is read-only and safe for
// concurrent use.
type Loop struct {
	*options
	cfg      Config
	compiled *machine.Compiled
}

// New compiles a config: it resolves policies and parses templates once for all runs. The error joins
// everything that is wrong with the config and the options.
func New(model Model, cfg Config, opts ...Option) (*Loop, error) {
	o, err := collect(opts)
	if o = o.driving(model, &cfg); o.model == nil {
		err = errors.Join(err, errNoModel)
	}
	compiled, refused := cfg.asking(o)
	if err = errors.Join(err, refused); err != nil {
		return nil, err
	}
	return &Loop{o, cfg, compiled}, nil
}

// unmade returns the error of a loop that [New] did not make.
func (l *Loop) unmade() error {
	if l == nil || l.options == nil {
		return errors.New("loop: the loop is nil or empty: make it with New")
	}
	return nil
}

// Run runs the loop until the model gives an answer that the config accepts. It calls the model, checks and
// runs tool calls, and tells the model what was wrong. s keeps the records and the conversation of the run;
// if it is nil, the run makes a session.
//
// If s has a journal ([session.Config].Journal), each step is recorded before it takes effect. If the journal
// has this request unfinished, Run continues it, as with [Loop.Resume]. If a run of the journal has ended and
// has the same [Input].RequestID, Run returns its recorded end and does nothing. If that was not the last
// run, the result has no transcript, and of a success no attempts. An unfinished run of another request is an
// error of [journal.ErrConflict]. Giving another prompt the RequestID of an earlier run is an error, too.
//
// A run that ends without an answer returns a [RetryExhaustedError]. An invalid input ([Input.Validate]), a
// session in use and a template that cannot be rendered are other errors, before the first model call. So is
// what keeps a run from going on, such as an invalid adjustment; the result has what was done until then. A
// session can have one run at a time.
func (l *Loop) Run(ctx context.Context, s *session.Session, in Input) (Result, error) {
	result, _, err := l.run(ctx, s, in)
	return result, err
}

// run also returns the answer as it was decoded in this process, or nil.
func (l *Loop) run(
	ctx context.Context, s *session.Session, in Input,
) (result Result, answer any, err error) {
	if err := l.unmade(); err != nil {
		return Result{}, nil, err
	}
	if s == nil {
		if s, err = session.New(session.Config{}); err != nil {
			return Result{}, nil, err
		}
	}
	p, err := newProcess(ctx, l.options, s, &l.cfg, &in)
	if err != nil {
		return Result{}, nil, err
	}
	p.takesMail(nil)
	fresh, err := p.enter(l.compiled, false)
	if err != nil {
		return Result{}, nil, err
	}
	if result, err = p.finish(fresh); p.runner != nil {
		answer = p.runner.Answer()
	}
	return result, answer, err
}

var errNoModel = errors.New("loop: the model is nil: set one")

// Generate is [Loop.Run] for an answer of type T: its schema takes the place of [Config].Output. The model
// gets the schema, and its answer is checked against it. Each attempt decodes into a new value.
// [Config].CallsOnly is an error.
func Generate[T any](ctx context.Context, l *Loop, s *session.Session, in Input) (Answer[T], error) {
	typed, err := schema.For[T]()
	if err != nil {
		return Answer[T]{}, err
	}
	if err := l.unmade(); err != nil {
		return Answer[T]{}, err
	}
	if l.cfg.CallsOnly {
		return Answer[T]{}, errors.New("calls_only: tool calls are not an answer of type T: leave it out, or use Run")
	}
	own := *l
	own.cfg.Output = typed.Schema()
	result, decoded, err := own.run(ctx, s, in)
	answer := Answer[T]{Result: result}
	if err != nil || result.Degraded {
		return answer, err
	}
	if value, ok := decoded.(*T); ok {
		answer.Value = *value
		return answer, nil
	}
	value, issues := typed.Decode(result.Value)
	if len(issues) > 0 {
		return answer, fmt.Errorf("the accepted answer does not decode into %T: %s", value, issues[0])
	}
	answer.Value = value
	return answer, nil
}

// ResultOf returns what [Loop.Run] would return for a run that has stopped: for engines, which have its end
// of [engine.Runner.End]. cause is the Go error behind it; nil means the recorded one: a
// [fault.RecordedError], a typed error of package fault, or none. If the run has not stopped, the result is
// zero.
func ResultOf(end engine.End, cause error) (Result, error) {
	if end.State.Outcome == nil {
		return Result{}, nil
	}
	return resultOf(&end, end.State.Attempts(), cause)
}

// recordedEnd returns the end of a run or an action that the journal has, without its state.
func recordedEnd(end *journal.Ended) (Result, error) {
	st := machine.State{
		Config: &machine.Config{Single: !end.Request, Action: end.Action, Seed: end.Seed}, Policy: end.Policy,
		Outcome: &end.Outcome,
	}
	return resultOf(&engine.End{State: st, Recorded: end.At}, end.Attempts, nil)
}

// resultOf is ResultOf with the attempts of a run that has stopped.
func resultOf(end *engine.End, attempts []session.Attempt, cause error) (Result, error) {
	o := end.State.Outcome
	result := Result{
		Text: o.Text, Value: o.Value, Calls: o.Calls, Degraded: o.Degraded, Warnings: warned(end),
		InDoubt: o.InDoubt, ToolFailures: toolFailures(o.ToolFailures, end.ToolErrors), Totals: o.Totals,
		Transcript: end.State.Transcript(), Attempts: attempts, Recorded: end.Recorded,
	}
	if o.OK {
		return result, nil
	}
	if cause == nil {
		cause = recordedCauseOf(end)
	}
	e := exhausted(end.State, attempts, cause)
	e.Recorded, e.ToolFailures = end.Recorded, result.ToolFailures
	return result, e
}

// warned adds warnings about what has changed and the journal.
func warned(end *engine.End) []string {
	all := slices.Concat(end.State.Warned(), end.Changed)
	if end.Unrecorded != "" {
		all = append(all, end.Unrecorded)
	}
	return all
}

// ToolFailure is a call of a tool that failed: see [Result]. It is safe for concurrent reading.
type ToolFailure struct {
	machine.ToolFailure
	// Err is what the tool returned, so that errors.As finds its own types. If the call was made in another
	// process, or the end of the run was read from the journal, it is a [fault.RecordedError] with the text.
	Err error `json:"-"`
}

// toolFailures returns the failed calls of a run with their Go errors, as far as these are at hand.
func toolFailures(failed []machine.ToolFailure, errs []error) []ToolFailure {
	if len(failed) == 0 {
		return nil
	}
	all := make([]ToolFailure, len(failed))
	for n, f := range failed {
		all[n] = ToolFailure{f, &fault.RecordedError{Recorded: fault.Failure{Plane: fault.Transport, Class: f.Class,
			Message: f.Text}}}
		if n < len(errs) && errs[n] != nil {
			all[n].Err = errs[n]
		}
	}
	return all
}
