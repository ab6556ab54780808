package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// Model is a [loop.Model] on the Messages API. It is immutable and safe for concurrent use. The zero value
// is not usable: use [New].
type Model struct {
	cfg  Config
	send kit.Send
	// provider is the name of the provider, or the host of another server.
	provider string
}

var _ loop.Model = (*Model)(nil)

// path is that of the API.
const path = "v1/messages"

// New returns a model. client may be nil for [http.DefaultClient]; its timeout bounds whole replies. The
// error joins one for each field of cfg that is out of bounds. At [DefaultURL] a key is wanted, or a client
// that has one.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client *http.Client, cfg Config) (*Model, error) {
	guarded := kit.Guarded(cmp.Or(client, http.DefaultClient))
	base := strings.TrimRight(cmp.Or(cfg.URL, DefaultURL), "/") + "/"
	asks := http.Header{"Anthropic-Version": {cmp.Or(cfg.Version, Version2026)}}
	if cfg.Key != "" {
		asks.Set("X-Api-Key", cfg.Key)
	}
	m, err := newModel(func(
		ctx context.Context, head *kit.Head, path string, body []byte,
	) (*http.Response, error) {
		head.Asks = asks
		return head.Post(ctx, guarded, base+path, "", body)
	}, cfg.URL, cfg)
	if err == nil && client == nil && cfg.URL+cfg.Key == "" {
		return nil, errors.New(name + ": Key: is empty, and " + DefaultURL + " asks for one: set it, a client that does, or " +
			"the URL of another server")
	}
	return m, err
}

// Over returns a model that sends its requests by a function, such as the client of an SDK, which has the
// address and the key: URL and Key of cfg must be empty, and Version is what the function asks for. The
// function must not retry. address tells where it sends them; empty means [DefaultURL].
func Over(send kit.Send, address string, cfg Config) (*Model, error) {
	if cfg.URL+cfg.Key != "" {
		return nil, errors.New(name + ": URL and Key: are those of the client: remove them")
	}
	return newModel(send, address, cfg)
}

func newModel(send kit.Send, address string, cfg Config) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Model{cfg, send, kit.ProviderAt(name, address, DefaultURL)}, nil
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

// Reply asks once and returns the whole reply. It streams if req.Stream is set. If the API pauses the turn
// (pause_turn, while it runs tools of its own; compaction), Reply continues it with another request and
// returns all of it. The error has an [*kit.Error] in its chain, within a [ratelimit.LimitedError] if a
// response came.
func (m *Model) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	if err := kit.CheckMedia(name, req.Messages, refuses); err != nil {
		return message.Reply{}, err
	}
	if err := m.cfg.checkTemperature(req.Temperature); err != nil {
		return message.Reply{}, err
	}
	r, prefix := m.request(req)
	turns := r.Messages
	var reply received
	for paused := 0; ; paused++ {
		got, err := m.once(ctx, r, req.Stream, paused)
		if err != nil {
			return message.Reply{Source: got.source}, err
		}
		if reply.add(got); !got.paused() {
			whole := reply.reply(m.cfg.Model, prefix)
			whole.Source = got.source
			return whole, nil
		}
		r.Messages = append(turns[:len(turns):len(turns)], turn{reply.blocks(), assistant})
		r.Container = cmp.Or(reply.container(), r.Container)
	}
}

// maxPauses is how often a turn may be paused. Each pause is a request of its own.
const maxPauses = 10

// once makes one request. paused is how often the turn was paused before.
func (m *Model) once(
	ctx context.Context, r request, stream func(loop.Delta), paused int,
) (*received, error) {
	x := exchange{kit.Head{Provider: name, Model: m.cfg.Model}, stream}
	got, err := m.ask(ctx, r, &x)
	if err == nil && got.paused() && paused == maxPauses {
		say := fmt.Sprintf("the model paused its turn more than %d times (pause_turn): give it less to do "+
			"with the API's own tools", maxPauses)
		err = &kit.ReportedError{Code: "server_error", Say: say, Final: true}
	}
	if err != nil {
		return &received{source: x.Source("", "")}, x.Fail(ctx, kit.Trouble{Cause: err})
	}
	got.source = x.Source(got.message.Text("id"), got.stopReason())
	if m.cfg.OnResponse != nil {
		m.cfg.OnResponse(kit.Response{RequestID: x.RequestID(), Model: got.model(),
			RateLimit: x.Limits(nil), Extra: got.extra()})
	}
	return got, nil
}

// exchange is one request and its response.
type exchange struct {
	kit.Head
	stream func(loop.Delta)
}

func (m *Model) ask(ctx context.Context, r request, x *exchange) (*received, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	resp, err := m.send(ctx, &x.Head, path, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if x.Form == kit.EventStream || x.Form == kit.Unknown && isEventStream(resp.Header) {
		return x.readStream(resp.Body)
	}
	return x.tellWhole(resp.Body)
}

// isEventStream reports whether a response says that it is a stream of events. The SDK has converted the
// streams of other clouds by now, which are no text as they come.
func isEventStream(head http.Header) bool {
	media, _, _ := strings.Cut(head.Get("Content-Type"), ";")
	return strings.TrimSpace(media) == string(kit.EventStream)
}
