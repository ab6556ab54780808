package kittest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
)

var looptestEpoch = looptest.Epoch

func TestWire(t *testing.T) { wire(t, fakeAdapter()) }

// Only this test writes the snapshot that all adapters are compared with.
func TestStory(t *testing.T) {
	got := runStory(t, "testdata/story/two_bookings.txtar", fakeAdapter())
	if Rewriting() {
		require.NoError(t, os.WriteFile("testdata/snapshot.json", []byte(got), 0o644))
		return
	}
	assert.Equal(t, storySnapshot, got)
	stories(t, fakeAdapter())
}

func TestEveryCaseIsThereOrExcused(t *testing.T) {
	all := caseNames()
	assert.Empty(t, missing(all, nil))
	assert.Empty(t, missing(append(all[1:], "a_case_of_its_own"), map[string]string{all[0]: "has none"}))
	assert.Equal(t, []string{
		all[0] + " is there and excused: take it out of Without",
		all[1] + " is excused without a reason: give one",
		all[2] + ".txtar is missing: write it, or excuse it in Without",
		"nonsense is excused and no case: take it out of Without",
	}, missing(append(all[3:], all[0]), map[string]string{all[0]: "has none", all[1]: " ", "nonsense": "has none"}))
}

func TestResponsesAreRead(t *testing.T) {
	p, err := parseResponse("429 Too Many Requests\nretry-after: 2\nX-Kittest: cut\n\n{}\n\ndata\n")
	require.NoError(t, err)
	assert.Equal(t, response{status: 429, header: http.Header{"Retry-After": {"2"}}, body: "{}\n\ndata\n", order: "cut"}, p)

	p, err = parseResponse("HTTP/1.1 200 OK\n\nhello")
	require.NoError(t, err)
	assert.Equal(t, response{status: 200, header: http.Header{}, body: "hello"}, p)

	for raw, want := range map[string]string{
		"":                         "the first line must be a status",
		"OK\n\n":                   "the first line must be a status",
		"99 Odd\n\n":               "the first line must be a status",
		"200 OK\nnonsense\n\n":     "headers: ",
		"200\nX-Kittest: no\n\n{}": `X-Kittest: must be cut or hang, is "no"`,
	} {
		_, err := parseResponse(raw)
		assert.ErrorContains(t, err, want, "%q", raw)
	}
}

func TestAsksAreRead(t *testing.T) {
	a, err := readAsk([]byte(`{"ask": "both", "system": "", "messages": [{"role": "user", "text": "Hi."}], "tools": ["hotel.find"], "output": null, "stream": true}`))
	require.NoError(t, err)
	req, err := a.request()
	require.NoError(t, err)
	assert.Empty(t, req.System)
	assert.Equal(t, 1, len(req.Messages))
	assert.Equal(t, "hotel.find", req.Tools[0].Name())
	assert.Nil(t, req.Output)
	assert.NotNil(t, req.Stream)

	for doc, want := range map[string]string{
		`{"ask": "plain", "model": "x"}`:     "ask: ",
		``:                                   "ask: ",
		`{"ask": "plane"}`:                   `"plane" is none of both, corrected, foreign, garbled, output, plain, tools`,
		`{"ask": "plain", "tools": ["x"]}`:   `tools: "x" is neither book_room nor hotel.find`,
		`{"ask": "plain", "output": [1, 2]}`: "ask: output: ",
	} {
		a, err := readAsk([]byte(doc))
		if err == nil {
			_, err = a.request()
		}
		assert.ErrorContains(t, err, want, doc)
	}
}

func TestFilesAreChecked(t *testing.T) {
	for body, want := range map[string]string{
		"-- ask --\n{}\n-- response-1 --\n":             "the comment at the top must tell the story",
		"A story.\n-- ask --\n{}\n-- response-2 --\n":   `there is no section "response-2"`,
		"A story.\n-- response-1 --\n-- request-2 --\n": `there is no section "request-2"`,
	} {
		r := &recorder{TB: t}
		path := filepath.Join(t.TempDir(), "case.txtar")
		require.NoError(t, os.WriteFile(path, []byte(body), 0o644))
		r.run(func() { readFile(r, path) })
		assert.Contains(t, r.said(), want)
	}
}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	lines   []string
	cleanup []func()
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, a ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, a...))
}
func (r *recorder) Cleanup(f func()) { r.cleanup = append(r.cleanup, f) }
func (r *recorder) FailNow()         { panic(r) }
func (r *recorder) said() string     { return strings.Join(r.lines, "\n") }

