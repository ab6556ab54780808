package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// driver carries out in process what the core asks for: the only place with a clock and goroutines.
type driver struct {
	*options
	model Model
	cfg   *Config // nil for one that says nothing
	s     *session.Session
	ctx   context.Context
	// until ends the calls of models besides ctx, which leaves the run as it stands; nil for nothing.
	until context.Context
	// runner is own, once that is ready: they are kept together.
	runner *Runner
	own    Runner
	// offered are the tools as models are told of them: one list for all requests of the run, which is not that of the set.
	offered []*tool.Tool
	// err is the Go error behind the event that is being fed, cause the one behind the first exhaustion not yet answered.
	err, cause error
	// asked are the errors of the calls of a reply that did not come through, by place in the reply, for the planner and observers.
	asked map[int]broke
	last  time.Time
	// tool is the one whose outcome is being fed.
	tool string
	// adjusted is the layer that the policy was last adjusted by; nil for none.
	adjusted *policy.Layer
	// exited is set while a tool runs on the goroutine of the run, and stays so where it ended that goroutine.
	exited bool
}

// startDriver takes the session for a run under m.
func startDriver(ctx context.Context, d *driver, m *machine.Compiled) error {
	m = m.Until(earlier(ctx, m.Config().Deadline))
	if err := d.ownRunner().open(m, d.options); err != nil {
		return err
	}
	d.runner, d.ctx = &d.own, ctx
	return nil
}

// silent is a config that says nothing: never written to.
var silent Config

// ownRunner readies the runner of a new driver for its beginning.
func (d *driver) ownRunner() *Runner {
	if d.cfg == nil {
		d.cfg = &silent
	}
	d.own.cfg, d.own.s, d.own.driver = d.cfg, d.s, d
	return &d.own
}

func (d *driver) release() { d.runner.Close() }

// now is the clock's time, never before a time it gave earlier.
func (d *driver) now() time.Time {
	if now := d.clock.Now().UTC().Round(0); now.After(d.last) {
		d.last = now
	}
	return d.last
}

// observe notes what an exhaustion came from, and tells the observers of one step.
func (d *driver) observe(ev *machine.Event, effects []machine.Effect) {
	if d.cause == nil && d.runner.ends() {
		d.cause = d.err
	}
	if d.watch != nil {
		d.watch.stepped(d, ev.At, uncharged(ev, effects), effects)
	}
}

// ends reports whether an action of the run is exhausted: that of an exhaustion not yet answered, or of the end.
func (r *Runner) ends() bool {
	return r.st.Exhausted != nil || r.st.Outcome != nil && r.st.Outcome.Exhaustion != nil
}

// broken ends a run that the driver cannot go on with, so that the session is left consistent. One that could not even
// start needs no end.
func (d *driver) broken(err error) error {
	if d.runner.st.Phase == machine.Idle || errors.Is(err, ErrSuspended) {
		return err
	}
	if _, cancel := d.runner.Cancel(d.now(), err); cancel != nil {
		return fmt.Errorf("%w (and the run could not be ended: %w)", err, cancel)
	}
	return err
}

// carry carries one effect out and feeds what came of it.
func (d *driver) carry(ctx context.Context, e machine.Effect) ([]machine.Effect, error) {
	if ctx.Err() != nil {
		return d.cancel(ctx)
	}
	switch e.Kind {
	case machine.CallModel:
		return d.call(ctx, e.Model)
	case machine.MakePrompt:
		return d.makePrompt(ctx, e.Model)
	case machine.RunTools:
		return d.runTools(ctx, e.Tools)
	case machine.WaitUntil:
		return d.woke(e.Wait)
	case machine.AskPlanner:
		return d.planner(ctx, d, e)
	}
	return nil, unknownEffect(&e)
}

func unknownEffect(e *machine.Effect) error {
	return fmt.Errorf("loop: the core asks for %q, which this driver does not know", e.Kind)
}

// ErrSuspended, as the cause that a context is cancelled with ([context.WithCancelCause]), leaves a run with a journal where it
// stands instead of ending it: nothing is recorded of the cancellation, the error of the run is this one, and [Resume] goes on. What a
// tool still returns to the run is kept for then.
// It is for processes that are shut down. Without a journal the run is cancelled as by any other cause.
var ErrSuspended = errors.New("loop: the run was left to be resumed")

func (d *driver) cancel(ctx context.Context) ([]machine.Effect, error) {
	d.cause = context.Cause(life(ctx))
	if d.runner.journal != nil && errors.Is(d.cause, ErrSuspended) {
		return nil, ErrSuspended
	}
	return d.runner.Cancel(d.now(), d.cause)
}

func (d *driver) call(ctx context.Context, m *machine.ModelCall) ([]machine.Effect, error) {
	model := d.model
	if m.Model != "" {
		model = d.models[m.Model]
	}
	if model == nil {
		return nil, fmt.Errorf("loop: there is no model %q: name one of those given by WithModels", m.Model)
	}
	if d.offered == nil {
		d.offered = d.cfg.Tools.All()
	}
	st := &d.runner.st
	inner, end := d.begin(ctx, modelWork(m))
	told := WorkEnd{Err: errExited} // unless it returns
	defer func() { end(told) }()
	bounded, stop := d.bounded(inner)
	defer stop()
	reply, err := model.Reply(bounded, Request{
		System: m.System, Messages: st.Transcript, Tools: d.offered, Output: d.cfg.Output, Model: m.Model, At: m.At, Stream: d.stream,
	})
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		told = WorkEnd{Err: err}
		return nil, errCallLeft
	}
	effects, fed := d.replied(ctx, reply, err)
	told = modelEnd(reply, err, effects)
	return effects, fed
}

// errCallLeft says that a call of a model was ended by [driver.until]: it is to be made again.
var errCallLeft = errors.New("loop: the call of the model was left")

// bounded is the context for a call of a model, and what lets go of it.
func (d *driver) bounded(ctx context.Context) (context.Context, func()) {
	if d.until == nil {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(d.until, func() { end(context.Cause(d.until)) })
	return ctx, func() { unhook(); end(nil) }
}

// replied feeds what a model returned.
func (d *driver) replied(ctx context.Context, reply message.Reply, err error) ([]machine.Effect, error) {
	if ctx.Err() != nil {
		return d.cancel(ctx)
	}
	if err := d.adjustPolicy(); err != nil {
		return nil, err
	}
	d.err, d.cause, d.asked = err, nil, nil
	if err != nil {
		return d.runner.CallFailed(d.now(), err)
	}
	return d.runner.Reply(d.now(), reply)
}

func (d *driver) makePrompt(ctx context.Context, m *machine.ModelCall) ([]machine.Effect, error) {
	system, add, err := d.prompt(ctx, d.runner.st.Session, slices.Clone(m.At))
	if err != nil {
		return nil, fmt.Errorf("making the prompt: %w", err)
	}
	return d.runner.Step(machine.Event{Kind: machine.Prompted, At: d.now(), System: canon.UTF8(system), Messages: printableMessages(add)})
}

// woke feeds the end of a wait. A wall clock may have been set back meanwhile: the wait was made all the same.
func (d *driver) woke(w *machine.Wait) ([]machine.Effect, error) {
	if d.now().Before(w.Until) {
		d.last = w.Until
	}
	return d.runner.Woke(d.last)
}
