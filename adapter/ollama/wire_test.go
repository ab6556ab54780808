package ollama_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/adapter/ollama"
	"github.com/retake-go/retake/loop"
)

func adapter(change func(*ollama.Config)) kittest.Config {
	return kittest.Config{
		New: func(url string, client *http.Client) (loop.Model, error) {
			cfg := ollama.Config{URL: url, Key: kittest.Key, Model: "qwen3:8b", Temperature: new(0.0), MaxTokens: 500}
			change(&cfg)
			return ollama.New(client, cfg)
		},
		Whole: []string{yes, `{"model":"m","message":{"content":"Y"},"done":false}` + "\n" + `{"model":"m","message":{"content":"es."},"done":false}` + "\n" +
			`{"model":"m","done":true,"done_reason":"stop"}` + "\n"},
		StreamType: "application/x-ndjson", Keys: keys, Accepts: accepts,
		Opaque:  []string{`{"adapter":"ollama","model":"qwen3:8b","thinking":"Hm."}`, `{"adapter":"ollama","model":"other","thinking":"Hm."}`, `{"adapter":"ollama","model":"qwen3:8b","thinking":1}`},
		Scripts: "testdata", Without: map[string]string{"refusal": "the API has no refusals: a model declines in plain text"},
	}
}

func plain(*ollama.Config) {}

const yes = `{"model":"m","message":{"content":"Yes."},"done":true,"done_reason":"stop"}`

func TestAdapter(t *testing.T) { kittest.Run(t, adapter(plain)) }

// Observers are told the address of a server that refused a call.
func TestARefusalHasItsSource(t *testing.T) {
	s := kittest.Serve(t, "401 Unauthorized\n\n")
	m, err := adapter(plain).New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := m.Reply(t.Context(), kittest.Asks()["plain"])
	require.Error(t, err)
	assert.Equal(t, "127.0.0.1", reply.Source.Host)
}
