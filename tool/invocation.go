package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
)

// Invocation is what the driver of a call gives the tool through its context. The zero value is usable: no
// key, no id, progress goes nowhere.
type Invocation struct {
	// Key is the call's idempotency key.
	Key string
	// CallID is the call's id in the reply.
	CallID string
	// SessionID is the id of the session, which is the correlation id of all its records.
	SessionID string
	// Attempt is the number of the tool's attempt, from 1, of MaxAttempts, which is [policy.Unlimited] if
	// nothing bounds it. Transport is the number of the try of this one call, from 1.
	Attempt, MaxAttempts, Transport int
	// Progress is the last progress of the previous try of this call, or of the call that it corrects after
	// [AskAgain], as JSON; nil for none. It is read-only.
	Progress []byte
	// Report is called with progress as JSON, at once and one at a time. It must not keep the slice. Nil
	// drops progress.
	Report func(payload []byte)
	// Checked is what [Set.Read] made of the call's arguments, so that they are not read again. It is not
	// used for other arguments, nor twice. Nil reads them.
	Checked *Checked
}

// Checked is arguments that have passed the checks of a tool, as a value of its Go type. It serves one
// invocation. Safe for concurrent use.
type Checked struct {
	tool      *Tool
	arguments []byte
	value     any
	taken     atomic.Bool
}

// take returns the value for the arguments of a tool, once; nil if they are others.
func (c *Checked) take(t *Tool, args []byte) any {
	if c == nil || c.tool != t || !bytes.Equal(c.arguments, args) || c.taken.Swap(true) {
		return nil
	}
	return c.value
}

type invocationKey struct{}
type recorderKey struct{}

// WithInvocation returns a context that carries inv to the tool that is invoked with it.
func WithInvocation(ctx context.Context, inv Invocation) context.Context {
	return context.WithValue(ctx, invocationKey{}, inv)
}

func invocationOf(ctx context.Context) Invocation {
	inv, _ := ctx.Value(invocationKey{}).(Invocation)
	return inv
}

// IdempotencyKey returns the key of the call that a tool runs for. The same call has the same key when it is
// made again: after a transport fault, after a crash, or by the model when nobody knows how the call ended or
// while other calls of its tool are corrected. Other arguments have another key. It is empty if the driver
// gave none.
func IdempotencyKey(ctx context.Context) string { return invocationOf(ctx).Key }

// CallID returns the id of the call a tool runs for; empty where the driver gave none.
func CallID(ctx context.Context) string { return invocationOf(ctx).CallID }

// SessionID returns the id of the session that a tool runs for, which is its correlation id in logs, feedback
// and journals too; empty where the driver gave none.
func SessionID(ctx context.Context) string { return invocationOf(ctx).SessionID }

// Attempt returns the number of the tool's attempt, from 1, and the most there may be, [policy.Unlimited] if
// nothing bounds them. transport is the number of the try of this one call; it is more than 1 if earlier
// tries did not come through. All are 0 if the driver gave none.
func Attempt(ctx context.Context) (number, most, transport int) {
	inv := invocationOf(ctx)
	return inv.Attempt, inv.MaxAttempts, inv.Transport
}

// LastProgress reads the last [Progress] of the previous try of this call into v, so that a long tool can go
// on where it was. After [AskAgain] it is that of the call which this one corrects; its arguments may be
// others, so that progress should say what it belongs to. If several calls of a reply asked again and the
// next reply has another number of them, there is none. It returns false if there was none, or if it does not
// fit v.
func LastProgress(ctx context.Context, v any) bool {
	last := invocationOf(ctx).Progress
	return last != nil && canon.Unmarshal(last, v) == nil
}

// ErrNotInCall: the context is not that of a running tool. What a tool emits after it has returned would be
// lost.
var ErrNotInCall = errors.New("not in a tool call")

var errReturned = fmt.Errorf("%w: it is over", ErrNotInCall)