func (r *recorder) run(f func()) {
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
	}()
	f()
}

const good = "200 OK\n\n" + `{"Reply": {"text": "Hello."}}` + "\n"

// The kit finds these mistakes.
func TestFaultsOfAdaptersAreFound(t *testing.T) {
	reply := message.Reply{Text: "Hello.", Usage: message.Usage{APICalls: 1}}
	twins := message.Reply{Calls: []message.Call{{ID: "c1", Name: "a"}, {ID: "c1", Name: "b"}, {Name: "c"}}, Usage: message.Usage{APICalls: 1}}
	for name, c := range map[string]struct {
		model loop.ModelFunc
		want  string
	}{
		"no request":      {func(context.Context, loop.Request) (message.Reply, error) { return reply, nil }, "0 requests came in, 1 are scripted"},
		"two requests":    {posting(2, reply, nil), "request 2 came in, 1 are scripted"},
		"open body":       {leaving(reply), "1 response bodies were left open"},
		"no API call":     {posting(1, message.Reply{Text: "Hello."}, nil), "API calls"},
		"twins":           {posting(1, twins, nil), "two calls have the same id"},
		"no id":           {posting(1, twins, nil), "a call without an id"},
		"reply and error": {posting(1, reply, errors.New("lost")), "a reply beside an error"},
		"key":             {posting(1, message.Reply{}, errors.New("refused: "+Key)), "the key is in the error's text"},
		"deltas":          {posting(1, message.Reply{Text: "Hell.", Usage: reply.Usage}, nil), "the deltas' text"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{TB: t}
			s := Serve(r, good)
			r.run(func() {
				ask(r, s, bound{c.model, s}, loop.Request{Stream: func(loop.Delta) {}})
				s.finish()
			})
			assert.Contains(t, r.said(), c.want)
		})
	}
}

// bound gives a model function its server through the request's context.
type bound struct {
	model loop.ModelFunc
	s     *Server
}

type serverKey struct{}

func (b bound) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	return b.model(context.WithValue(ctx, serverKey{}, b.s), req)
}

func posting(times int, reply message.Reply, err error) loop.ModelFunc {
	return func(ctx context.Context, req loop.Request) (message.Reply, error) {
		for range times {
			resp, err := post(ctx)
			if err != nil {
				return message.Reply{}, err
			}
			resp.Body.Close()
		}
		req.Stream(loop.Delta{Call: -1, Text: "Hello."})
		return reply, err
	}
}

func leaving(reply message.Reply) loop.ModelFunc {
	return func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		_, err := post(ctx)
		return reply, err
	}
}

func post(ctx context.Context) (*http.Response, error) {
	s, _ := ctx.Value(serverKey{}).(*Server)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/ask", strings.NewReader("Hi."))
	if err != nil {
		return nil, err
	}
	return s.Client.Do(r)
}

func TestRequestsAreShownWithoutWhatChangesAndWithoutTheKey(t *testing.T) {
	s := Serve(t, good)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1?key="+Key, strings.NewReader(`{"b":[1],"a":1.50}`))
	require.NoError(t, err)
	for name, value := range map[string]string{"X-Api-Key": Key, "X-Stainless-Os": "Linux", "X-Stainless-Retry-Count": "0", "User-Agent": "go"} {
		r.Header.Set(name, value)
	}
	resp, err := s.Client.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, `{"Reply": {"text": "Hello."}}`+"\n", string(body))
	assert.Equal(t, []string{`POST /v1?key=redacted
x-api-key: redacted
x-stainless-retry-count: 0

{
  "b": [
    1
  ],
  "a": 1.50
}
`}, s.Requests())
}
