package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// process makes one run, or the tries of one action: the only place with a clock and goroutines. It carries
// out what the core asks for, and stops where somebody has to wait or to try. [Run], [Do], [Attempts] and
// [Pool] differ in what they do then.
type process struct {
	*options
	model  Model
	cfg    *Config
	s      *session.Session
	runner Runner
	// life says when the work is to end, ctx is life with the values that tracers gave the run.
	life, ctx context.Context
	// values are those of the tracers, end tells them of the end of the run; nil where there are none.
	values context.Context
	end    func(*machine.Outcome, error)
	// until ends the calls of models besides life, and leaves the run as it stands; nil for nothing.
	until context.Context
	// asked is what is to be done next, broke why the run cannot go on.
	asked machine.Effect
	broke error
	// over is set once the end was told.
	over bool

	// takeBack is set while the last reply did not stand: what was streamed of it is to be taken back.
	takeBack bool
	// said is the transcript as models were last given it.
	said []message.Message
	// offered are the tools as models are told of them: one list for all requests of the run.
	offered []*tool.Tool
	// err is the Go error behind the event that is being fed, cause the one behind the first exhaustion not
	// yet answered.
	err, cause error
	// failed are the errors of the calls of a reply that did not come through, by place in the reply, for the
	// planner.
	failed map[int]error
	// tool is the one whose outcome is being fed.
	tool string
	// last is the time last read.
	last time.Time
	// adjusted is the layer that the policy was last adjusted by; nil for none.
	adjusted *policy.Layer
}

// ErrSuspended, as the cause that a context is cancelled with ([context.WithCancelCause]), leaves a run with
// a journal where it stands instead of ending it: nothing is recorded of the cancellation, the error of the
// run is this one, and [Resume] goes on. What a tool still returns to the run is kept for then. It is for
// processes that are shut down. Without a journal the run is cancelled as by any other cause.
var ErrSuspended = errors.New("loop: the run was left to be resumed")

// errCallLeft says that a call of a model was ended by [process.until]: it is to be made again.
var errCallLeft = errors.New("loop: the call of the model was left")

// errExited is what a run was cancelled by whose goroutine was ended by what it called.
var errExited = errors.New("loop: the model, or a function that was given, panicked or ended its goroutine (runtime.Goexit)")

// leftToResume is what [process.advance] stops at where the run is to be left as it stands.
const leftToResume machine.EffectKind = "left"

// newProcess is a process that has nothing of a run yet.
func newProcess(ctx context.Context, o *options, model Model, s *session.Session, cfg *Config) *process {
	return &process{options: o, model: model, cfg: cfg, s: s, life: ctx, ctx: ctx}
}

// live gives the work a life.
func (p *process) live(life context.Context) {
	if p.life, p.ctx = life, life; p.values != nil {
		p.ctx = scoped{life, p.values}
	}
}

// rest lets go of what a run that nobody works on does not need.
func (p *process) rest() {
	p.life, p.ctx, p.until, p.said = nil, nil, nil, nil
	if p.asked.Kind == machine.WaitUntil && p.failed == nil {
		p.err = nil // it is that of the event before the wait, and of none after it
	}
}

// take takes the session for a run under m.
func (p *process) take(m *machine.Compiled) error {
	p.runner.cfg, p.runner.s, p.runner.record = p.cfg, p.s, p.stepped
	return p.runner.open(m.Until(earlier(p.life, m.Config().Deadline)), p.options, true)
}

// start begins the run with the prompt, after what was said before it.
func (p *process) start(prompt string) {
	p.trace(false)
	said := []message.Message{p.cfg.prompt(prompt)}
	if !p.runner.held {
		said = slices.Concat(p.runner.history, said)
	}
	p.fed(p.runner.Start(p.now(), said...))
}

// begun reports whether there is a run that can be ended.
func (p *process) begun() bool { return p.runner.st.Phase != "" && p.runner.st.Phase != machine.Idle }

// fed takes what a step asks for next, or why it failed.
func (p *process) fed(effects []machine.Effect, err error) {
	switch {
	case errors.Is(err, errCallLeft):
	case err != nil:
		p.broke = err
	default:
		p.asked = effects[len(effects)-1]
	}
}

// advance carries out what the core asks for, until a wait is to be made, the caller is to make a try, or the
// run is to be left or over: it returns which. Waits that end by now are over, whatever the clock says.
func (p *process) advance(now time.Time) machine.EffectKind {
	for p.broke == nil && p.runner.st.Phase != machine.Stopped {
		switch {
		case p.ctx.Err() != nil:
			p.fed(p.cancel())
		case p.asked.Kind == machine.WaitUntil && p.asked.Wait.Until.After(now) && p.asked.Wait.Until.After(p.now()):
			return machine.WaitUntil
		case p.until != nil && p.until.Err() != nil:
			return leftToResume
		case p.asked.Kind == machine.TryAction:
			return machine.TryAction
		default:
			p.fed(p.carry(p.asked))
		}
	}
	return machine.Stop
}

