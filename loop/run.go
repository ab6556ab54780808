package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
)

// Result is what came of a run. Beside a [RetryExhaustedError] it has no answer, but what was said and tried
// until then.
type Result struct {
	// Text is the answer as the model wrote it, Value its checked JSON where a structured answer was wanted.
	Text  string
	Value json.RawMessage
	// Calls are the accepted calls, checked and not run, where [Config].CallsOnly is set.
	Calls []machine.ToolRun
	// Degraded is set where a planner settled for the last reply's plain text; Warnings say so.
	Degraded bool
	Warnings []string
	// Transcript is all that was said, [Config].History first: what the next run of the conversation is
	// given.
	Transcript message.Transcript
	// Attempts are all attempts of this run on both planes, oldest first: the good ones too.
	Attempts []session.Attempt
	// Usage and Waited are summed over all attempts, a planner's own waits left out; Turns counts the replies
	// that were asked for, one that never came too.
	Usage  message.Usage
	Waited time.Duration
	Turns  int
}

// Answer is a [Result] with its value decoded.
type Answer[T any] struct {
	// Value is the answer; the zero T where the run was degraded.
	Value T
	Result
}

// Run runs the loop until the model gives an answer that cfg accepts: it asks model, checks and runs tool
// calls, and tells the model what was wrong. prompt is the user's message, after cfg.History. s keeps what
// the run records beside what it held; what was said is no part of it: it is in the result.
//
// A run that ends without an answer returns a [RetryExhaustedError]; a faulty cfg, a session that is in use,
// and a template that cannot be rendered are errors of their own, before anything is asked. One session is
// for one run at a time.
func Run(ctx context.Context, model Model, s *session.Session, prompt string, cfg Config, opts ...Option) (result Result, err error) {
	o, err := collect(opts)
	if err != nil {
		return Result{}, err
	}
	if model == nil {
		return Result{}, errNoModel
	}
	m, err := cfg.ready(o)
	if err != nil {
		return Result{}, err
	}
	p := newProcess(ctx, o, model, s, &cfg)
	if err := p.take(m); err != nil {
		return Result{}, err
	}
	defer p.leave()
	p.start(prompt)
	return p.finish()
}

var errNoModel = errors.New("loop: the model is nil: give one that replies")

// Generate is [Run] for an answer of type T: the model is told T's schema, and its answer is held to it. Each
// attempt decodes into a fresh value. With [Config].CallsOnly it is an error.
func Generate[T any](ctx context.Context, model Model, s *session.Session, prompt string, cfg Config, opts ...Option) (Answer[T], error) {
	typed, err := schema.For[T]()
	if err != nil {
		return Answer[T]{}, err
	}
	if cfg.CallsOnly {
		return Answer[T]{}, errors.New("calls_only: calls are no answer of a type: leave it out, or use Run")
	}
	cfg.Output = typed.Schema()
	result, err := Run(ctx, model, s, prompt, cfg, opts...)
	answer := Answer[T]{Result: result}
	if err != nil || result.Degraded {
		return answer, err
	}
	value, issues := typed.Decode(result.Value)
	if len(issues) > 0 {
		return answer, fmt.Errorf("the accepted answer does not decode into %T: %s", value, issues[0])
	}
	answer.Value = value
	return answer, nil
}

// ResultOf is what [Run] would return of a run that has stopped in st; cause is the Go error behind its end,
// nil for what st says of it: see [Runner.Result].
func ResultOf(st machine.State, cause error) (Result, error) {
	r := Runner{st: st}
	return r.Result(cause)
}
