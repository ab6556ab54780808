package anthropicv2_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/anthropicv2"
	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

const (
	whole  = `{"type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Yes."}],"stop_reason":"end_turn"}`
	events = `data: {"type":"message_start","message":{"type":"message","role":"assistant","model":"m-1","content":[]}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Yes."}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

data: {"type":"message_stop"}

`
)

var cfg = claude.Config{Model: "claude-sonnet-5-5", MaxTokens: 1024}

// client is a client with retries, which a model switches off.
func client(url string, c *http.Client, opts ...option.RequestOption) sdk.Client {
	own := []option.RequestOption{option.WithBaseURL(url), option.WithHTTPClient(c), option.WithAPIKey(kittest.Key), option.WithMaxRetries(5)}
	return sdk.NewClient(append(own, opts...)...)
}

type transport func(*http.Request) (*http.Response, error)

func (send transport) RoundTrip(r *http.Request) (*http.Response, error) { return send(r) }

// asV1 makes a model whose requests have the headers of v1 of the SDK, which the scripts show.
func asV1(url string, c *http.Client) (loop.Model, error) {
	own, next := *c, cmp.Or(c.Transport, http.DefaultTransport)
	own.Transport = transport(func(r *http.Request) (*http.Response, error) {
		if key, isKey := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); isKey {
			r.Header.Set("X-Api-Key", key)
			r.Header.Del("Authorization")
		}
		return next.RoundTrip(r)
	})
	old := cfg
	old.Version = claude.Version2023
	return anthropicv2.New(client(url, &own, option.WithHeader("Anthropic-Version", old.Version)), old)
}

func TestAdapter(t *testing.T) {
	kittest.Run(t, kittest.Config{New: asV1, Whole: []string{whole}, Streams: []string{events}, Scripts: "../anthropic/testdata"})
}

// The SDK asks for the version of the API that takes no temperature.
func TestTheVersionIsThatOfTheSDK(t *testing.T) {
	server := kittest.Serve(t, "200 OK\n\n"+whole)
	model, err := anthropicv2.New(client(server.URL, server.Client), cfg)
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), kittest.Asks()["plain"])
	require.NoError(t, err)
	assert.Contains(t, server.Requests()[0], "anthropic-version: "+claude.Version2026+"\nauthorization: Bearer redacted\n")

	half := 0.5
	_, err = model.Reply(t.Context(), loop.Request{Temperature: &half})
	require.ErrorContains(t, err, "Temperature: the API has none since version 2026-10-21")
}

// The SDK's own error is in the chain.
func TestTheErrorOfTheSDKIsReached(t *testing.T) {
	s := kittest.Serve(t, "429 Too Many Requests\nContent-Type: application/json\n\n"+`{"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}`)
	model, err := anthropicv2.New(client(s.URL, s.Client), cfg)
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), kittest.Asks()["plain"])
	theirs, ok := errors.AsType[*sdk.Error](err)
	require.True(t, ok)
	assert.Equal(t, 429, theirs.StatusCode)
}

// A limiter tells servers apart. The address is that of the client, and nothing is sent to learn it.
func TestAModelNamesItsProvider(t *testing.T) {
	unsent := option.WithMiddleware(func(*http.Request, option.MiddlewareNext) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, http.ErrUseLastResponse
	})
	for _, c := range []struct {
		want    string
		options []option.RequestOption
	}{
		{"anthropic", nil},
		{"gateway.example", []option.RequestOption{option.WithBaseURL("https://gateway.example/v1")}},
	} {
		model, err := anthropicv2.New(sdk.NewClient(append(c.options, unsent)...), claude.Config{Model: "m", MaxTokens: 5})
		require.NoError(t, err)
		assert.Equal(t, machine.ModelInfo{Name: "m", Provider: c.want, MaxOutputTokens: 5}, model.Describe())
	}
}

func TestAClientThatNobodyMadeIsNamed(t *testing.T) {
	_, err := anthropicv2.New(sdk.Client{}, cfg)
	require.EqualError(t, err, "anthropic: the client is empty: make one with NewClient of the SDK")
}

// A tool that the API runs is offered as in the README: beside our tools, and alone.
func TestToolsOfTheAPIAreOfferedByTheClient(t *testing.T) {
	server := kittest.Serve(t, "200 OK\n\n"+whole, "200 OK\n\n"+whole)
	search := option.WithJSONSet("tools.-1", map[string]string{"type": "web_search_20250305", "name": "web_search"})
	model, err := anthropicv2.New(client(server.URL, server.Client, search), cfg)
	require.NoError(t, err)
	for _, tools := range [][]*tool.Tool{nil, {kittest.BookRoom()}} {
		_, err = model.Reply(t.Context(), loop.Request{System: "Search.", Tools: tools})
		require.NoError(t, err)
	}
	for n, request := range server.Requests() {
		assert.Contains(t, request, `"type": "web_search_20250305"`)
		assert.Equal(t, n == 1, strings.Contains(request, `"name": "book_room"`))
	}
}

// binary is the form of a stream at AWS.
const binary = "application/vnd.amazon.eventstream"

// cloud does what the clients for Bedrock and Vertex do: the model and whether to stream are in the path, and
// a stream of AWS becomes one of events.
func cloud(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var asked struct {
		Model  string
		Stream bool
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	r.URL.Path, r.Body = fmt.Sprintf("/model/%s/%v", asked.Model, asked.Stream), io.NopCloser(strings.NewReader(string(body)))
	resp, err := next(r)
	if err != nil || resp.Header.Get("Content-Type") != binary {
		return resp, err
	}
	resp.Header.Set("Content-Type", "text/event-stream; charset=utf-8")
	resp.Body = struct {
		io.Reader
		io.Closer
	}{base64.NewDecoder(base64.StdEncoding, resp.Body), resp.Body}
	return resp, nil
}

func TestAClientForAnotherCloud(t *testing.T) {
	server := kittest.Serve(t, "200 OK\n\n"+whole, "200 OK\nContent-Type: "+binary+"\n\n"+base64.StdEncoding.EncodeToString([]byte(events)))
	model, err := anthropicv2.New(client(server.URL, server.Client, option.WithMiddleware(cloud)), cfg)
	require.NoError(t, err)
	for n, stream := range []func(loop.Delta){nil, func(loop.Delta) {}} {
		reply, err := model.Reply(t.Context(), loop.Request{System: "Be brief.", Stream: stream})
		require.NoError(t, err)
		assert.Equal(t, "Yes.", reply.Text)
		assert.True(t, strings.HasPrefix(server.Requests()[n], fmt.Sprintf("POST /model/claude-sonnet-5-5/%v\n", n == 1)), server.Requests()[n])
	}
}
