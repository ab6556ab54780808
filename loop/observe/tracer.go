package observe

import (
	"context"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Tracer is an optional interface of an [Observer]. It follows each piece of work of loop.Run, loop.Generate
// and loop.Resume from start to end, as spans need it. Work is nested: calls and tools begin with the context
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
	// Resumed reports that the run continues from its journal (loop.Resume). Only for WorkRun.
	Resumed bool
	// Model is the name of the model in the run. Turn counts the run's replies from 1. Attempt and
	// MaxAttempts are those of the action that was corrected most; MaxAttempts may be [policy.Unlimited]. All
	// only for WorkModel.
	Model                      string
	Turn, Attempt, MaxAttempts int
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
	// Model and Finish are those of the reply.
	Model  string
	Finish message.FinishReason
}
