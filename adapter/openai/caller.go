package openai

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// Bounds of what is read of a response, in bytes.
const (
	maxReply = 64 << 20
	maxError = 1 << 20
)

// caller makes requests: what both APIs share.
type caller struct {
	cfg Config
	api api
}

func newCaller(cfg Config, a api) (caller, error) {
	if err := cfg.validateFor(a); err != nil {
		return caller{}, err
	}
	cfg.Echo = append([]string(nil), cfg.Echo...)
	return caller{cfg: cfg, api: a}, nil
}

// exchange is what came of one request, as far as it came.
type exchange struct {
	status int
	header http.Header
	// body is that of a refusal.
	body []byte
	at   time.Time
	// key is the request's: it may stand in no error.
	key string
}

// codec reads a response of one API.
type codec interface {
	// whole reads a body.
	whole(body []byte) (message.Reply, error)
	// event takes one event of a stream, and reports whether it was the last.
	event(data []byte, tell func(loop.Delta)) (last bool, err error)
	// ended is the reply when the stream is over.
	ended() (message.Reply, error)
}

// call makes one request and reads its response.
func (c *caller) call(
	ctx context.Context, req loop.Request, send func(...option.RequestOption) error, read codec,
) (message.Reply, error) {
	var x exchange
	var res *http.Response
	opts := []option.RequestOption{
		option.WithMaxRetries(0), option.WithMiddleware(c.watch(&x)), option.WithResponseBodyInto(&res),
	}
	if req.Stream != nil {
		opts = append(opts, option.WithJSONSet("stream", true))
	}
	if err := send(opts...); err != nil {
		return message.Reply{}, c.fail(ctx, x, err)
	}
	defer res.Body.Close()
	reply, err := receive(res, req.Stream, read)
	if err != nil {
		return message.Reply{}, c.fail(ctx, x, err)
	}
	reply.Usage.APICalls = 1
	if c.cfg.OnResponse != nil {
		c.cfg.OnResponse(Response{RequestID: requestID(x), Model: cmp.Or(reply.Model, c.cfg.Model), RateLimit: c.limits(x)})
	}
	return reply, nil
}

// watch is a middleware that keeps what the SDK does not give with its errors, and bounds what it reads of a refusal.
func (c *caller) watch(x *exchange) option.Middleware {
	return func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		res, err := next(r)
		if err != nil {
			return res, err
		}
		*x = exchange{
			status: res.StatusCode, header: res.Header, at: wire.ReceivedAt(res.Header, time.Now()), key: wire.Key(r.Header),
		}
		if x.status >= http.StatusBadRequest {
			x.body, _ = io.ReadAll(io.LimitReader(res.Body, maxError))
			x.body = wire.Redact(x.body, x.key)
			res.Body.Close()
			res.Body = io.NopCloser(bytes.NewReader(x.body))
		}
		return res, nil
	}
}

func (c *caller) limits(x exchange) ratelimit.State {
	return ratelimit.Parse(x.header, x.at, ratelimit.ForProvider(c.cfg.provider()), ratelimit.WithBody(x.body))
}

// receive reads a response: a stream where one was asked for and came, else a whole body.
func receive(res *http.Response, stream func(loop.Delta), read codec) (message.Reply, error) {
	body := &bounded{r: res.Body, left: maxReply}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); stream != nil && strings.EqualFold(kind, "text/event-stream") {
		return follow(res, body, stream, read)
	}
	doc, err := io.ReadAll(body)
	if err != nil {
		return message.Reply{}, err
	}
	if wire.Cut(doc) {
		return message.Reply{}, errEndedEarly
	}
	reply, err := read.whole(doc)
	if err == nil && stream != nil {
		wire.TellWhole(reply, stream)
	}
	return reply, err
}

var errTooLarge = errors.New("the reply is larger than 64 MiB")

// bounded is a reader that fails beyond a bound.
type bounded struct {
	r    io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return n, &badReply{err: errTooLarge}
	}
	return n, err
}
