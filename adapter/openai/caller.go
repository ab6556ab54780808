package openai

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// Model is a loop.Model on one of OpenAI's APIs. It is immutable and safe for concurrent use. The zero
// value is not usable: use [New].
type Model struct{ api loop.Model }

// New returns a model that uses client. The error joins one for each field of cfg that is out of bounds.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client sdk.Client, cfg Config) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	c := caller{cfg, cfg.quirks()}
	if cfg.API == Responses {
		return &Model{&responsesModel{c, client.Responses}}, nil
	}
	return &Model{&chatModel{c, client.Chat.Completions}}, nil
}

// Reply asks once and returns the whole reply. It streams if req.Stream is set. The error has an [*Error]
// in its chain, within a [ratelimit.LimitedError] if a response came.
func (m *Model) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	return m.api.Reply(ctx, req)
}

// caller makes requests; both APIs share it.
type caller struct {
	cfg    Config
	quirks Quirks
}

// codec reads a response of one API.
type codec interface {
	// readBody reads a response that is no stream.
	readBody(body []byte) (message.Reply, error)
	// event reads one event of a stream, and reports whether it was the last.
	event(data []byte, tell func(loop.Delta)) (last bool, err error)
	// ended returns the reply at the end of a stream. done reports that the server marked the end.
	ended(done bool) (message.Reply, error)
	// extra returns what the reply has beside: see [Response].
	extra() kit.Extras
}

// call makes one request and reads its response.
func (c *caller) call(
	ctx context.Context, req loop.Request, send func(...option.RequestOption) error, read codec,
) (message.Reply, error) {
	x := kit.Head{Provider: c.cfg.provider(), Model: c.cfg.Model}
	var res *http.Response
	opts := []option.RequestOption{
		option.WithMaxRetries(0), option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) { return x.Send(r, next) }), option.WithResponseBodyInto(&res), guarded,
	}
	if req.Stream != nil {
		opts = append(opts, option.WithJSONSet("stream", true))
	}
	if err := send(opts...); err != nil {
		return message.Reply{}, x.Fail(ctx, kit.Trouble{Cause: err, Advice: advise(x.Status, x.Refusal)})
	}
	defer res.Body.Close()
	reply, err := receive(x.Form, res, req.Stream, read)
	if err != nil {
		return message.Reply{}, x.Fail(ctx, kit.Trouble{Cause: err})
	}
	reply.Usage.APICalls = 1
	reply.Source = x.Source(reply.Source.ID, reply.Source.Finish)
	if c.cfg.OnResponse != nil {
		c.cfg.OnResponse(Response{RequestID: x.RequestID(), Model: cmp.Or(reply.Model, c.cfg.Model),
			RateLimit: x.Limits(nil), Extra: read.extra()})
	}
	return reply, nil
}

// guarded refuses redirects to elsewhere.
var guarded = kit.GuardOption(option.WithMaxRetries(0))

// receive reads a response by what it is: a stream, or else a whole body. Both come unasked, too.
func receive(form kit.Form, res *http.Response, stream func(loop.Delta), read codec) (message.Reply, error) {
	if form == kit.EventStream {
		if stream == nil {
			stream = func(loop.Delta) {}
		}
		return follow(res, stream, read)
	}
	doc, err := kit.ReadWhole(res.Body)
	if err != nil {
		return message.Reply{}, err
	}
	reply, err := read.readBody(doc)
	if err == nil && stream != nil {
		kit.TellWhole(reply, stream)
	}
	return reply, err
}
