package genai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

const (
	// name identifies this adapter in errors and in the opaque part of a message.
	name = "genai"
	// provider is the API's name in the core.
	provider = "gemini"
	// home is the address of the Gemini API.
	home = "https://generativelanguage.googleapis.com"
)

// Model is a loop.Model on Gemini. It is immutable and safe for concurrent use. The zero value is not
// usable: use [New].
type Model struct {
	models *sdk.Models
	cfg    Config
	// key is the API key, which must not be in an error.
	key string
	// extras is the client's own function that changes the body of a request; nil for none.
	extras sdk.ExtrasRequestProvider
	// provider is the name of the provider, or the host of another server.
	provider string
}

// New returns a model with the configuration of client. It does not change client: it makes a second one,
// whose HTTP client also reads the responses. The error joins one for each field of cfg that is out of
// bounds.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client *sdk.Client, cfg Config) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("genai: %w", err)
	}
	if client == nil {
		return nil, errors.New("genai: the client is nil; make one with the SDK's NewClient")
	}
	own := client.ClientConfig()
	transport := http.DefaultTransport
	if own.HTTPClient == nil {
		own.HTTPClient = &http.Client{}
	}
	if own.HTTPClient.Transport != nil {
		transport = own.HTTPClient.Transport
	}
	looking := kit.Guarded(own.HTTPClient)
	looking.Transport = reader{transport}
	own.HTTPClient = looking
	mine, err := sdk.NewClient(context.Background(), &own)
	if err != nil {
		return nil, errors.New("genai: a second client cannot be made from the client's configuration: " +
			kit.Redact(err.Error(), own.APIKey))
	}
	return &Model{models: mine.Models, cfg: cfg, key: own.APIKey,
		extras:   own.HTTPOptions.ExtrasRequestProvider,
		provider: kit.ProviderAt(provider, mine.ClientConfig().HTTPOptions.BaseURL, home)}, nil
}

// Describe returns the name of the model, that of its provider, or the host of a server elsewhere (a region
// of Vertex AI, say), and the bound of its replies.
func (m *Model) Describe() machine.ModelInfo {
	return machine.ModelInfo{Name: m.cfg.Model, Provider: m.provider, MaxOutputTokens: m.cfg.MaxTokens}
}

// Reply asks once and returns the whole reply. It streams if req.Stream is set. The error has an [*kit.Error]
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
		return message.Reply{Source: x.Source("", "")}, x.Fail(ctx, kit.Trouble{Cause: err})
	}
	reply := got.reply(x.Model)
	reply.Source = x.Source(got.responseID, cmp.Or(got.finish, got.blocked))
	if m.cfg.OnResponse != nil {
		m.cfg.OnResponse(kit.Response{RequestID: cmp.Or(got.responseID, x.RequestID()), Model: reply.Model,
			RateLimit: x.Limits(nil), Extra: got.extra()})
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
	case x.Status != 0 && x.Status < http.StatusMultipleChoices:
		return x.got, x.readErr
	case err == nil:
		err = errNoJSON
	}
	return nil, err
}
