package ollama

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

var _ loop.Model = (*Model)(nil)

// exchange is one request and its response.
type exchange struct {
	kit.Head
	stream func(loop.Delta)
}

// Reply asks once and returns the whole reply. It streams if req.Stream is set. The error has an [*Error]
// in its chain, within a [ratelimit.LimitedError] if a response came. It is safe for concurrent use.
func (m *Model) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	if c := req.ToolChoice; c != "" && c != message.NoTool {
		return message.Reply{}, kit.Unasked(name, "ToolChoice: the API cannot force a call: remove it, or use another provider")
	}
	if err := kit.CheckMedia(name, req.Messages, refuses); err != nil {
		return message.Reply{}, err
	}
	x := &exchange{Head: kit.Head{Provider: name, Model: m.cfg.Model, Key: m.cfg.Key}, stream: req.Stream}
	got, err := m.ask(ctx, req, x)
	if err != nil {
		return message.Reply{}, x.failed(ctx, err)
	}
	reply := got.reply(x.Model)
	reply.Source = x.Source("", got.why)
	if m.cfg.OnResponse != nil {
		m.cfg.OnResponse(Response{RequestID: x.RequestID(), Model: reply.Model, RateLimit: x.Limits(nil), Extra: got.extras})
	}
	return reply, nil
}

func (m *Model) ask(ctx context.Context, req loop.Request, x *exchange) (*received, error) {
	body, err := m.cfg.body(req, x.Model)
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
	resp, err := x.Send(r, m.client.Do)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if x.Status != http.StatusOK {
		return nil, &refusedError{x.Status}
	}
	return x.read(resp.Body)
}
