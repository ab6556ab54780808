package ollama_test

import (
	"net/http"
	"testing"

	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/adapter/ollama"
	"github.com/retake-go/retake/loop"
)

func adapter(change func(*ollama.Config)) kittest.Adapter {
	return kittest.Adapter{
		New: func(url string, client *http.Client) (loop.Model, error) {
			cfg := ollama.Config{URL: url, Key: kittest.Key, Model: "qwen3:8b", Temperature: new(0.0), MaxTokens: 500}
			change(&cfg)
			return ollama.New(client, cfg)
		},
		Without: map[string]string{"refusal": "the API has no refusals: a model declines in plain text"},
	}
}

func plain(*ollama.Config) {}

func TestWire(t *testing.T) { kittest.Run(t, "testdata/wire", adapter(plain)) }

func TestStory(t *testing.T) { kittest.Story(t, "testdata/story", adapter(plain)) }

func TestBodies(t *testing.T) { kittest.Bodies(t, adapter(plain), "application/x-ndjson") }

func TestRedirects(t *testing.T) {
	kittest.Redirects(t, adapter(plain), `{"model":"m","message":{"content":"Yes."},"done":true,"done_reason":"stop"}`)
}

func TestBrokenConnections(t *testing.T) { kittest.Broken(t, adapter(plain)) }

func TestForms(t *testing.T) {
	const yes = `{"model":"m","message":{"content":"Yes."},"done":true,"done_reason":"stop"}`
	kittest.Forms(t, adapter(plain), yes, "")
	lines := `{"model":"m","message":{"content":"Y"},"done":false}` + "\n" + `{"model":"m","message":{"content":"es."},"done":false}` + "\n" + `{"model":"m","done":true,"done_reason":"stop"}` + "\n"
	kittest.Forms(t, adapter(plain), lines, "")
}
