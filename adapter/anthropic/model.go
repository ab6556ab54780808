package anthropic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// Model is a [loop.Model] on the Messages API. It is immutable and safe for concurrent use. The zero value
// is not usable: use [New].
type Model struct {
	// messages is the only service that the adapter needs. Keeping the whole client in a value that is
	// used as an interface would link every method of every service.
	messages sdk.MessageService
	cfg      Config
	// provider is the name of the provider, or the host of another server.
	provider string
}

var _ loop.Model = (*Model)(nil)

// home is the address of the API.
const home = "https://api.anthropic.com"

// New returns a model that uses client. The error joins one for each field of cfg that is out of bounds.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client sdk.Client, cfg Config) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	if len(client.Options)+len(client.Messages.Options) == 0 {
		return nil, errors.New("anthropic: the client is empty: make one with NewClient of the SDK")
	}
	asks, address := kit.AddressOption(option.WithMaxRetries(0))
	_ = client.Get(context.Background(), "", nil, nil, asks) // it is not sent
	return &Model{messages: client.Messages, cfg: cfg, provider: kit.ProviderAt(name, *address, home)}, nil
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
	params, prefix := m.params(req, m.cfg.Model)
	turns := params.Messages
	var reply received
	for paused := 0; ; paused++ {
		got, err := m.once(ctx, params, req.Stream, paused)
		if err != nil {
			return message.Reply{Source: got.source}, err
		}
		if reply.add(got); !got.paused() {
			whole := reply.reply(m.cfg.Model, prefix)
			whole.Source = got.source
			return whole, nil
		}
		params.Messages = append(turns[:len(turns):len(turns)], sdk.NewAssistantMessage(reply.blocks()...))
		if id := reply.container(); id != "" {
			params.Container.OfString = sdk.String(id)
		}
	}
}

// maxPauses is how often a turn may be paused. Each pause is a request of its own.
const maxPauses = 10

// once makes one request. paused is how often the turn was paused before.
func (m *Model) once(
	ctx context.Context, params sdk.MessageNewParams, stream func(loop.Delta), paused int,
) (*received, error) {
	x := exchange{Head: kit.Head{Provider: name, Model: m.cfg.Model}, stream: stream}
	defer x.close()
	got, err := m.ask(ctx, params, &x)
	if err == nil && got.paused() && paused == maxPauses {
		say := fmt.Sprintf("the model paused its turn more than %d times (pause_turn): give it less to do "+
			"with the API's own tools", maxPauses)
		err = &kit.ReportedError{Code: "server_error", Say: say, Final: true}
	}
	if err != nil {
		return &received{source: x.Source("", "")}, x.Fail(ctx, kit.Trouble{Cause: err})
	}
	got.source = x.Source(got.message.Text("id"), string(got.stopReason()))
	if m.cfg.OnResponse != nil {
		m.cfg.OnResponse(kit.Response{RequestID: x.RequestID(), Model: got.message.Text("model"),
			RateLimit: x.Limits(nil), Extra: got.extra()})
	}
	return got, nil
}

// exchange is one request and its response.
type exchange struct {
	kit.Head
	stream func(loop.Delta)
	// response is nil if no response came.
	response *http.Response
	// open is the body of the response; nil if none came.
	open io.Closer
	// body is the data read from a response that is no stream.
	body []byte
}

func (m *Model) ask(ctx context.Context, params sdk.MessageNewParams, x *exchange) (*received, error) {
	opts := []option.RequestOption{option.WithMaxRetries(0), option.WithMiddleware(x.watch),
		option.WithResponseInto(&x.response), guarded}
	if x.stream == nil && m.maySendWhole(params) {
		_, err := m.messages.New(ctx, params, append(opts, option.WithResponseBodyInto(&x.body))...)
		if err != nil {
			return nil, err
		}
		if x.Form == kit.EventStream { // nobody asked for one
			return x.readStream(bytes.NewReader(x.body))
		}
		return readWhole(bytes.NewReader(x.body))
	}
	stream := m.messages.NewStreaming(ctx, params, opts...)
	defer stream.Close()
	if err := stream.Err(); err != nil {
		return nil, err
	}
	if isEventStream(x.response) {
		return x.readStream(x.response.Body)
	}
	return x.tellWhole(x.response.Body)
}

// maySendWhole reports whether the SDK sends the request without streaming. It does not if the reply could
// take longer than connections live.
func (m *Model) maySendWhole(params sdk.MessageNewParams) bool {
	_, err := sdk.CalculateNonStreamingTimeout(int(params.MaxTokens), params.Model, m.messages.Options)
	return err == nil
}

// isEventStream reports whether a response is a stream of events. The SDK has converted the streams of
// other clouds by now.
func isEventStream(r *http.Response) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == "text/event-stream"
}
