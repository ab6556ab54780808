package observe

import (
	"context"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// Tracer is an optional interface of an [Observer]. It follows each piece of work of Loop.Run, Generate
// and Loop.Resume from start to end, as spans need it. Work is nested: calls and tools begin with the context
// of their run. loop.Do, loop.Attempts and package agent report no work, because it is the caller's own; nor
// do a replay and the Resume of a run that has ended. A Tracer cannot change the outcome, and its panics are
// recovered. It must be safe for concurrent use.
type Tracer interface {
	// Begin is called before work starts and returns the context for it: ctx with more values. Only the
	// values are used, so a Tracer cannot cancel the work; nil means ctx. The returned function, which may be
	// nil, is called once when the work ends. The call may come from another goroutine, and after the end of
	// the run if a tool outlives it.
	Begin(ctx context.Context, w Work) (context.Context, func(WorkEnd))
}

// WorkKind is the kind of [Work].
type WorkKind string

// The kinds of work.
const (
	// WorkRun is a whole run.
	WorkRun WorkKind = "run"
	// WorkModel is one model call: one attempt, on either plane.
	WorkModel WorkKind = "model_call"
	// WorkTool is one run of a tool. A call with invalid arguments is never run.
	WorkTool WorkKind = "tool_run"
)

// Work is a piece of work that begins. Fields that do not belong to the kind are zero.
type Work struct {
	Kind WorkKind
	// CorrelationID is the correlation id of the session.
	CorrelationID string
	// At is the time by the driver's clock.
	At time.Time
	// Resumed reports that the run continues from its journal (Loop.Resume). Only for WorkRun.
	Resumed bool
	// Model is the name of the model in the run. Turn counts the run's replies from 1. Attempt and
	// MaxAttempts are those of the action that was corrected most; MaxAttempts may be [policy.Unlimited]. All
	// only for WorkModel. For a run that is resumed, Turn and Attempt are the numbers of its replies and
	// attempts so far.
	Model                      string
	Turn, Attempt, MaxAttempts int
	// Info is what the model says of itself (loop.Describer), or the configuration of it; the zero value if
	// neither says anything. Of a run it is that of its first model. Only for WorkRun and WorkModel.
	Info machine.ModelInfo
	// Usage, Cost and Waited are what a run that is resumed has consumed so far; Cost is in the unit of a
	// [policy.Price]. Only for WorkRun.
	Usage  message.Usage
	Cost   int64
	Waited time.Duration
	// Temperature and Stop are those of the request; nil means the model's own. Structured reports that a
	// structured answer is wanted, Streamed that the reply is streamed. All only for WorkModel. Read-only.
	Temperature          *float64
	Stop                 []string
	Structured, Streamed bool
	// MaxOutputTokens is the most tokens of the reply by the budgets of the run; 0 means that the model
	// decides. Only for WorkModel.
	MaxOutputTokens int64
	// Tool is the registered name of the tool, CallID the id of the call. Only for WorkTool.
	Tool, CallID string
	// Transport is the transport attempt of this request or call, from 1.
	Transport int
}

// WorkEnd is the end of a piece of work. Fields that do not belong to the kind are zero.
type WorkEnd struct {
	// At is the time by the driver's clock.
	At time.Time
	// Err is the error of the model, tool or run, or nil.
	Err error
	// Class is the class of the failure; empty for success, and for runs that ended for their own reason. For
	// WorkModel without Err, the call succeeded and the class says what was wrong with the reply. For
	// WorkTool without Err it is [fault.ToolValidation] if the tool asks for other arguments, and
	// [fault.ToolExecution] if it failed for good.
	Class fault.Class
	// Reason is why a run ended; empty if it could not continue.
	Reason policy.Reason
	// Usage is that of the call or run.
	Usage message.Usage
	// Model, Finish and Source are those of the reply. Of a call that failed, Source has the server's
	// address.
	Model  string
	Finish message.FinishReason
	Source message.Source
	// Remote is what the tool said of its call of another server; nil for none. Only for WorkTool. Read-only.
	Remote *RemoteCall
}

// Tracers are the tracers of a run, for engines that report work themselves.
type Tracers []Tracer

// TracersOf returns those of the observers that are tracers.
func TracersOf(all []Observer) (tracers Tracers) {
	for _, o := range all {
		if t, ok := o.(Tracer); ok {
			tracers = append(tracers, t)
		}
	}
	return tracers
}

// Begin reports that work begins, and recovers panics. It returns a context with the values of the tracers,
// of which only the values may be used, and a function that reports the end of the work.
func (all Tracers) Begin(ctx context.Context, w Work) (values context.Context, end func(WorkEnd)) {
	var remote latestCall
	if len(all) > 0 && w.Kind == WorkTool {
		ctx = context.WithValue(ctx, remoteKey{}, &remote)
	}
	ends := make([]func(WorkEnd), len(all))
	for n, t := range all {
		ctx, ends[n] = begun(ctx, t, w)
	}
	return ctx, func(e WorkEnd) {
		if e.At.Before(w.At) {
			e.At = w.At
		}
		e.Remote = remote.Load()
		for _, end := range slices.Backward(ends) {
			told(end, e)
		}
	}
}

// begun tells one tracer and recovers its panics.
func begun(ctx context.Context, t Tracer, w Work) (inner context.Context, end func(WorkEnd)) {
	defer func() {
		if recover() != nil || inner == nil {
			inner = ctx
		}
	}()
	return t.Begin(ctx, w)
}

// told reports an end to one tracer and recovers its panics.
func told(end func(WorkEnd), e WorkEnd) {
	defer func() { _ = recover() }()
	if end != nil {
		end(e)
	}
}

// ModelWork returns a model call as work, without its session and time.
func ModelWork(m *machine.ModelCall) Work {
	w := Work{Kind: WorkModel, Model: m.Model, Turn: m.Turn, Transport: m.Transport,
		Temperature: m.Temperature, Stop: m.Stop, MaxOutputTokens: m.MaxOutputTokens}
	for _, p := range m.At {
		if p.Attempt > w.Attempt {
			w.Attempt, w.MaxAttempts = p.Attempt, p.MaxAttempts
		}
	}
	return w
}

// ModelEnd returns the end of a model call, without its time. effects are the decisions on the reply.
func ModelEnd(reply message.Reply, err error, effects []machine.Effect) WorkEnd {
	if err != nil {
		return WorkEnd{Err: err, Class: fault.FailureOf(err).Class, Source: reply.Source}
	}
	e := WorkEnd{Usage: reply.Usage, Model: reply.Model, Finish: reply.Finish, Source: reply.Source}
	for _, fx := range effects {
		if fx.Kind == machine.Decided && fx.Decision.Class != "" {
			e.Class = fx.Decision.Class
			break
		}
	}
	return e
}

// ToolEnd returns the end of a tool's run, without its time.
func ToolEnd(out tool.Outcome) WorkEnd {
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
