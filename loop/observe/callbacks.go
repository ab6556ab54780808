package observe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// Callbacks is an [Observer] that calls functions: any of them may be nil. They
// cannot change the outcome, and a panic in one is contained. They are called one at a time, also where
// several runs and goroutines share a Callbacks; so a function must not itself start a run or a step with the
// same Callbacks. Use it by pointer; its fields are set before its first use. The zero value does nothing.
type Callbacks struct {
	// OnError is told when an action ended without success, also where a planner then goes on, and when a run
	// came to its limit of turns or was cancelled.
	OnError func(Trace, ErrorInfo)
	// OnRetry is told when another attempt follows, before the wait.
	OnRetry func(Trace, Notice)
	// OnDebug is told of every failed attempt (calls of tools too), reducer error and contained failure with
	// all technical detail. None of it is for users.
	OnDebug func(text string, d DebugInfo)
	// TraceID finds the trace id in the context of a run; where it is nil or finds none, one is derived from
	// the correlation id.
	TraceID func(context.Context) string

	mu sync.Mutex
}

// Trace says what an emission belongs to.
type Trace struct {
	// CorrelationID is the session's; empty where there is none.
	CorrelationID string
	// TraceID has the form of W3C trace ids where it is derived; empty where there is no correlation id
	// either.
	TraceID string
}

// ErrorInfo is an error as a user interface needs it.
type ErrorInfo struct {
	// Code is the canonical code; its other names are Code.Names().
	Code fault.Class
	// Message is for users: see [fault.UserMessage].
	Message string
	// Metadata is what is known of the call that failed; zero where nothing is.
	Metadata fault.Metadata
	// Action and Plane say what ended, Reason why there is no further attempt.
	Action string
	Plane  fault.Plane
	Reason policy.Reason
}

// DebugInfo is all technical detail of a failure.
type DebugInfo struct {
	Trace
	// Notice is what happened; zero for a failure outside of a run's attempts.
	Notice Notice
	// Err is the Go error, nil where there was none; Chain has its type and text and those of all it wraps,
	// outermost first.
	Err   error
	Chain []string
	// Metadata is what is known of the call that failed.
	Metadata fault.Metadata
	// Stack is that of a contained panic.
	Stack string
}

// Observe calls the functions that a notice is for.
func (c *Callbacks) Observe(ctx context.Context, n Notice) {
	switch {
	case n.Kind == AttemptEnded && n.Class != "":
		c.debug(ctx, "attempt failed", n, n.Err)
	case n.Kind == ReducerFailed:
		c.debug(ctx, "reducer failed", n, n.Err)
	case n.Kind == Retrying:
		c.call(ctx, "OnRetry", n, func(t Trace) { c.OnRetry(t, n) }, c.OnRetry != nil)
	case n.Kind == Exhausted:
		c.failed(ctx, n, n.Class)
	case n.Kind == Ended && n.Plane == "" && n.Reason.Class() != "": // else its exhaustion was told
		c.failed(ctx, n, n.Reason.Class())
	}
}

func (c *Callbacks) failed(ctx context.Context, n Notice, class fault.Class) {
	m := metadataOf(n.Err)
	info := ErrorInfo{Code: class, Message: fault.UserMessage(class, m), Metadata: m, Action: n.Action, Plane: n.Plane, Reason: n.Reason}
	c.call(ctx, "OnError", n, func(t Trace) { c.OnError(t, info) }, c.OnError != nil)
}

// Debug tells OnDebug of a failure that no attempt of a run is about; err may be nil.
func (c *Callbacks) Debug(ctx context.Context, text string, err error) {
	c.debug(ctx, text, Notice{}, err)
}

func (c *Callbacks) debug(ctx context.Context, text string, n Notice, err error) {
	d := DebugInfo{Notice: n, Err: err, Chain: chain(err), Metadata: metadataOf(err)}
	if p, ok := errors.AsType[*fault.PanicError](err); ok {
		d.Stack = p.Stack
	} else if p, ok := errors.AsType[*tool.PanicError](err); ok {
		d.Stack = string(p.Stack)
	}
	c.call(ctx, "", n, func(t Trace) { d.Trace = t; c.OnDebug(text, d) }, c.OnDebug != nil)
}

// call calls one function, alone, and tells OnDebug where it panicked. Where OnDebug itself panics there is
// nobody to tell.
func (c *Callbacks) call(ctx context.Context, name string, n Notice, f func(Trace), there bool) {
	if !there {
		return
	}
	err := c.contained(func() { f(c.trace(ctx, n)) })
	if err != nil && name != "" {
		c.debug(ctx, "callback "+name+" panicked", n, err)
	}
}

func (c *Callbacks) contained(f func()) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer Recover(&err)
	f()
	return nil
}

func (c *Callbacks) trace(ctx context.Context, n Notice) Trace {
	t := Trace{CorrelationID: n.CorrelationID}
	if c.TraceID != nil {
		t.TraceID = c.TraceID(ctx)
	}
	if t.TraceID == "" && t.CorrelationID != "" {
		sum := sha256.Sum256([]byte(t.CorrelationID))
		t.TraceID = hex.EncodeToString(sum[:16])
	}
	return t
}

// metadataOf is what an error says of the call that failed.
func metadataOf(err error) fault.Metadata {
	if p, ok := errors.AsType[*fault.ProviderError](err); ok {
		return p.Metadata()
	}
	return fault.Metadata{}
}

// maxChain bounds how much of a chain of errors is shown.
const maxChain = 32

// chain has the type and text of an error and of all that it wraps, outermost first.
func chain(err error) []string {
	var texts []string
	for open := []error{err}; len(open) > 0 && len(texts) < maxChain; {
		e := open[0]
		if open = open[1:]; e == nil {
			continue
		}
		texts = append(texts, fmt.Sprintf("%T: %v", e, e))
		switch w := e.(type) {
		case interface{ Unwrap() error }:
			open = append([]error{w.Unwrap()}, open...)
		case interface{ Unwrap() []error }:
			open = append(append([]error(nil), w.Unwrap()...), open...)
		}
	}
	return texts
}
