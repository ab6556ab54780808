package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// remote is one tool of a server.
type remote struct {
	subject
	cfg    Config
	link   *link
	watch  *Watch
	output *schema.Schema
}

// call makes one call with arguments that passed the schema. It is the function of [tool.Raw].
func (r *remote) call(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	limited, alive, end := r.limit(ctx)
	defer end()
	session, err := r.link.get(limited)
	if err != nil {
		if err = classify(limited, &lostError{err: err, again: true}, r.subject); limited.Err() != nil {
			return nil, err
		}
		return nil, tool.TryLater(err, 0) // nothing was sent
	}
	params := &sdk.CallToolParams{Name: r.what, Arguments: args, Meta: metaOf(ctx)}
	if r.watch != nil {
		token, stop := r.watch.follow(func(payload json.RawMessage) {
			alive()
			// Only a call that is over refuses progress, and then nobody waits for it.
			_ = tool.Progress(ctx, payload)
		})
		defer stop()
		params.SetProgressToken(token)
	}
	result, err := session.CallTool(limited, params)
	if err != nil {
		return nil, r.broken(limited, session, err)
	}
	value, err := r.read(result)
	if err != nil {
		return nil, err
	}
	parts, err := r.media(result)
	if err != nil || parts == nil {
		return value, err
	}
	return value, tool.Attach(ctx, parts...)
}

// metaOf returns the metadata that identifies the call to the server.
func metaOf(ctx context.Context) sdk.Meta {
	meta := sdk.Meta{}
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

// broken returns the error of a call without a result.
func (r *remote) broken(ctx context.Context, session *sdk.ClientSession, err error) error {
	if ctx.Err() == nil && connectionLost(err) {
		r.link.lose(ctx, session)
		err = &lostError{err: err, again: r.link.connect != nil}
	}
	return classify(ctx, err, r.subject)
}
