package genai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/genai"
	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

func model(t *testing.T, url string, client *http.Client) *genai.Model {
	t.Helper()
	c, err := gemini(url, client)
	require.NoError(t, err)
	m, err := genai.New(c, genai.Config{Model: "gemini-3-pro"})
	require.NoError(t, err)
	return m
}

// Vertex AI refuses a bound above the model's own, such as what is left of a budget.
func TestARefusedBoundNamesTheSetting(t *testing.T) {
	s := kittest.Serve(t, "400 Bad Request\nContent-Type: application/json\n\n"+`{"error":{"code":400,"message":"Unable to submit request because it has a maxOutputTokens value of 83333 `+
		`but the supported range is from 1 (inclusive) to 65536 (exclusive). Update the value and try again.","status":"INVALID_ARGUMENT"}}`)
	_, err := model(t, s.URL, s.Client).Reply(t.Context(), loop.Request{Messages: []message.Message{{Role: message.User, Text: "Hello."}}})
	require.ErrorContains(t, err, "(set Config.MaxTokens to the most that the model can write)")
}

func TestAnErrorHasItsCausesInItsChain(t *testing.T) {
	s := kittest.Serve(t, "429 Too Many Requests\n\n"+`{"error":{"code":429,"message":"Slow\ndown.","status":"RESOURCE_EXHAUSTED"}}`)
	_, err := model(t, s.URL, s.Client).Reply(t.Context(), loop.Request{})
	var own *kit.Error
	require.ErrorAs(t, err, &own)
	assert.Equal(t, 429, own.Status)
	assert.Equal(t, "RESOURCE_EXHAUSTED", own.Code)
	assert.Equal(t, fault.RateLimit, own.Class)
	var limited *ratelimit.LimitedError
	require.ErrorAs(t, err, &limited)
	var typed *fault.RateLimitError
	require.ErrorAs(t, err, &typed)
	var api sdk.APIError
	require.ErrorAs(t, err, &api)
	assert.EqualError(t, err, "genai: 429 RESOURCE_EXHAUSTED: Slow down.")
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
		"client's":  {context.DeadlineExceeded, fault.Timeout},
		"cancelled": {context.Canceled, fault.Cancelled},
	} {
		for _, stream := range []func(loop.Delta){nil, func(loop.Delta) {}} {
			_, err := model(t, "http://gemini.example", &http.Client{Transport: refusing{c.err}}).Reply(t.Context(), loop.Request{Stream: stream})
			var own *kit.Error
			require.ErrorAs(t, err, &own, name)
			assert.Equal(t, c.want, own.Class, name)
			assert.Zero(t, own.Status)
			assert.Equal(t, name != "client's", errors.Is(err, c.err), "%s: a time limit of the client's is no deadline", name)
			assert.NotContains(t, err.Error(), "gemini.example", "an address is in the text")
		}
	}
}

// cutting answers with a body that breaks off.
type cutting struct{ body string }

func (c cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.MultiReader(strings.NewReader(c.body), broken{})
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestALineThatIsCutIsABrokenConnectionAndNoGarbage(t *testing.T) {
	for _, stream := range []func(loop.Delta){nil, func(loop.Delta) {}} {
		m := model(t, "http://gemini.example", &http.Client{Transport: cutting{`data: {"candidates":[{"cont`}})
		_, err := m.Reply(t.Context(), loop.Request{Stream: stream})
		require.EqualError(t, err, "genai: 200 network: unexpected EOF")
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
}

func TestAStreamThatIsCutAnywhereIsABrokenConnection(t *testing.T) {
	const stream = `data: {"candidates":[{"content":{"parts":[{"text":"Hé"}]}}]}` + "\n\n" +
		`data: {"candidates":[{"content":{"parts":[{"text":"llo"}]},"finishReason":"STOP"}]}`
	ask := func(body string) (message.Reply, error) {
		m := model(t, "http://gemini.example", &http.Client{Transport: ending{body}})
		return m.Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	}
	for cut := range len(stream) {
		_, err := ask(stream[:cut])
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, stream[:cut])
		require.ErrorContains(t, err, "genai: 200 network", stream[:cut])
	}
	reply, err := ask(stream)
	require.NoError(t, err)
	assert.Equal(t, "Héllo", reply.Text)
	for _, garbage := range []string{"<html>", "data: {\n\n", "data: <"} {
		_, err := ask(garbage)
		require.ErrorContains(t, err, "invalid_response", garbage)
	}
}

// ending answers with a body that ends normally.
type ending struct{ body string }

func (e ending) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(e.body)), Request: r}, nil
}

func TestABodyWithoutEndIsRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := strings.Repeat("x", 1<<20)
		for range 70 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	_, err := model(t, server.URL, server.Client()).Reply(t.Context(), loop.Request{})
	require.ErrorContains(t, err, "more than 64 MiB")
}

