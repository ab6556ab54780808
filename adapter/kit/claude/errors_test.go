package claude_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// answering is a transport that answers without a network.
type answering func(*http.Request) (*http.Response, error)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func through(t *testing.T, a answering, cfg claude.Config) *claude.Model {
	cfg.URL, cfg.Key = "http://secret-host/", "secret"
	m, err := claude.New(&http.Client{Transport: a}, cfg)
	require.NoError(t, err)
	return m
}

func answer(status int, contentType, body string, headers ...string) answering {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {contentType}}
		for n := 0; n+1 < len(headers); n += 2 {
			h.Set(headers[n], headers[n+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

// wayBack is over, whatever the clock says.
var wayBack = time.Unix(0, 0)

var small = claude.Config{Model: "m", MaxTokens: 100}

const (
	yes       = `{"type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Yes."}],"stop_reason":"end_turn"}`
	yesEvents = `event: message_start
data: {"type":"message_start","message":{"type":"message","role":"assistant","model":"m-1","content":[]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Yes."}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

`
)

func TestAnErrorsChainReachesEverything(t *testing.T) {
	m := through(t, answer(429, "application/json", `{"type":"error","error":{"type":"rate_limit_error","message":"Slow\n down."},"request_id":"req_body"}`,
		"Retry-After", "3", "Anthropic-Ratelimit-Requests-Remaining", "0"), small)
	_, err := m.Reply(t.Context(), loop.Request{})
	assert.EqualError(t, err, "anthropic: 429 rate_limit_error: Slow down. (request req_body)")

	own, ok := errors.AsType[*kit.Error](err)
	require.True(t, ok)
	assert.Equal(t, "429 rate_limit_error req_body", itoa(own.Status)+" "+own.Code+" "+own.RequestID)
	limited, ok := errors.AsType[*ratelimit.LimitedError](err)
	require.True(t, ok)
	assert.True(t, limited.State.Limited)
	typed, ok := errors.AsType[*fault.RateLimitError](err)
	require.True(t, ok)
	assert.Equal(t, 429, typed.StatusCode)
	assert.Equal(t, own.Failure(), typed.Failure())
}

func TestErrorsWithoutAResponse(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	late, end := context.WithDeadline(t.Context(), wayBack)
	defer end()
	fails := func(err error) answering {
		return func(*http.Request) (*http.Response, error) { return nil, err }
	}
	for name, c := range map[string]struct {
		ctx   context.Context
		fails error
		class fault.Class
		text  string
	}{
		"cancelled":             {gone, context.Canceled, fault.Cancelled, "anthropic: cancelled: context canceled"},
		"out of time":           {late, context.DeadlineExceeded, fault.DeadlineExceeded, "anthropic: deadline_exceeded: context deadline exceeded"},
		"the client's own time": {t.Context(), context.DeadlineExceeded, fault.Timeout, "anthropic: timeout: the client's own time limit for a request has passed"},
		"broken":                {t.Context(), io.ErrUnexpectedEOF, fault.Network, "anthropic: network: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, stream := range []func(loop.Delta){nil, func(loop.Delta) {}} {
				reply, err := through(t, fails(c.fails), small).Reply(c.ctx, loop.Request{Stream: stream})
				assert.EqualError(t, err, c.text)
				assert.Equal(t, message.Reply{Source: message.Source{Host: "secret-host", Port: 80}}, reply, "nothing but who was asked")
				assert.Equal(t, c.class != fault.Timeout, errors.Is(err, c.fails), "a time limit of the client's is no deadline")
				own, ok := errors.AsType[*kit.Error](err)
				require.True(t, ok)
				assert.Equal(t, c.class, own.Failure().Class)
				assert.Equal(t, fault.Transport, own.Failure().Plane)
			}
		})
	}
}

func TestWhatNoErrorSays(t *testing.T) {
	for name, a := range map[string]answering{
		"a page":               answer(502, "text/html", "<html>internals of secret-host</html>"),
		"nothing":              answer(500, "application/json", ""),
		"an error's own shape": answer(500, "application/json", `{"error":{"internals":true}}`),
		"a list":               answer(500, "application/json", `[["internals"]]`),
		"a redirect":           answer(304, "text/html", ""),
		"an event":             answer(200, "text/event-stream", "event: error\ndata: {\"error\":{\"internals\":true}}\n\n"),
		"an event of no JSON":  answer(200, "text/event-stream", "event: error\ndata: internals\n\n"),
		"no events":            answer(200, "text/event-stream", ""),
		"half a message":       answer(200, "text/event-stream", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, stream := range []func(loop.Delta){nil, func(loop.Delta) {}} {
				_, err := through(t, a, small).Reply(t.Context(), loop.Request{Stream: stream})
				require.Error(t, err)
				for _, never := range []string{"secret", "internals", "<html>", "http"} {
					assert.NotContains(t, err.Error(), never)
				}
				own, ok := errors.AsType[*kit.Error](err)
				require.True(t, ok)
				assert.Equal(t, fault.Transport, own.Failure().Plane)
				assert.NotContains(t, own.Failure().Message, "internals")
			}
		})
	}
}

