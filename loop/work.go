package loop

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// Tracer is what an [Observer] may be besides: it follows each piece of work of [Run], [Generate] and
// [Resume] from its beginning to its end, as spans need it. Pieces are nested: calls and tools are begun with
// the context of their run. [Do], [Attempts] and package agent begin none: what is done there is the caller's
// own. A replay begins none, nor does the Resume of a run that has ended. It cannot change the outcome;
// panics in it are contained. It must be safe for concurrent use.
type Tracer interface {
	// Begin is told of work that is about to be done, and returns the context to do it with: ctx with values
	// of its own. Only its values count, so that it cannot cut the work short; nil is ctx itself. The
	// function is told of the end, once: maybe from another goroutine, and after the end of the run where a
	// tool outlives it. It may be nil.
	Begin(ctx context.Context, w Work) (context.Context, func(WorkEnd))
}

// WorkKind says what a piece of [Work] is.
type WorkKind string

// The kinds of work.
const (
	// WorkRun is a whole run.
	WorkRun WorkKind = "run"
	// WorkModel is one call of a model: one attempt, on whichever plane.
	WorkModel WorkKind = "model_call"
	// WorkTool is one run of a tool. A call whose arguments cannot be used is never run.
	WorkTool WorkKind = "tool_run"
)

// Work is a piece of work that begins. Fields that the kind does not name are zero.
type Work struct {
	Kind WorkKind
	// CorrelationID is the session's.
	CorrelationID string
	// At is the driver's time.
	At time.Time
	// Resumed is set for a run that goes on from its journal ([Resume]), Tools are the names of the tools on
	// offer, in order of registration: both with WorkRun. An action of the run with another name is one that
	// the model made up.
	Resumed bool
	Tools   []string
	// Model is the model's name in the run's ladder, Turn counts the run's replies asked for from 1, and
	// Attempt of MaxAttempts is where the action stands that was corrected most: all with WorkModel.
	// MaxAttempts is [policy.Unlimited] where nothing bounds it.
	Model                      string
	Turn, Attempt, MaxAttempts int
	// Tool is the tool's registered name, CallID the call's id: with WorkTool.
	Tool, CallID string
	// Transport is the attempt of this one request or call on the transport plane, from 1.
	Transport int
}

// WorkEnd is how a piece of work ended. Fields that the kind does not name are zero.
type WorkEnd struct {
	// At is the driver's time.
	At time.Time
	// Err is the error that the model, the tool or the run returned; nil where there was none.
	Err error
	// Class is what went wrong. With WorkModel and no Err the call itself went well, and it is what was wrong
	// with the reply; with WorkTool and no Err it is [fault.ToolValidation] where the tool asks for other
	// arguments, and [fault.ToolExecution] where it failed for good. Empty where nothing went wrong, and for
	// runs that ended for a reason of their own.
	Class fault.Class
	// Reason says why a run ended; empty where it could not go on.
	Reason policy.Reason
	// Usage is that of the call, or of the run.
	Usage message.Usage
	// Model and Finish are the reply's.
	Model  string
	Finish message.FinishReason
}

// scoped is a context with the life of one and the values of another.
type scoped struct {
	context.Context
	values context.Context
}

func (s scoped) Value(key any) any { return s.values.Value(key) }

// begin tells the tracers of work, and returns the context to do it with and what tells them of its end. It
// is safe for concurrent use.
func (p *process) begin(ctx context.Context, w *Work) (context.Context, func(WorkEnd)) {
	if len(p.tracers) == 0 {
		return ctx, func(WorkEnd) {}
	}
	w.CorrelationID, w.At = p.s.ID(), p.clock.Now().UTC().Round(0)
	inner := ctx
	ends := make([]func(WorkEnd), 0, len(p.tracers))
	for _, t := range p.tracers {
		values, end := begun(inner, t, *w)
		inner = values
		ends = append(ends, end)
	}
	return scoped{ctx, inner}, func(e WorkEnd) {
		if e.At = p.clock.Now().UTC().Round(0); e.At.Before(w.At) {
			e.At = w.At
		}
		for _, end := range slices.Backward(ends) {
			told(end, e)
		}
	}
}

// begun tells one tracer, whatever it does.
func begun(ctx context.Context, t Tracer, w Work) (inner context.Context, end func(WorkEnd)) {
	defer func() {
		if recover() != nil || inner == nil {
			inner = ctx
		}
	}()
	return t.Begin(ctx, w)
}

// told tells one tracer of an end, whatever it does.
func told(end func(WorkEnd), e WorkEnd) {
	defer func() { _ = recover() }()
	if end != nil {
		end(e)
	}
}

// trace begins the run for the tracers, where there are any: from then on the work has their values.
func (p *process) trace(resumed bool) {
	if len(p.tracers) == 0 {
		return
	}
	w := Work{Kind: WorkRun, Resumed: resumed}
	for _, t := range p.cfg.Tools.All() {
		w.Tools = append(w.Tools, t.Name())
	}
	values, end := p.begin(p.ctx, &w)
	p.values, p.end = values, func(o *machine.Outcome, err error) { end(runEnd(o, err)) }
	p.live(p.life)
}

// runEnd is how a run ended that returns err.
func runEnd(o *machine.Outcome, err error) WorkEnd {
	e := WorkEnd{Err: err}
	if o != nil {
		e.Usage = o.Usage
	}
	if exhausted, ok := errors.AsType[*RetryExhaustedError](err); ok {
		e.Class, e.Reason = exhausted.Failure.Class, exhausted.Reason
	} else if err != nil {
		e.Class = fault.FailureOf(err).Class
	} else if o != nil {
		e.Reason = o.Reason
	}
	return e
}

// modelWork is a call of a model as tracers are told of it.
func modelWork(m *machine.ModelCall) *Work {
	w := &Work{Kind: WorkModel, Model: m.Model, Turn: m.Turn, Transport: m.Transport}
	for _, p := range m.At {
		if p.Attempt > w.Attempt {
			w.Attempt, w.MaxAttempts = p.Attempt, p.MaxAttempts
		}
	}
	return w
}

// modelEnd is how a call of a model ended; effects are what was decided on it.
func modelEnd(reply message.Reply, err error, effects []machine.Effect) WorkEnd {
	if err != nil {
		return WorkEnd{Err: err, Class: fault.FailureOf(err).Class}
	}
	e := WorkEnd{Usage: reply.Usage, Model: reply.Model, Finish: reply.Finish}
	for _, fx := range effects {
		if fx.Kind == machine.Decided && fx.Decision.Class != "" {
			e.Class = fx.Decision.Class
			break
		}
	}
	return e
}

// toolRunEnd is how a run of a tool ended.
func toolRunEnd(out tool.Outcome) WorkEnd {
	switch {
	case out.Err != nil:
		return WorkEnd{Err: out.Err, Class: out.Failure().Class}
	case len(out.Issues) > 0:
		return WorkEnd{Class: fault.ToolValidation}
	case out.Failed != "":
		return WorkEnd{Class: fault.ToolExecution}
	}
	return WorkEnd{}
}
