package observe

import (
	"context"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Tracer is what an [Observer] may be besides: it follows each piece of work of loop.Run, loop.Generate and
// loop.Resume from its beginning to its end, as spans need it. Pieces are nested: calls and tools are begun
// with the context of their run. loop.Do, loop.Attempts and package agent begin none: what is done there is
// the caller's own. A replay begins none, nor does the Resume of a run that has ended. It cannot change the
// outcome; panics in it are contained. It must be safe for concurrent use.
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
	// Resumed is set for a run that goes on from its journal (loop.Resume), Tools are the names of the tools
	// on offer, in order of registration: both with WorkRun. An action of the run with another name is one
	// that the model made up.
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
