package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// remote is one tool of a server.
type remote struct {
	subject
	cfg Config
	// readOnly reports that the tool is declared read-only.
	readOnly bool
	link     *link
	watch    *Watch
	meta     func(context.Context) map[string]any
	output   *schema.Schema
}

// call makes one call with arguments that passed the schema. It is the function of [tool.Raw].
func (r *remote) call(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	limited, alive, end := r.limit(ctx)
	defer end()
	session, err := r.link.get(limited)
	if err != nil {
		return nil, tool.TryLater(classify(limited, &lostError{err: err, again: true}, r.subject),
			0) // nothing was sent
	}
	params := &sdk.CallToolParams{Name: r.what, Arguments: args, Meta: r.metaOf(ctx)}
	if r.watch != nil {
		token, stop := r.watch.follow(session, alive, func(payload json.RawMessage) {
			// Only a call that is over refuses progress, and then nobody waits for it.
			_ = tool.Progress(ctx, payload)
		})
		defer stop()
		params.SetProgressToken(token)
	}
	observe.Calls(ctx, r.callIn(session))
	var refused, answered atomic.Bool
	traced := httptrace.WithClientTrace(context.WithValue(limited, refusedKey{}, &refused),
		&httptrace.ClientTrace{GotFirstResponseByte: func() { answered.Store(true) }})
	result, err := session.CallTool(traced, params)
	if err != nil {
		return nil, r.broken(limited, session, err, refused.Load(), answered.Load())
	}
	if result.Meta[MetaInDoubt] == true {
		_ = tool.Doubt(ctx) // an error says that nobody waits for the call any more
	}
	got, err := r.read(result)
	if len(got.parts) > 0 {
		if late := tool.Attach(ctx, got.parts...); late != nil {
			return nil, late
		}
	}
	return got.value, err
}

// callIn describes a call in a session for tracers.
func (r *remote) callIn(session *sdk.ClientSession) observe.RemoteCall {
	c := observe.RemoteCall{
		Protocol: "mcp", Method: "tools/call", SessionID: session.ID(), Transport: r.cfg.Transport,
	}
	if of := session.InitializeResult(); of != nil {
		c.Version = of.ProtocolVersion
	}
	return c
}

// metaOf returns the metadata that identifies the call to the server.
func (r *remote) metaOf(ctx context.Context) sdk.Meta {
	meta := sdk.Meta{}
	if r.meta != nil {
		maps.Copy(meta, r.meta(ctx))
	}
	if key := tool.IdempotencyKey(ctx); key != "" {
		meta[MetaIdempotencyKey] = key
	}
	if id := tool.CallID(ctx); id != "" {
		meta[MetaCallID] = id
	}
	return meta
}

var errCallTimeout = errors.New("the call took longer than CallTimeout")

// limit bounds a call in time. alive restarts the clock.
func (r *remote) limit(ctx context.Context) (limited context.Context, alive, end func()) {
	if r.cfg.CallTimeout == Unlimited {
		return ctx, func() {}, func() {}
	}
	limited, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(r.cfg.CallTimeout, func() { cancel(errCallTimeout) })
	return limited, func() { timer.Reset(r.cfg.CallTimeout) }, func() { timer.Stop(); cancel(nil) }
}

// broken returns the error of a call without a result. A call that was never sent, or that the server
// refused, is made again, whatever the tool declares. A server that answered by sending the call on
// to another address has had it, even if nobody listens there.
func (r *remote) broken(
	ctx context.Context, session *sdk.ClientSession, err error, refused, answered bool,
) error {
	err = fault.Bounded(err)
	unsent := !answered && neverSent(err) || ctx.Err() == nil && refused
	switch {
	case ctx.Err() != nil:
	case connectionLost(err):
		r.link.lose(ctx, session)
		err = &lostError{err: err, again: r.link.connect != nil}
	case brokeOff.MatchString(err.Error()): // the session may go on
		err = &lostError{err: err, again: true}
	}
	if err = classify(ctx, err, r.subject); unsent {
		return tool.TryLater(err, fault.TypedFailure(err).RetryAfter)
	}
	return err
}
