package claude_test

import (
	"cmp"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
)

// adapter has the scripts of the adapter with the SDK. Its requests have the one header of the SDK that the
// scripts show.
func adapter(version string) kittest.Config {
	return kittest.Config{New: func(url string, c *http.Client) (loop.Model, error) {
		own, next := *c, cmp.Or(c.Transport, http.DefaultTransport)
		own.Transport = answering(func(r *http.Request) (*http.Response, error) {
			r.Header.Set("X-Stainless-Retry-Count", "0")
			return next.RoundTrip(r)
		})
		return claude.New(&own, claude.Config{URL: url, Key: kittest.Key, Version: version, Model: "claude-sonnet-5-5", MaxTokens: 1024})
	}, Whole: []string{yes}, Streams: []string{yesEvents}, Keys: keys, Accepts: accepts, Scripts: "../../anthropic/testdata", Opaque: opaques("claude-sonnet-5-5")}
}

func TestAdapter(t *testing.T) { kittest.Run(t, adapter(claude.Version2023)) }

// The newest version is asked for, unless another one is named.
func TestTheVersionOfTheAPIIsAskedFor(t *testing.T) {
	for version, want := range map[string]string{"": "2026-10-21", claude.Version2023: "2023-06-01"} {
		s := kittest.Serve(t, "200 OK\n\n"+yes)
		m, err := adapter(version).New(s.URL, s.Client)
		require.NoError(t, err)
		_, err = m.Reply(t.Context(), kittest.Asks()["plain"])
		require.NoError(t, err)
		assert.Contains(t, s.Requests()[0], "anthropic-version: "+want+"\n")
	}
}

// A limiter tells servers apart.
func TestAModelNamesItsProvider(t *testing.T) {
	for address, want := range map[string]string{"": "anthropic", "https://gateway.example/v1": "gateway.example"} {
		model, err := claude.New(nil, claude.Config{URL: address, Key: "k", Model: "m", MaxTokens: 5})
		require.NoError(t, err)
		assert.Equal(t, machine.ModelInfo{Name: "m", Provider: want, MaxOutputTokens: 5}, model.Describe())
	}
}

// Observers are told the address of a server that refused a call.
func TestARefusalHasItsSource(t *testing.T) {
	s := kittest.Serve(t, "401 Unauthorized\n\n")
	m, err := adapter("").New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := m.Reply(t.Context(), kittest.Asks()["plain"])
	require.Error(t, err)
	assert.Equal(t, "127.0.0.1", reply.Source.Host)
}
