package genai

import (
	"context"
	"fmt"
	"net/http"

	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

const (
	// name identifies this adapter in errors and in the opaque part of a message.
	name = "genai"
	// provider is the API's name in the core.
	provider = "gemini"
)

var _ loop.Model = (*Model)(nil)

// Reply asks once and returns the whole reply. It streams if req.Stream is set. The error has an [*Error]
// in its chain, within a [ratelimit.LimitedError] if a response came. It is safe for concurrent use.
func (m *Model) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	if err := kit.CheckMedia(name, req.Messages, nil); err != nil {
		return message.Reply{}, err
	}
	x := &exchange{Head: kit.Head{Provider: name, Known: provider, Model: m.cfg.Model, Key: m.key},
		stream: req.Stream, told: m.cfg.OnResponse != nil}
	got, err := m.ask(ctx, req, x)
	if err == nil {
		err = got.unusable()
	}
	if err != nil {
		return message.Reply{}, x.failed(ctx, err)
	}
	reply := got.reply(x.Model)
	reply.Source = x.Source(got.responseID, got.finish)
	if m.cfg.OnResponse != nil {
		m.cfg.OnResponse(Response{RequestID: got.responseID, Model: reply.Model, RateLimit: x.Limits(nil), Extra: got.extras})
	}
	return reply, nil
}

// placeholder is replaced when the body is filled.
var placeholder = []*sdk.Content{{Role: "user", Parts: []*sdk.Part{{Text: kit.GoOn}}}}

func (m *Model) ask(ctx context.Context, req loop.Request, x *exchange) (*received, error) {
	r, err := m.request(req, x.Model)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	x.names = r.names
	if x.stream != nil {
		for _, err = range m.models.GenerateContentStream(x.in(ctx), x.Model, placeholder, r.config) {
		}
	} else {
		_, err = m.models.GenerateContent(x.in(ctx), x.Model, placeholder, r.config)
	}
	switch {
	case x.Status == http.StatusOK:
		return x.got, x.readErr
	case err == nil:
		err = errNoJSON
	}
	return nil, err
}
