package ollama

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// Model is a loop.Model on one model of one server. It is immutable and safe for concurrent use. The zero
// value is not usable: use [New].
type Model struct {
	client *http.Client
	cfg    Config
	url    string
	// provider is the name of the provider, or the host of another server.
	provider string
}

// path is that of the API.
const path = "api/chat"

// New returns a model. client may be nil for [http.DefaultClient]; its timeout bounds whole replies. The
// error joins one for each field of cfg that is out of bounds.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client *http.Client, cfg Config) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("ollama: %w", err)
	}
	cfg.Options = maps.Clone(cfg.Options)
	base := strings.TrimRight(cmp.Or(cfg.URL, DefaultURL), "/") + "/"
	return &Model{client: kit.Guarded(cmp.Or(client, http.DefaultClient)), cfg: cfg, url: base + path,
		provider: kit.ProviderAt(name, cfg.URL, DefaultURL)}, nil
}

// Format implements [fmt.Formatter]: no log has the key.
func (m Model) Format(to fmt.State, _ rune) {
	fmt.Fprintf(to, "model %s of %s", m.cfg.Model, m.provider)
}

// Describe returns the name of the model, that of its provider, or the host of a server elsewhere, and the
// bound of its replies.
func (m *Model) Describe() machine.ModelInfo {
	return machine.ModelInfo{Name: m.cfg.Model, Provider: m.provider, MaxOutputTokens: m.cfg.MaxTokens}
}

// exchange is one request and its response.
type exchange struct {
	kit.Head
	stream func(loop.Delta)
}

// Reply asks once and returns the whole reply. It streams if req.Stream is set. The error has an [*kit.Error]
// in its chain, within a [ratelimit.LimitedError] if a response came. It is safe for concurrent use.
func (m *Model) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	if c := req.ToolChoice; c != "" && c != message.NoTool {
		return message.Reply{}, kit.Unasked(name,
			"ToolChoice: the API cannot force a call: remove it, or use another provider")
	}
	if err := kit.CheckMedia(name, req.Messages, refuses); err != nil {
		return message.Reply{}, err
	}
	x := &exchange{Head: kit.Head{Provider: name, Model: m.cfg.Model, Key: m.cfg.Key}, stream: req.Stream}
	got, err := m.ask(ctx, req, x)
	if err != nil {
		return message.Reply{Source: x.Source("", "")}, x.failed(ctx, err)
	}
	reply := got.reply(x.Model)
	reply.Source = x.Source("", got.why)
	if m.cfg.OnResponse != nil {
		m.cfg.OnResponse(kit.Response{RequestID: x.RequestID(), Model: reply.Model, RateLimit: x.Limits(nil),
			Extra: got.extras})
	}
	return reply, nil
}

func (m *Model) ask(ctx context.Context, req loop.Request, x *exchange) (*received, error) {
	body, err := m.cfg.body(req, x.Model)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	resp, err := x.Post(ctx, m.client, m.url, "application/x-ndjson, application/json", body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return x.read(resp.Body)
}