func TestALargeReplyIsStreamedThoughNobodyListens(t *testing.T) {
	m := through(t, answer(200, "text/event-stream", yesEvents), claude.Config{Model: "m", MaxTokens: 128_000})
	reply, err := m.Reply(t.Context(), loop.Request{})
	require.NoError(t, err)
	assert.Equal(t, message.Reply{Text: "Yes.", Finish: message.Stop, Model: "m-1", Usage: message.Usage{OutputTokens: 1, APICalls: 1},
		Source: message.Source{Finish: "end_turn", Host: "secret-host", Port: 80}}, reply)
}

func TestANameInALadderIsNotSent(t *testing.T) {
	var asked string
	m := through(t, func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		asked = string(body)
		if err != nil {
			return nil, err
		}
		return answer(200, "application/json", yes)(r)
	}, small)
	_, err := m.Reply(t.Context(), loop.Request{Model: "backup"})
	require.NoError(t, err)
	assert.Contains(t, asked, `"model":"`+small.Model+`"`)
	assert.NotContains(t, asked, "backup")
}

func TestAGoodResponseIsReported(t *testing.T) {
	var got []kit.Response
	cfg := small
	cfg.OnResponse = func(r kit.Response) { got = append(got, r) }
	_, err := through(t, answer(200, "application/json", yes, "Request-Id", "req_1", "Anthropic-Ratelimit-Requests-Remaining", "7"), cfg).Reply(t.Context(), loop.Request{})
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, "req_1 m-1", got[0].RequestID+" "+got[0].Model)
	require.Len(t, got[0].RateLimit.Windows, 1)
	assert.Equal(t, int64(7), got[0].RateLimit.Windows[0].Remaining.N)

	_, err = through(t, answer(500, "application/json", ""), cfg).Reply(t.Context(), loop.Request{})
	require.Error(t, err)
	assert.Len(t, got, 1)
}

// If a server's clock is wrong, its reset times are read by that clock.
func TestResetsAreReadByTheServersClock(t *testing.T) {
	var got kit.Response
	cfg := small
	cfg.OnResponse = func(r kit.Response) { got = r }
	m := through(t, answer(200, "application/json", yes, "Date", "Mon, 05 Nov 2001 12:00:00 GMT",
		"Anthropic-Ratelimit-Requests-Remaining", "0", "Anthropic-Ratelimit-Requests-Reset", "2001-11-05T12:00:30Z"), cfg)
	_, err := m.Reply(t.Context(), loop.Request{})
	require.NoError(t, err)
	wait, known := got.RateLimit.Delay()
	assert.True(t, known)
	assert.Equal(t, 30*time.Second, wait)
}

func TestOneModelServesManyRuns(t *testing.T) {
	whole := through(t, answer(200, "application/json", yes), small)
	streamed := through(t, answer(200, "text/event-stream", yesEvents), small)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			reply, err := whole.Reply(t.Context(), loop.Request{})
			assert.NoError(t, err)
			assert.Equal(t, "Yes.", reply.Text)
			var heard strings.Builder
			reply, err = streamed.Reply(t.Context(), loop.Request{Stream: func(d loop.Delta) { heard.WriteString(d.Text) }})
			assert.NoError(t, err)
			assert.Equal(t, reply.Text, heard.String())
		})
	}
	group.Wait()
}

const doc, sse = "Content-Type: application/json\n\n", "200 OK\nContent-Type: text/event-stream\n\n"

// keys are the places in which the API repeats a key.
var keys = map[string]string{
	"auth":     "401 Unauthorized\n" + doc + `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key: {key}"},"request_id":"req_1"}`,
	"type":     "401 Unauthorized\n" + doc + `{"type":"error","error":{"type":"{key}","message":"no"}}`,
	"ids":      "401 Unauthorized\nRequest-Id: {key}\n" + doc + `{"type":"error","error":{"type":"api_error","message":"no"},"request_id":"{key}"}`,
	"words":    "502 Bad Gateway\nContent-Type: text/html\n\n<h1>upstream refused X-Api-Key: {key}</h1>",
	"in a 200": "200 OK\n" + doc + `{"type":"error","error":{"type":"api_error","message":"Bearer {key} is exhausted"}}`,
	"streamed": sse + "event: error\ndata: " + `{"type":"error","error":{"type":"overloaded_error","message":"key {key} waits: key={key}"}}` + "\n\n",
	"garbage":  sse + "event: message_start\ndata: Bearer {key}\n\n",
}
