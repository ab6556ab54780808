package chat_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

func ask(t *testing.T, a kittest.Config, says string) error {
	t.Helper()
	s := kittest.Serve(t, says)
	model, err := a.New(s.URL, s.Client)
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), hello())
	require.Error(t, err)
	return err
}

func TestEveryErrorInTheChainIsReached(t *testing.T) {
	const limited = "429 Too Many Requests\nContent-Type: application/json\nRetry-After: 2\nX-Request-Id: req_7\n\n" +
		`{"error":{"message":"slow down, wiretest-secret-key","type":"requests","code":"rate_limit_exceeded"}}`
	for name, a := range map[string]kittest.Config{
		"chat": overChat(chat.Config{Model: "m", Provider: "groq"}), "responses": overResponses(chat.Config{Model: "m", Provider: "groq"}),
	} {
		t.Run(name, func(t *testing.T) {
			err := ask(t, a, limited)
			own, ok := errors.AsType[*kit.Error](err)
			require.True(t, ok)
			assert.Equal(t, "groq: 429 rate_limit_exceeded: slow down, [key] (request req_7)", err.Error())
			assert.Equal(t, []any{"groq", fault.RateLimit, 429, "rate_limit_exceeded", "req_7"}, []any{own.Provider, own.Class, own.Status, own.Code, own.RequestID})
			assert.Equal(t, 2*time.Second, own.Failure().RetryAfter)

			l, ok := errors.AsType[*ratelimit.LimitedError](err)
			require.True(t, ok)
			assert.Equal(t, 2*time.Second, l.RateLimit().RetryAfter.Duration)
			typed, ok := errors.AsType[*fault.RateLimitError](err)
			require.True(t, ok)
			assert.Equal(t, []any{"groq", "m", "req_7"}, []any{typed.Provider, typed.Model, typed.RequestID})
		})
	}
}

func TestCodesAndIdsThatAreNoWordsAreLeftOut(t *testing.T) {
	err := ask(t, overChat(chat.Config{Model: "m"}), "500 Internal Server Error\nContent-Type: application/json\nX-Request-Id: a b\n\n"+
		`{"error":{"message":"m","type":"server_error","code":"two words, wiretest-secret-key"}}`)
	assert.Equal(t, "openai: 500 server_error: m", err.Error())
	err = ask(t, overChat(chat.Config{Model: "m", Provider: "openrouter"}), "402 Payment Required\nContent-Type: application/json\n\n"+`{"error":{"message":"m","code":402}}`)
	assert.Equal(t, "openrouter: 402 billing: m", err.Error())
}

func TestAConnectionThatCannotBeMade(t *testing.T) {
	broken := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
	model, err := over("http://server.invalid", broken, chat.Config{Model: "m"})
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), hello())
	assert.Equal(t, "openai: network: unexpected EOF", err.Error())
	own, _ := errors.AsType[*kit.Error](err)
	assert.Equal(t, fault.Network, own.Failure().Class)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

var letters = strings.Repeat("x", 1<<16)

// endless is a body without an end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, letters)
	e.read += n
	return n, nil
}

func (*endless) Close() error { return nil }

func TestBodiesWithoutAnEndAreCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		kind   string
		most   int
		text   string
	}{
		"refusal": {400, "text/plain", 1 << 20, "openai: 400 invalid_request: bad request"},
		"reply":   {200, "application/json", 64 << 20, "openai: 200 invalid_response: unreadable response: more than 64 MiB"},
		"stream":  {200, "text/event-stream", 64 << 20, "openai: 200 invalid_response: unreadable response: more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			body := &endless{}
			transport := roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: c.status, Header: http.Header{"Content-Type": {c.kind}}, Body: body, Request: r}, nil
			})
			model, err := over("http://server.invalid", &http.Client{Transport: transport}, chat.Config{Model: "m"})
			require.NoError(t, err)
			req := hello()
			req.Stream = func(loop.Delta) {}
			_, err = model.Reply(t.Context(), req)
			assert.Equal(t, c.text, err.Error())
			assert.LessOrEqual(t, body.read, c.most+1<<20)
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// stalled is a server that does not answer until the client leaves.
func stalled(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	return s
}

func TestATimeLimitOfTheClientIsNoDeadlineOfTheCaller(t *testing.T) {
	model, err := chat.New(&http.Client{Timeout: time.Millisecond}, chat.Config{URL: stalled(t).URL, API: chat.Responses, Model: "m"})
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), hello())
	assert.Equal(t, "openai: timeout: the client's own time limit for a request has passed", err.Error())
	require.NotErrorIs(t, err, context.DeadlineExceeded)
}

