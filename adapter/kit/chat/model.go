package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// Model is a loop.Model on one of OpenAI's APIs. It is immutable and safe for concurrent use. The zero
// value is not usable: use [New].
type Model struct {
	cfg    Config
	quirks Quirks
	echo   []string
	post   kit.Send
	// provider is the name of the provider, or the host of another server.
	provider string
}

// New returns a model. client may be nil for [http.DefaultClient]; its timeout bounds whole replies. The
// error joins one for each field of cfg that is out of bounds. At [DefaultURL] a key is wanted, or a client
// that has one.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client *http.Client, cfg Config) (*Model, error) {
	guarded := kit.Guarded(cmp.Or(client, http.DefaultClient))
	base := strings.TrimRight(cmp.Or(cfg.URL, DefaultURL), "/") + "/"
	m, err := newModel(func(
		ctx context.Context, head *kit.Head, path string, body []byte,
	) (*http.Response, error) {
		return head.Post(ctx, guarded, base+path, "", body)
	}, cfg.URL, cfg)
	if err == nil && client == nil && cfg.URL+cfg.Key == "" {
		return nil, errors.New(cfg.provider() + ": Key: is empty, and " + DefaultURL + " asks for one: set it, a client that does, or " +
			"the URL of another server")
	}
	return m, err
}

// Over returns a model that sends its requests by a function, such as the client of an SDK, which has the
// address and the key: URL and Key of cfg must be empty. The function must not retry. address tells where it
// sends them; empty means [DefaultURL].
func Over(send kit.Send, address string, cfg Config) (*Model, error) {
	if cfg.URL+cfg.Key != "" {
		return nil, errors.New(cfg.provider() + ": URL and Key: are those of the client: remove them")
	}
	return newModel(send, address, cfg)
}

func newModel(send kit.Send, address string, cfg Config) (*Model, error) {
	cfg.Provider = cmp.Or(cfg.Provider, providerAt(address))
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.provider(), err)
	}
	quirks, echo := cfg.quirks()
	return &Model{cfg, quirks, echo, send, cmp.Or(cfg.Provider,
		kit.ProviderAt(cfg.provider(), address, DefaultURL))}, nil
}

// Format implements [fmt.Formatter]: no log has the key.
func (m Model) Format(to fmt.State, _ rune) {
	fmt.Fprintf(to, "model %s of %s", m.cfg.Model, m.provider)
}

// Describe returns the name of the model, that of its provider ([Config].Provider, or the host of a server
// that it does not name), and the bound of its replies.
func (m *Model) Describe() machine.ModelInfo {
	return machine.ModelInfo{Name: m.cfg.Model, Provider: m.provider, MaxOutputTokens: m.cfg.MaxTokens}
}

// api is what the two APIs differ in.
type api struct {
	path    string
	refuses func(message.Part) string
	body    func(*Model, loop.Request) any
	codec   func(*Model, loop.Request) codec
}

var apis = map[API]api{
	Chat:      {"chat/completions", chatRefuses, (*Model).chatBody, (*Model).chatCodec},
	Responses: {"responses", responsesRefuses, (*Model).responsesBody, (*Model).responsesCodec},
}

// Reply asks once and returns the whole reply. It streams if req.Stream is set. The error has an [*kit.Error]
// in its chain, within a [ratelimit.LimitedError] if a response came.
func (m *Model) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	api := apis[m.cfg.API]
	if m.cfg.API == Responses && len(req.Stop) > 0 {
		return message.Reply{}, kit.Unasked(m.cfg.provider(),
			"Stop: the Responses API has no stop sequences: use Chat, or remove them")
	}
	if err := kit.CheckMedia(m.cfg.provider(), req.Messages, api.refuses); err != nil {
		return message.Reply{}, err
	}
	head, read := &kit.Head{Provider: m.cfg.provider(), Model: m.cfg.Model, Key: m.cfg.Key}, api.codec(m, req)
	reply, err := m.ask(ctx, head, req, api, read)
	if err != nil {
		return message.Reply{Source: head.Source("", "")}, head.Fail(ctx, kit.Trouble{Cause: err,
			Advice: advise(head.Status, head.Refusal)})
	}
	reply.Usage.APICalls, reply.Model = 1, cmp.Or(reply.Model, m.cfg.Model)
	reply.Source = head.Source(reply.Source.ID, reply.Source.Finish)
	if m.cfg.OnResponse != nil {
		m.cfg.OnResponse(kit.Response{RequestID: head.RequestID(), Model: reply.Model,
			RateLimit: head.Limits(nil), Extra: read.extra()})
	}
	return reply, nil
}

// ask makes one request and reads its response by what it is: a stream, or else a whole body. Both come
// unasked, too.
func (m *Model) ask(
	ctx context.Context, head *kit.Head, req loop.Request, api api, read codec,
) (message.Reply, error) {
	body, err := kit.Marshal(api.body(m, req))
	if err != nil {
		return message.Reply{}, fmt.Errorf("making the request: %w", err)
	}
	resp, err := m.post(ctx, head, api.path, body)
	if err != nil {
		return message.Reply{}, err
	}
	defer resp.Body.Close()
	if head.Form == kit.EventStream {
		return follow(resp.Body, req.Stream, read)
	}
	doc, err := kit.ReadWhole(resp.Body)
	if err != nil {
		return message.Reply{}, err
	}
	reply, err := read.readBody(doc)
	if err == nil {
		kit.TellWhole(reply, req.Stream)
	}
	return reply, err
}