func TestNumbersOfTheHistoryAreExact(t *testing.T) {
	s := kittest.Serve(t, "200 OK\n\n"+done)
	said := []message.Message{
		{Role: message.User, Text: "Cancel it."},
		{Role: message.Assistant, Calls: []message.Call{{ID: "c1", Name: "cancel", Arguments: `{"id":9007199254740993,"at":1.50}`}}},
		{Role: message.Tool, CallID: "c1", Name: "cancel", Text: `{"left":9007199254740993}`},
	}
	_, err := model(t, s.URL, s.Client).Reply(t.Context(), loop.Request{Messages: said})
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(s.Requests()[0], "9007199254740993"))
	assert.Contains(t, s.Requests()[0], "1.50")
}

func TestADeadlineOfTheCallersIsNoTimeout(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	_, err := model(t, "http://gemini.example", &http.Client{Transport: refusing{errors.New("unreached")}}).Reply(ctx, loop.Request{})
	var own *kit.Error
	require.ErrorAs(t, err, &own)
	assert.Equal(t, fault.DeadlineExceeded, own.Class)
}

func TestAModelMayBeAskedByManyAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Contents []struct{ Parts []struct{ Text string } }
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":%q}]},\"finishReason\":\"STOP\"}]}\n\n", asked.Contents[0].Parts[0].Text)
	}))
	defer server.Close()
	m := model(t, server.URL, server.Client())
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

const doc, sse = "Content-Type: application/json\n\n", "200 OK\nContent-Type: text/event-stream\n\n"

// keys are the places in which the API repeats a key.
var keys = map[string]string{
	"auth": "400 Bad Request\n" + doc + `{"error":{"code":400,"message":"API key not valid: {key}. Please pass a valid API key.","status":"INVALID_ARGUMENT",` +
		`"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","metadata":{"key":"{key}"}}]}}`,
	"status":   "403 Forbidden\n" + doc + `{"error":{"code":403,"message":"no","status":"{key}"}}`,
	"ids":      "500 Internal Server Error\nX-Request-Id: {key}\n" + doc + `{"error":{"code":500,"message":"no"}}`,
	"words":    "502 Bad Gateway\nContent-Type: text/html\n\n<h1>GET /v1beta/models?key={key} was refused</h1>",
	"in a 200": "200 OK\n" + doc + `{"error":{"code":429,"message":"Bearer {key} is exhausted","status":"RESOURCE_EXHAUSTED"}}`,
	"finish":   "200 OK\n" + doc + `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"token={key}"}]}`,
	"streamed": sse + `data: {"error":{"code":503,"message":"key={key} is overloaded","status":"UNAVAILABLE"}}` + "\n\n",
	"garbage":  sse + "data: Bearer {key}\n\n",
}

// A response without an id of its own has that of Google's front end, or of a gateway.
func TestTheIDOfARequestIsInAHeaderToo(t *testing.T) {
	for body, want := range map[string]string{`,"responseId":"r-1"`: "r-1", "": "g-1"} {
		s := kittest.Serve(t, "200 OK\nContent-Type: application/json\nX-Goog-Request-Id: g-1\n\n"+
			`{"candidates":[{"content":{"parts":[{"text":"4"}]},"finishReason":"STOP"}]`+body+`}`)
		c, err := gemini(s.URL, s.Client)
		require.NoError(t, err)
		var told kit.Response
		m, err := genai.New(c, genai.Config{Model: "m", OnResponse: func(r kit.Response) { told = r }})
		require.NoError(t, err)
		_, err = m.Reply(t.Context(), loop.Request{})
		require.NoError(t, err)
		assert.Equal(t, want, told.RequestID)
	}
}

// A prompt that was blocked has no finish reason: the reason of the block is told in its place. Some have
// only a message of it.
func TestABlockedPromptSaysWhy(t *testing.T) {
	for feedback, want := range map[string]string{
		`{"blockReason":"PROHIBITED_CONTENT","blockReasonMessage":"No."}`: "PROHIBITED_CONTENT", `{"blockReasonMessage":"No."}`: "BLOCKED_REASON_UNSPECIFIED",
	} {
		server := kittest.Serve(t, "200 OK\nContent-Type: application/json\n\n"+`{"candidates":[],"promptFeedback":`+feedback+`}`)
		m, err := adapter("gemini-3-flash").New(server.URL, server.Client)
		require.NoError(t, err)
		reply, err := m.Reply(t.Context(), loop.Request{System: "Hi."})
		require.NoError(t, err, feedback)
		assert.Equal(t, message.ContentFilter, reply.Finish, feedback)
		assert.Equal(t, want, reply.Source.Finish, feedback)
	}
}