// Emit keeps an event for the session's reducers. Events enter in the order they were emitted, when the call
// has succeeded; those of a failed call are dropped. It may be called concurrently while the tool runs.
// Errors: [ErrNotInCall], an empty name, a payload that has no JSON form.
func Emit[E any](ctx context.Context, name string, e E) error {
	payload, err := canon.Marshal(e)
	if err != nil {
		return fmt.Errorf("emit %q: %w", name, err)
	}
	if name == "" {
		return errors.New("emit: an event needs a name")
	}
	r := recorderOf(ctx)
	return r.whileOpen(func() { r.events = append(r.events, reducer.Event{Name: name, Payload: payload}) })
}

// Attach adds media to the call's result, after what the tool returns: see [message.Part]. Those of a tool
// that says [Fail] follow its text; those of any other failed call are dropped. It may be called concurrently
// while the tool runs. Errors: [ErrNotInCall], a part that cannot be.
func Attach(ctx context.Context, parts ...message.Part) error {
	if err := talk.ValidateParts("attach: parts", parts); err != nil {
		return err
	}
	r := recorderOf(ctx)
	return r.whileOpen(func() { r.parts = append(r.parts, parts...) })
}

// Progress reports at once how far a long-running tool has come. It may be called concurrently while the tool
// runs. Errors are those of [Emit].
func Progress(ctx context.Context, progress any) error {
	payload, err := canon.Marshal(progress)
	if err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	r := recorderOf(ctx)
	return r.whileOpen(func() {
		r.last = payload
		if r.report != nil {
			r.report(slices.Clone(payload))
		}
	})
}

// AddUsage adds what a model consumed within the call of a tool to the usage of its run, whatever comes of
// the call. In a try of loop.Do with a session it adds to the usage of the try; a loop over loop.Attempts
// takes usage in the Attempt. A run or an action of package loop does it for itself. It may be called
// concurrently while the tool or the try runs. The error is [ErrNotInCall].
func AddUsage(ctx context.Context, u message.Usage) error {
	r, _ := ctx.Value(recorderKey{}).(*recorder)
	return r.whileOpen(func() { r.usage = r.usage.Add(u) })
}

// AddCost is [AddUsage] for money: what the models within the call cost, in millionths. A run of package loop
// does it for itself, if its policy has prices. What is consumed within a call without prices has those of
// the run around it. In a try within the call it is added to the call at once. Below 0 counts as 0.
func AddCost(ctx context.Context, micros int64) error {
	r := recorderOf(ctx)
	return r.whileOpen(func() {
		if r.cost == nil {
			r.cost = new(int64)
		}
		*r.cost += min(max(micros, 0), math.MaxInt64-*r.cost)
	})
}

// Doubt says that the call may have had an effect that nobody knows of, whatever comes of it. With a result,
// or if it asks again, the model is told so, too; [TryLater] does not say any more that nothing was done. A
// call with the same arguments has the same [IdempotencyKey]. A run of package loop within the call does it
// for itself. Calls of tools that are [ReadOnly] are never in doubt. The error is [ErrNotInCall].
func Doubt(ctx context.Context) error {
	r := recorderOf(ctx)
	return r.whileOpen(func() { r.doubt = true })
}

// Metered returns a context in which [AddUsage] adds up, and a function that ends this and returns the sum.
// It is for engines that make tries.
func Metered(ctx context.Context) (context.Context, func() message.Usage) {
	r := &recorder{meter: true, within: recorderOf(ctx)}
	return context.WithValue(ctx, recorderKey{}, r), func() message.Usage {
		r.close()
		return r.usage
	}
}

// recorder collects what one call emits, attaches, consumes and reports. It is nil outside of a call.
type recorder struct {
	mu     sync.Mutex
	over   bool
	events []reducer.Event
	parts  []message.Part
	usage  message.Usage
	cost   *int64
	doubt  bool
	last   []byte
	report func([]byte)
	// meter says that it is one of [Metered], which only adds up usage. within is that of the call around it.
	meter  bool
	within *recorder
}

// recorderOf returns the recorder of the call of a tool.
func recorderOf(ctx context.Context) *recorder {
	r, _ := ctx.Value(recorderKey{}).(*recorder)
	if r != nil && r.meter {
		return r.within
	}
	return r
}

func (r *recorder) whileOpen(do func()) error {
	if r == nil {
		return ErrNotInCall
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return errReturned
	}
	do()
	return nil
}

// close ends the call. Nothing is recorded after it.
func (r *recorder) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}
