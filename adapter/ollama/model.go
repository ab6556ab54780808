package ollama

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

var _ loop.Model = (*Model)(nil)

// maxBody bounds a response that is no stream, and one line of a stream, in bytes.
const maxBody = 16 << 20

// maxStream bounds a stream, in bytes.
const maxStream = 64 << 20

// exchange is one request and what came of it.
type exchange struct {
	model  string
	stream func(loop.Delta)
	// response is the response's head; nil where none came.
	response *http.Response
	// body is what tells of an error.
	body []byte
	// status stands beside an error in a stream; 0 where none does.
	status int
}

// Reply asks once and returns the whole reply; it streams where somebody listens. The error is an [*Error] in its chain,
// within a [loop.LimitedError] where a response came. Safe for concurrent use.
func (m *Model) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	x := &exchange{model: m.cfg.Model, stream: req.Stream}
	got, err := m.ask(ctx, req, x)
	if err != nil {
		return message.Reply{}, m.failed(ctx, x, err)
	}
	reply := got.reply(x.model)
	if m.cfg.OnResponse != nil {
		m.cfg.OnResponse(Response{RequestID: x.requestID(), Model: reply.Model, RateLimit: x.limits()})
	}
	return reply, nil
}

func (m *Model) ask(ctx context.Context, req loop.Request, x *exchange) (*received, error) {
	body, err := m.cfg.body(req, x.model)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson, application/json")
	if m.cfg.Key != "" {
		r.Header.Set("Authorization", "Bearer "+m.cfg.Key)
	}
	if x.response, err = m.client.Do(r); err != nil {
		return nil, err
	}
	defer x.response.Body.Close()
	if x.response.StatusCode != http.StatusOK {
		x.body, err = io.ReadAll(io.LimitReader(x.response.Body, maxBody))
		return nil, cmpError(&refusedError{x.response.StatusCode}, err)
	}
	if x.stream != nil {
		return x.readStream(x.response.Body)
	}
	return x.readWhole(x.response.Body)
}

// received is when the response came.
func (x *exchange) received() time.Time {
	if x.response == nil {
		return time.Now()
	}
	return wire.ReceivedAt(x.response.Header, time.Now())
}

func (x *exchange) limits() ratelimit.State {
	if x.response == nil {
		return ratelimit.State{}
	}
	return ratelimit.Parse(x.response.Header, x.received(), ratelimit.ForProvider(name), ratelimit.WithBody(x.body))
}

// requestID is what a proxy may have named the request.
func (x *exchange) requestID() string {
	if x.response == nil {
		return ""
	}
	return wire.Word(x.response.Header.Get("X-Request-Id"))
}
