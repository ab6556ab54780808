package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/adapter/ollama"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

const done = `{"model":"m:latest","message":{"role":"assistant","content":"Hello."},"done":true,"done_reason":"stop"}`

func TestAForcedCallIsRefused(t *testing.T) {
	req := kittest.Asks()["tools"]
	req.ToolChoice = message.AnyTool
	kittest.Refuses(t, adapter(plain), req, "ollama: invalid_request: ToolChoice: the API cannot force a call")
}

func TestAllOfAConfigIsSent(t *testing.T) {
	s := kittest.Serve(t, "200 OK\nX-Request-Id: r1\nRateLimit: \"day\";r=3;t=60\n\n"+done)
	var told []kit.Response
	m, err := ollama.New(s.Client, ollama.Config{
		URL: s.URL + "/base/", Model: "m", MaxTokens: 1, ContextTokens: 8192, Temperature: new(0.25), Seed: new(int64(7)),
		Options: map[string]json.RawMessage{"top_p": json.RawMessage("0.9")}, Think: "high", KeepAlive: new(-time.Second), Truncate: true,
		Output: ollama.OutputInstructions, OnResponse: func(r kit.Response) { told = append(told, r) },
	})
	require.NoError(t, err)
	req := kittest.Asks()["output"]
	req.Model = "backup" // in the ladder
	reply, err := m.Reply(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "m:latest", reply.Model)
	require.Len(t, told, 1)
	assert.Equal(t, "r1", told[0].RequestID)
	assert.Equal(t, int64(3), told[0].RateLimit.Windows[0].Remaining.N)

	_, body, _ := strings.Cut(s.Requests()[0], "\n\n")
	assert.Contains(t, s.Requests()[0], "POST /base/api/chat\n")
	assert.NotContains(t, s.Requests()[0], "authorization")
	var sent map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &sent))
	delete(sent, "messages")
	assert.Equal(t, map[string]any{
		"model": "m", "stream": false, "think": "high", "keep_alive": -1.0,
		"options": map[string]any{"num_predict": 1.0, "num_ctx": 8192.0, "temperature": 0.25, "seed": 7.0, "top_p": 0.9},
	}, sent)
}

func TestAnErrorHasItsCausesInItsChain(t *testing.T) {
	s := kittest.Serve(t, "429 Too Many Requests\nRetry-After: 3\n\n{\"error\": {\"message\": \"Slow down,\\nplease.\"}}")
	_, err := model(t, s).Reply(t.Context(), loop.Request{})
	var own *kit.Error
	require.ErrorAs(t, err, &own)
	assert.Equal(t, 429, own.Status)
	assert.Equal(t, fault.RateLimit, own.Class)
	var limited *ratelimit.LimitedError
	require.ErrorAs(t, err, &limited)
	assert.Equal(t, 3*time.Second, limited.State.RetryAfter.Duration)
	var typed *fault.RateLimitError
	require.ErrorAs(t, err, &typed)
	assert.EqualError(t, err, "ollama: 429 rate_limit: Slow down, please.")
}

func TestACallThatTheServerCannotReadIsCorrected(t *testing.T) {
	s := kittest.Serve(t, "200 OK\n\n{\"error\":\"llama-server returned invalid tool call arguments for \\\"book_room\\\": unexpected end\"}")
	_, err := model(t, s).Reply(t.Context(), loop.Request{})
	var invalid *fault.ToolValidationError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, invalid.Issues, 1)
}

// refusing is a network without a connection.
type refusing struct{ err error }

func (r refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

func TestAServerThatIsNotThere(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want fault.Class
	}{
		"refused":   {&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connect: connection refused")}, fault.Network},
		"timed out": {&net.DNSError{IsTimeout: true, Err: "i/o timeout"}, fault.Timeout},
		"cancelled": {context.Canceled, fault.Cancelled},
	} {
		m, err := ollama.New(&http.Client{Transport: refusing{c.err}}, ollama.Config{Model: "m"})
		require.NoError(t, err)
		_, err = m.Reply(t.Context(), loop.Request{})
		var own *kit.Error
		require.ErrorAs(t, err, &own, name)
		assert.Equal(t, c.want, own.Class, name)
		assert.Zero(t, own.Status)
		var u *url.Error
		require.ErrorAs(t, err, &u, name)
		assert.NotContains(t, err.Error(), "11434", "an address is in the text")
	}
}

func TestABodyWithoutEndIsRefused(t *testing.T) {
	for _, stream := range []func(loop.Delta){nil, func(loop.Delta) {}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"message":{"content":"`)
			chunk := strings.Repeat("x", 1<<20)
			for range 70 {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		}))
		m, err := ollama.New(server.Client(), ollama.Config{Model: "m", URL: server.URL})
		require.NoError(t, err)
		_, err = m.Reply(t.Context(), loop.Request{Stream: stream})
		require.ErrorContains(t, err, "more than 64 MiB")
		server.Close()
	}
}

func TestAModelMayBeAskedByManyAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"message":{"content":%q},"done":true,"done_reason":"stop"}`, asked.Messages[0].Content)
	}))
	defer server.Close()
	m, err := ollama.New(server.Client(), ollama.Config{Model: "m", URL: server.URL})
	require.NoError(t, err)
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			want := fmt.Sprint("word ", n)
			var streamed string
			req := loop.Request{Stream: func(d loop.Delta) { streamed += d.Text }}
			req.Messages = append(req.Messages, message.Message{Role: message.User, Text: want})
			reply, err := m.Reply(t.Context(), req)
			assert.NoError(t, err)
			assert.Equal(t, want, reply.Text)
			assert.Equal(t, want, streamed)
		})
	}
	all.Wait()
}

func model(t *testing.T, s *kittest.Server) *ollama.Model {
	t.Helper()
	m, err := ollama.New(s.Client, ollama.Config{Model: "m", URL: s.URL, Key: kittest.Key})
	require.NoError(t, err)
	return m
}

const doc, lines = "Content-Type: application/json\n\n", "200 OK\nContent-Type: application/x-ndjson\n\n"

// keys are the places in which the server repeats a key.
var keys = map[string]string{
	"auth":     "401 Unauthorized\n" + doc + `{"error":"invalid key: {key}"}`,
	"nested":   "403 Forbidden\n" + doc + `{"error":{"message":"Bearer {key} may not use this model"}}`,
	"ids":      "500 Internal Server Error\nX-Request-Id: {key}\n" + doc + `{"error":"no"}`,
	"words":    "502 Bad Gateway\nContent-Type: text/html\n\n<h1>upstream refused Authorization: Bearer {key}</h1>",
	"streamed": lines + `{"error":"upstream: token={key} is exhausted","status":429}` + "\n",
	"garbled":  lines + `{"error":"error parsing tool call: raw='api_key: {key}'"}` + "\n",
	"garbage":  lines + "Bearer {key}\n",
}

func TestMediaThatTheAPITakesNoneOfAreRefused(t *testing.T) {
	for want, part := range map[string]message.Part{
		"ollama: invalid_request: messages[1].parts[0]: [audio, audio/wav, 1 bytes]: the API accepts only images": message.Bytes(message.AudioPart, "audio/wav", []byte("x")),
		"[image, https://x/a.png]: the API does not accept images by URL: use the bytes":                          message.Link(message.ImagePart, "https://x/a.png"),
	} {
		req := kittest.Asks()["plain"]
		req.Messages = append(req.Messages, message.Message{Role: message.User, Parts: []message.Part{part}})
		kittest.Refuses(t, adapter(plain), req, want)
	}
}
