package genai_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/genai"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
)

// gemini is a client of the Gemini API with retries, which the adapter must switch off.
func gemini(url string, client *http.Client) (*sdk.Client, error) {
	return sdk.NewClient(context.Background(), &sdk.ClientConfig{
		APIKey: kittest.Key, Backend: sdk.BackendGeminiAPI, HTTPClient: client,
		HTTPOptions: sdk.HTTPOptions{BaseURL: url, RetryOptions: &sdk.HTTPRetryOptions{}},
	})
}

func adapter(model string) kittest.Config {
	return kittest.Config{New: func(url string, client *http.Client) (loop.Model, error) {
		c, err := gemini(url, client)
		if err != nil {
			return nil, err
		}
		return genai.New(c, genai.Config{
			Model: model, MaxTokens: 500, Temperature: new(0.5), TopP: new(0.9), Seed: new(int64(7)),
			Thinking: genai.Thinking{Level: "low"},
		})
	}, Whole: []string{yes}, Streams: []string{"data: " + yes + "\n\n"}, Keys: keys, Accepts: accepts, Scripts: "testdata",
		Opaque: []string{
			`{"adapter":"genai","model":"gemini-3-pro","parts":[{"text":5},{"call":1,"signature":"cw=="}]}`,
			`{"adapter":"genai","model":"gemini-3-pro","parts":[{"raw":{"thought":true}},{"text":0,"signature":"cw=="}]}`,
			`{"adapter":"genai","model":"gemini-3-pro","parts":[{"raw":"x"},{"text":-1},{"call":7}]}`,
		}}
}

const yes = `{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}]}`

func TestAdapter(t *testing.T) { kittest.Run(t, adapter("gemini-3-pro")) }

// Observers are told the address of a server that refused a call.
func TestARefusalHasItsSource(t *testing.T) {
	s := kittest.Serve(t, "401 Unauthorized\n\n")
	m, err := adapter("gemini-3-pro").New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := m.Reply(t.Context(), kittest.Asks()["plain"])
	require.Error(t, err)
	assert.Equal(t, "127.0.0.1", reply.Source.Host)
}
