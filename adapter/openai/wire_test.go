package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/adapter/openai"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
)

// TestMain removes settings of the machine, because the SDK reads them from the environment.
func TestMain(m *testing.M) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OPENAI_") {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	m.Run()
}

// client is a client with retries, which a model switches off.
func client(url string, c *http.Client) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(url+"/v1/"), option.WithAPIKey(kittest.Key), option.WithHTTPClient(c), option.WithMaxRetries(3))
}

// adapter tests an API with the scripts of a directory.
func adapter(cfg chat.Config, scripts, whole, stream string) kittest.Config {
	return kittest.Config{
		New:   func(url string, c *http.Client) (loop.Model, error) { return openai.New(client(url, c), cfg) },
		Whole: []string{whole}, Streams: []string{stream}, Scripts: scripts,
	}
}

func TestChat(t *testing.T) {
	kittest.Run(t, adapter(chat.Config{Model: "gpt-4.1"}, "testdata/chat",
		`{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`,
		`data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n"))
}

func TestResponses(t *testing.T) {
	const whole = `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Yes."}]}]}`
	kittest.Run(t, adapter(chat.Config{API: chat.Responses, Model: "gpt-5", Effort: "low"}, "testdata/responses", whole,
		`data: {"type":"response.output_text.delta","output_index":0,"delta":"Yes."}`+"\n\n"+
			`data: {"type":"response.completed","response":`+whole+"}\n\n"))
}

// The SDK's own error is in the chain.
func TestTheErrorOfTheSDKIsReached(t *testing.T) {
	s := kittest.Serve(t, "429 Too Many Requests\nContent-Type: application/json\n\n"+`{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`)
	model, err := openai.New(client(s.URL, s.Client), chat.Config{Model: "m"})
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), kittest.Asks()["plain"])
	theirs, ok := errors.AsType[*sdk.Error](err)
	require.True(t, ok)
	assert.Equal(t, "rate_limit_exceeded", theirs.Code)
}

// The address and the key are the client's.
func TestTheClientHasTheAddress(t *testing.T) {
	_, err := openai.New(sdk.NewClient(), chat.Config{Model: "m", URL: "http://localhost"})
	require.EqualError(t, err, "openai: URL and Key: are those of the client: remove them")
}

func TestATimeLimitOfTheClientIsNoDeadlineOfTheCaller(t *testing.T) {
	stalled := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(stalled.Close)
	model, err := openai.New(sdk.NewClient(option.WithBaseURL(stalled.URL), option.WithAPIKey("k"), option.WithRequestTimeout(time.Millisecond)), chat.Config{Model: "m"})
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), kittest.Asks()["plain"])
	assert.Equal(t, "openai: timeout: the client's own time limit for a request has passed", err.Error())
	require.NotErrorIs(t, err, context.DeadlineExceeded)
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
		{"openai", nil},
		{"gateway.example", []option.RequestOption{option.WithBaseURL("https://gateway.example/v1")}},
	} {
		model, err := openai.New(sdk.NewClient(append(c.options, unsent)...), chat.Config{Model: "m", MaxTokens: 5})
		require.NoError(t, err)
		assert.Equal(t, machine.ModelInfo{Name: "m", Provider: c.want, MaxOutputTokens: 5}, model.Describe())
	}
	named, err := openai.New(client("https://api.groq.com", nil), chat.Config{Model: "m", Provider: "groq"})
	require.NoError(t, err)
	assert.Equal(t, "groq", named.Describe().Provider)
}

func TestAClientThatNobodyMadeIsNamed(t *testing.T) {
	_, err := openai.New(sdk.Client{}, chat.Config{Model: "m"})
	require.EqualError(t, err, "openai: the client is empty: make one with NewClient of the SDK")
}
