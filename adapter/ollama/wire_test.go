package ollama_test

import (
	"net/http"
	"testing"

	"github.com/retake-go/retake/adapter/internal/wiretest"
	"github.com/retake-go/retake/adapter/ollama"
	"github.com/retake-go/retake/loop"
)

func adapter(change func(*ollama.Config)) wiretest.Adapter {
	return wiretest.Adapter{
		New: func(url string, client *http.Client) (loop.Model, error) {
			cfg := ollama.Config{URL: url, Key: wiretest.Key, Model: "qwen3:8b", Temperature: new(0.0), MaxTokens: 500}
			change(&cfg)
			return ollama.New(client, cfg)
		},
		Without: map[string]string{"refusal": "the API has no refusals: a model declines in plain text"},
	}
}

func plain(*ollama.Config) {}

func TestWire(t *testing.T) { wiretest.Run(t, "testdata/wire", adapter(plain)) }

func TestStory(t *testing.T) { wiretest.Story(t, "testdata/story", adapter(plain)) }

func TestBodies(t *testing.T) { wiretest.Bodies(t, adapter(plain), "application/x-ndjson") }

func TestRedirects(t *testing.T) {
	wiretest.Redirects(t, adapter(plain), `{"model":"m","message":{"content":"Yes."},"done":true,"done_reason":"stop"}`)
}

func TestBrokenConnections(t *testing.T) { wiretest.Broken(t, adapter(plain)) }

func TestForms(t *testing.T) {
	const yes = `{"model":"m","message":{"content":"Yes."},"done":true,"done_reason":"stop"}`
	wiretest.Forms(t, adapter(plain), yes, "")
	lines := `{"model":"m","message":{"content":"Y"},"done":false}` + "\n" + `{"model":"m","message":{"content":"es."},"done":false}` + "\n" + `{"model":"m","done":true,"done_reason":"stop"}` + "\n"
	wiretest.Forms(t, adapter(plain), lines, "")
}
