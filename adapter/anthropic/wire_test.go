package anthropic_test

import (
	"net/http"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/anthropic"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
)

func adapter() kittest.Config {
	return kittest.Config{New: func(url string, client *http.Client) (loop.Model, error) {
		c := sdk.NewClient(option.WithBaseURL(url), option.WithHTTPClient(client), option.WithAPIKey(kittest.Key), option.WithMaxRetries(5))
		return anthropic.New(c, anthropic.Config{Model: "claude-sonnet-5-5", MaxTokens: 1024})
	}, Whole: []string{yes}, Streams: []string{yesEvents}, Keys: keys, Accepts: accepts, Scripts: "testdata", Opaque: opaques("claude-sonnet-5-5")}
}

func TestAdapter(t *testing.T) { kittest.Run(t, adapter()) }

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
		model, err := anthropic.New(sdk.NewClient(append(c.options, unsent)...), anthropic.Config{Model: "m", MaxTokens: 5})
		require.NoError(t, err)
		assert.Equal(t, machine.ModelInfo{Name: "m", Provider: c.want, MaxOutputTokens: 5}, model.Describe())
	}
}

// Observers are told the address of a server that refused a call.
func TestARefusalHasItsSource(t *testing.T) {
	s := kittest.Serve(t, "401 Unauthorized\n\n")
	m, err := adapter().New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := m.Reply(t.Context(), kittest.Asks()["plain"])
	require.Error(t, err)
	assert.Equal(t, "127.0.0.1", reply.Source.Host)
}
