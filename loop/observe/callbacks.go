package observe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/contain"
	"github.com/retake-go/retake/policy"
)

// Callbacks is an [Observer] that calls functions; any of them may be nil. They cannot change the outcome,
// and panics in them are recovered. A run calls them one at a time. If several runs share a Callbacks, they
// must be safe for concurrent use. Use it by pointer and set its fields before the first use. The zero value
// does nothing.
type Callbacks struct {
	// OnError is called when an action ends without success, even if a planner then goes on, and when a run
	// reaches its limit of turns or is cancelled.
	OnError func(Trace, ErrorInfo)
	// OnRetry is called when another attempt follows, before the wait.
	OnRetry func(Trace, Notice)
	// OnDebug is called for every failed attempt (including tool calls), reducer error and recovered failure,
	// with all technical detail. Do not show it to users.
	OnDebug func(text string, d DebugInfo)
	// TraceID returns the trace id of a run's context. If it is nil or returns "", the id is derived from the
	// correlation id.
	TraceID func(context.Context) string
}

// Trace identifies the run of a callback.
type Trace struct {
	// CorrelationID is the correlation id of the session; empty if there is none.
	CorrelationID string
	// TraceID is the trace id. A derived id has the form of W3C trace ids. It is empty if there is no
	// correlation id.
	TraceID string
}

// ErrorInfo is an error for a user interface.
type ErrorInfo struct {
	// Code is the class of the error. Code.Names() returns its names in other vocabularies.
	Code fault.Class
	// Message is a text for users: see [fault.UserMessage].
	Message string
	// Metadata describes the failed call, as far as known.
	Metadata fault.Metadata
	// Action and Plane are what ended. Reason is why no further attempt follows.
	Action string
	Plane  fault.Plane
	Reason policy.Reason
}

// DebugInfo has all technical detail of a failure.
type DebugInfo struct {
	Trace
	// Notice is what happened; zero for a failure outside a run's attempts.
	Notice Notice
	// Err is the Go error, or nil. Chain has the type and text of Err and of all errors it wraps, outermost
	// first, without what schemas mark as secret: see [Hide].
	Err   error
	Chain []string
	// Metadata describes the failed call, as far as known.
	Metadata fault.Metadata
	// Stack is the stack of a recovered panic.
	Stack string
}

// Observe calls the functions for a notice.
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
	case n.Kind == Ended && n.Plane == "" && n.Reason.Class() != "": // otherwise its exhaustion was reported
		c.failed(ctx, n, n.Reason.Class())
	}
}

func (c *Callbacks) failed(ctx context.Context, n Notice, class fault.Class) {
	m := metadataOf(n.Err)
	info := ErrorInfo{Code: class, Message: fault.UserMessage(class, m), Metadata: m, Action: n.Action,
		Plane: n.Plane, Reason: n.Reason}
	c.call(ctx, "OnError", n, func(t Trace) { c.OnError(t, info) }, c.OnError != nil)
}

// Debug calls OnDebug for a failure outside a run's attempts; err may be nil.
func (c *Callbacks) Debug(ctx context.Context, text string, err error) {
	c.debug(ctx, text, Notice{}, err)
}

func (c *Callbacks) debug(ctx context.Context, text string, n Notice, err error) {
	err = chain.Bounded(err)
	d := DebugInfo{Notice: n, Err: err, Chain: chainOf(ctx, err), Metadata: metadataOf(err)}
	if p, ok := errors.AsType[*fault.PanicError](err); ok {
		d.Stack = p.Stack
	}
	c.call(ctx, "", n, func(t Trace) { d.Trace = t; c.OnDebug(text, d) }, c.OnDebug != nil)
}

// call calls one function. If it panics, OnDebug is called, unless OnDebug itself panicked.
func (c *Callbacks) call(ctx context.Context, name string, n Notice, f func(Trace), isSet bool) {
	if !isSet {
		return
	}
	err := c.contained(func() { f(c.trace(ctx, n)) })
	if err != nil && name != "" {
		c.debug(ctx, "callback "+name+" panicked", n, err)
	}
}

func (c *Callbacks) contained(f func()) (err error) {
	defer contain.Recover(&err)
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

// metadataOf returns what an error says about the failed call.
func metadataOf(err error) fault.Metadata {
	if p, ok := errors.AsType[*fault.ProviderError](err); ok {
		return p.Metadata()
	}
	return fault.Metadata{}
}

// maxChain is the most errors of a chain.
const maxChain = 32

// chainOf returns the type and text of an error and of all errors it wraps, outermost first.
func chainOf(ctx context.Context, err error) (texts []string) {
	chain.Has(err, func(e error) bool {
		texts = append(texts, Hide(ctx, fmt.Sprintf("%T: %v", e, e)))
		return len(texts) == maxChain
	})
	return texts
}