func TestTheCallersTimeAndWill(t *testing.T) {
	model, err := over(stalled(t).URL, &http.Client{}, chat.Config{Model: "m"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = model.Reply(ctx, hello())
	own, ok := errors.AsType[*kit.Error](err)
	require.True(t, ok)
	assert.Equal(t, fault.DeadlineExceeded, own.Class)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = model.Reply(ctx, hello())
	own, ok = errors.AsType[*kit.Error](err)
	require.True(t, ok)
	assert.Equal(t, fault.Cancelled, own.Class)
}

func TestRateLimitsOfGoodResponsesAreTold(t *testing.T) {
	var told []kit.Response
	s := kittest.Serve(t, strings.Replace(chatSays, "\n\n", "\nX-Request-Id: req_1\nX-Ratelimit-Remaining-Requests: 3\n\n", 1), "503 Service Unavailable\n\n")
	model, err := over(s.URL, s.Client, chat.Config{
		Model: "m", OnResponse: func(r kit.Response) { told = append(told, r) },
	})
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), hello())
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), hello())
	require.Error(t, err)
	require.Len(t, told, 1)
	assert.Equal(t, []string{"req_1", "m"}, []string{told[0].RequestID, told[0].Model})
	assert.Equal(t, int64(3), told[0].RateLimit.Windows[0].Remaining.N)
}

func TestAModelServesManyAtOnce(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, text, _ := strings.Cut(chatSays, "\n\n")
		if strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			text = "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
		}
		_, _ = io.WriteString(w, text)
	}))
	defer s.Close()
	model, err := over(s.URL, s.Client(), chat.Config{Model: "m"})
	require.NoError(t, err)
	shared := kittest.Asks()["foreign"]
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			req := shared
			if n%2 == 0 {
				req.Stream = func(loop.Delta) {}
			}
			reply, err := model.Reply(t.Context(), req)
			assert.NoError(t, err)
			assert.Equal(t, "Yes.", reply.Text)
		})
	}
	all.Wait()
}

func TestWhatAServerSaysOfTheModelsWordsIsCorrected(t *testing.T) {
	s := kittest.Serve(t, "400 Bad Request\nContent-Type: application/json\n\n"+
		`{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<f>"}}`, chatSays)
	model, err := overChat(chat.Config{Model: "m", Provider: "groq"}).New(s.URL, s.Client)
	require.NoError(t, err)
	held, err := session.New(session.Config{ID: "s"})
	require.NoError(t, err)
	tools, err := tool.NewSet(kittest.BookRoom())
	require.NoError(t, err)
	l, err := loop.New(model, loop.Config{Tools: tools})
	require.NoError(t, err)
	result, err := l.Run(t.Context(), held, loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	assert.Equal(t, "Yes.", result.Text)
	assert.Contains(t, bodyOf(t, s.Requests()[1]), `{"content":"Book.","role":"user"},{"content":"Automatic check`)
}

const doc, sse = "Content-Type: application/json\n\n", "200 OK\nContent-Type: text/event-stream\n\n"

// keys are the places in which a server repeats a key.
var keys = map[string]string{
	"auth": "401 Unauthorized\n" + doc + `{"error":{"message":"Incorrect API key provided: {key}. You can find your API key at ` +
		`https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
	"code":      "401 Unauthorized\n" + doc + `{"error":{"message":"no","type":"{key}","code":"{key}"}}`,
	"detail":    "403 Forbidden\n" + doc + `{"detail":"Bearer {key} may not use this model"}`,
	"words":     "502 Bad Gateway\nContent-Type: text/html\n\n<h1>upstream refused Authorization: Bearer {key}</h1>",
	"in a 200":  "200 OK\n" + doc + `{"error":{"message":"upstream: key={key} is exhausted","code":429}}`,
	"a request": "500 Internal Server Error\nX-Request-Id: {key}\n" + doc + `{"error":{"message":"no"}}`,
	"streamed":  sse + `data: {"error":{"message":"Incorrect API key provided: {key}","code":"invalid_api_key"}}` + "\n\n",
	"garbage":   sse + "data: Bearer {key}\n\n",
	"failed":    sse + `data: {"error":{"message":"api_key={key}"},"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"api_key={key}"}}}` + "\n\n",
}
