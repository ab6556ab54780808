package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/journal"
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
	// Degraded is set where a planner settled for the last reply's plain text; Warnings say so. They name,
	// too, the tools whose calls came to nothing ([session.Attempt.ToolFailure]).
	Degraded bool
	Warnings []string
	// Transcript is all that was said, [Config].History first: what the next run of the conversation is
	// given. It is read-only.
	Transcript []message.Message
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
// calls, and tells the model what was wrong. prompt is the user's message, after the conversation that s
// holds or cfg.History. s keeps what the run records beside what it held, and what was said.
//
// With a journal ([WithJournal]) that holds this very request, unfinished, the run goes on with it, as by
// [Resume]; where it has ended and [Config].RequestID names it, its recorded end is given and nothing is done
// again. An unfinished run of another request is an error of [journal.ErrConflict].
//
// A run that ends without an answer returns a [RetryExhaustedError]; a faulty cfg, a session that is in use,
// and a template that cannot be rendered are errors of their own, before anything is asked. One session is
// for one run at a time.
func Run(ctx context.Context, model Model, s *session.Session, prompt string, cfg Config, opts ...Option) (Result, error) {
	l, err := New(model, cfg, opts...)
	if err != nil {
		return Result{}, err
	}
	return l.run(ctx, l.options, s, prompt)
}

// Loop is a model under a config, made ready once: what many runs share. Make it with [New]. It is read-only,
// and safe for concurrent use.
type Loop struct {
	*options
	model    Model
	cfg      Config
	compiled *machine.Compiled
}

// New makes a loop ready: policies are resolved and templates read once, and not by each run. The error joins
// all that is wrong with the config and the options.
func New(model Model, cfg Config, opts ...Option) (*Loop, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	if model == nil {
		return nil, errNoModel
	}
	compiled, err := cfg.asking(o)
	if err != nil {
		return nil, err
	}
	return &Loop{o, model, cfg, compiled}, nil
}

// Run is function [Run] for a session; j is its journal, nil for none, or for that of the options.
func (l *Loop) Run(ctx context.Context, s *session.Session, prompt string, j *journal.Journal) (Result, error) {
	return l.run(ctx, l.options.recordedIn(j), s, prompt)
}

func (l *Loop) run(ctx context.Context, o *options, s *session.Session, prompt string) (Result, error) {
	p := newProcess(ctx, o, l.model, s, &l.cfg)
	held, err := p.holds(prompt)
	switch {
	case err != nil:
	case held:
		err = p.resumeRun()
	default:
		err = p.take(l.compiled)
	}
	if err != nil {
		return Result{}, err
	}
	defer p.leave()
	if !held {
		p.start(prompt)
	}
	return p.finish()
}

// holds reports whether the journal holds the run that answers the prompt: one that has not ended, or one
// that has and that the config names by its RequestID.
func (p *process) holds(prompt string) (bool, error) {
	j, id := p.journal, p.cfg.RequestID
	if j == nil || !j.Unfinished() && id == "" {
		return false, nil
	}
	past, err := j.Past()
	if err != nil || past.Header.Config.Single || past.Header.Format == "" {
		return false, err
	}
	if was := past.Header.Config.RequestID; was != "" || id != "" {
		return was == id, nil
	}
	return p.saidThen(past, prompt), nil
}

// saidThen reports whether what had been said when the run of a journal began is what is said now. A history
// that is not given is what the journal has.
func (p *process) saidThen(past *journal.Fold, prompt string) bool {
	then, now := past.State.Transcript()[:past.State.Began], []message.Message{p.cfg.prompt(prompt)}
	if given := p.cfg.History; len(given) > 0 || p.cfg.NewConversation {
		now = slices.Concat(given, now)
	} else if len(then) > 0 {
		then = then[len(then)-1:]
	}
	return slices.EqualFunc(then, message.Printable(now), message.Message.Equal)
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