// pause makes a wait by the clock. When the context ends, [process.advance] cancels the run.
func (p *process) pause() {
	timer := p.clock.Timer(p.asked.Wait.Until.Sub(p.now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		p.fed(p.woke(p.asked.Wait))
	case <-p.ctx.Done():
	}
}

// finish goes on until the run has ended, waits included.
func (p *process) finish() (Result, error) {
	for p.advance(time.Time{}) == machine.WaitUntil {
		p.pause()
	}
	return p.result()
}

// result is what the run came to that has stopped, or cannot begin or go on. Tracers are told.
func (p *process) result() (result Result, err error) {
	if p.broke != nil {
		err = p.broken(p.broke)
	} else {
		result, err = p.runner.Result(p.cause)
	}
	p.ended(err)
	return result, err
}

// ended tells tracers of the end.
func (p *process) ended(err error) {
	if p.over = true; p.end != nil {
		p.end(p.runner.st.Outcome, err)
	}
}

// broken ends a run that cannot be gone on with, so that the session is left consistent.
func (p *process) broken(err error) error {
	if !p.begun() || errors.Is(err, ErrSuspended) || p.runner.st.Phase == machine.Stopped {
		return err
	}
	if _, cancel := p.runner.Cancel(p.now(), err); cancel != nil {
		return fmt.Errorf("%w (and the run could not be ended: %w)", err, cancel)
	}
	return err
}

// leave lets the session go. A run whose goroutine was ended by what it called is ended first; one in which
// that panicked stays as it is: it can be resumed.
func (p *process) leave() {
	defer p.runner.Close()
	if p.over {
		return
	}
	if panicked := recover(); panicked != nil {
		panic(panicked)
	}
	_, _ = p.exit()
}

// exit ends a run whose goroutine was ended by what it called.
func (p *process) exit() (Result, error) {
	p.cause, p.broke = errExited, nil
	if _, err := p.runner.Cancel(p.now(), p.cause); err != nil {
		p.broke = err
	}
	return p.result()
}

// now is the clock's time, never before a time it gave earlier.
func (p *process) now() time.Time {
	if now := p.clock.Now().UTC().Round(0); now.After(p.last) {
		p.last = now
	}
	return p.last
}

// stepped notes what an exhaustion came from, and tells the observers of one step.
func (p *process) stepped(ev machine.Event, effects []machine.Effect, st machine.State) {
	if x := st.Exhausted; ev.Kind == machine.ReducersRan && x != nil && x.Failure.Class == fault.Reducer {
		p.err = nil // the reducer's own is behind it
	}
	if p.cause == nil && p.runner.ends() {
		p.cause = p.err
	}
	if len(p.observers) > 0 {
		p.tellStep(&ev, effects)
	}
}

// carry carries one effect out and feeds what came of it.
func (p *process) carry(e machine.Effect) ([]machine.Effect, error) {
	switch e.Kind {
	case machine.CallModel:
		return p.call(e.Model)
	case machine.MakePrompt:
		return p.makePrompt(e.Model)
	case machine.RunTools:
		return p.runTools(p.ctx, e.Tools)
	case machine.WaitUntil:
		return p.woke(e.Wait)
	case machine.AskPlanner:
		return p.ask(e)
	}
	return nil, fmt.Errorf("loop: the core asks for %q, which this driver does not know", e.Kind)
}

func (p *process) cancel() ([]machine.Effect, error) {
	p.cause = whyDone(p.life)
	if p.runner.journal != nil && errors.Is(p.cause, ErrSuspended) {
		return nil, ErrSuspended
	}
	return p.runner.Cancel(p.now(), p.cause)
}

func (p *process) call(m *machine.ModelCall) ([]machine.Effect, error) {
	model := p.model
	if m.Model != "" {
		model = p.models[m.Model]
	}
	if model == nil {
		return nil, fmt.Errorf("loop: there is no model %q: name one of those given by WithModels", m.Model)
	}
	if p.offered == nil {
		p.offered = p.cfg.Tools.All()
	}
	inner, end := p.begin(p.ctx, modelWork(m))
	told := observe.WorkEnd{Err: errExited} // unless it returns
	defer func() { end(told) }()
	bounded, stop := p.bounded(inner)
	defer stop()
	timed, late := p.within(bounded, m.Timeout, "the model did not reply")
	defer late.stop()
	stream := p.streams(m)
	flow, over := p.flow(timed, m, &stream)
	p.said = append(p.said, p.runner.st.TranscriptFrom(len(p.said))...)
	reply, err := model.Reply(flow, Request{
		System: m.System, Messages: slices.Clip(p.said), Tools: p.offered, Output: p.cfg.Output, Model: m.Model, At: m.At,
		Temperature: m.Temperature, ToolChoice: m.ToolChoice, Stop: m.Stop,
		Stream: stream,
	})
	err = late.instead(timed, over(err))
	if err != nil && p.ctx.Err() == nil && bounded.Err() != nil {
		told, p.takeBack = observe.WorkEnd{Err: err}, true
		return nil, errCallLeft
	}
	effects, fed := p.replied(reply, err)
	told = modelEnd(reply, err, effects)
	p.takeBack = told.Class != ""
	return effects, fed
}

// bounded is the context for a call of a model, and what lets go of it.
func (p *process) bounded(ctx context.Context) (context.Context, func()) {
	until := p.until
	if until == nil {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(until, func() { end(context.Cause(until)) })
	return ctx, func() { unhook(); end(nil) }
}

// deadline is the end of the time that a call has. The zero value is none.
type deadline struct {
	err  error
	stop func()
}

// within is ctx for at most d, 0 for any time, by the clock; what says what was not done by then.
func (o *options) within(ctx context.Context, d time.Duration, what string) (context.Context, deadline) {
	if d <= 0 {
		return ctx, deadline{stop: func() {}}
	}
	late := &fault.TransportError{Class: fault.Timeout, Cause: fmt.Errorf("%s within %v", what, d)}
	ctx, end := context.WithCancelCause(ctx)
	timer := o.clock.AfterFunc(d, func() { end(late) })
	return ctx, deadline{late, func() { timer.Stop(); end(nil) }}
}

// instead is the error of a call: that it took too long, where that ended ctx.
func (d *deadline) instead(ctx context.Context, err error) error {
	if err != nil && d.err != nil && context.Cause(ctx) == d.err {
		return d.err
	}
	return err
}

// replied feeds what a model returned.
func (p *process) replied(reply message.Reply, err error) ([]machine.Effect, error) {
	if p.ctx.Err() != nil {
		return p.cancel()
	}
	if err := p.adjustPolicy(); err != nil {
		return nil, err
	}
	p.err, p.cause, p.failed = err, nil, nil
	if err != nil {
		return p.runner.CallFailed(p.now(), err)
	}
	read := p.runner.read(p.ctx, reply)
	if p.ctx.Err() != nil {
		return p.cancel()
	}
	return p.runner.feedReply(p.now(), read)
}

func (p *process) makePrompt(m *machine.ModelCall) ([]machine.Effect, error) {
	system, add, err := p.prompt(p.ctx, p.runner.st.Session, slices.Clone(m.At))
	if err != nil {
		return nil, fmt.Errorf("making the prompt: %w", err)
	}
	add = message.Printable(add)
	if err := message.Validate(add); err != nil {
		return nil, fmt.Errorf("making the prompt: messages%w", err)
	}
	return p.runner.Step(machine.Event{
		Kind: machine.Prompted, At: p.now(), System: canon.UTF8(system), Messages: add,
	})
}

// woke feeds the end of a wait. A wall clock may have been set back meanwhile: the wait was made all the
// same.
func (p *process) woke(w *machine.Wait) ([]machine.Effect, error) {
	if p.now().Before(w.Until) {
		p.last = w.Until
	}
	return p.runner.Woke(p.last)
}

// adjustPolicy asks the user's function before a decision is taken. The same layer again is no event.
func (p *process) adjustPolicy() error {
	if p.adjust == nil {
		return nil
	}
	layer, ok := p.adjust(p.runner.st.Session)
	if !ok || reflect.DeepEqual(layer, *cmp.Or(p.adjusted, &policy.Layer{})) {
		return nil
	}
	p.adjusted = &layer
	_, err := p.runner.Adjusted(p.now(), layer)
	return err
}

// ask asks the planner of an exhaustion or a transport fault. The error behind it is that behind what
// follows.
func (p *process) ask(e machine.Effect) ([]machine.Effect, error) {
	if c := e.Consultation; c != nil && c.Tool != "" {
		p.err = p.failed[c.Index]
	} else if e.Exhaustion != nil {
		p.err = p.cause
	}
	plan, err := p.planner.Plan(p.ctx, planner.NewQuestion(p.runner.State(), e, p.err))
	if p.ctx.Err() != nil {
		return p.cancel()
	}
	if err != nil {
		p.err = &engine.PlannerError{Err: err, Asked: p.err}
		p.cause = p.err
		return p.runner.PlannerFailed(p.now(), err)
	}
	if e.Exhaustion != nil && plan.Do == machine.Fallback {
		p.cause = nil
	}
	if plan.Model != "" && p.models[plan.Model] == nil {
		return nil, fmt.Errorf("loop: the planner falls back to model %q: name one of those given by WithModels", plan.Model)
	}
	return p.runner.Planned(p.now(), plan)
}

// earlier is the deadline that counts: the given one or the context's.
func earlier(ctx context.Context, deadline time.Time) time.Time {
	if d, ok := ctx.Deadline(); ok && (deadline.IsZero() || d.Before(deadline)) {
		return d.UTC().Round(0)
	}
	return deadline
}
