package openai_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/adapter/openai"
	"github.com/retake-go/retake/loop"
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

func chat(cfg openai.Config) kittest.Adapter {
	return kittest.Adapter{New: func(url string, c *http.Client) (loop.Model, error) { return openai.New(client(url, c), cfg) }}
}

func responses(cfg openai.Config) kittest.Adapter {
	cfg.API = openai.Responses
	return kittest.Adapter{New: func(url string, c *http.Client) (loop.Model, error) { return openai.New(client(url, c), cfg) }}
}

func TestChatWire(t *testing.T) {
	kittest.Run(t, "testdata/chat/wire", chat(openai.Config{Model: "gpt-4.1"}))
}

func TestChatStory(t *testing.T) {
	kittest.Story(t, "testdata/chat/story", chat(openai.Config{Model: "gpt-4.1"}))
}

func TestResponsesWire(t *testing.T) {
	kittest.Run(t, "testdata/responses/wire", responses(openai.Config{Model: "gpt-5", Effort: "low"}))
}

func TestResponsesStory(t *testing.T) {
	kittest.Story(t, "testdata/responses/story", responses(openai.Config{Model: "gpt-5", Effort: "low"}))
}

func TestBodies(t *testing.T) {
	t.Run("chat", func(t *testing.T) { kittest.Bodies(t, chat(openai.Config{Model: "m"}), "text/event-stream") })
	t.Run("responses", func(t *testing.T) { kittest.Bodies(t, responses(openai.Config{Model: "m"}), "text/event-stream") })
}

func TestRedirects(t *testing.T) {
	_, yes, _ := strings.Cut(chatSays, "\n\n")
	t.Run("chat", func(t *testing.T) { kittest.Redirects(t, chat(openai.Config{Model: "m"}), yes) })
	_, yes, _ = strings.Cut(responsesSays, "\n\n")
	t.Run("responses", func(t *testing.T) { kittest.Redirects(t, responses(openai.Config{Model: "m"}), yes) })
}

func TestBrokenConnections(t *testing.T) {
	t.Run("chat", func(t *testing.T) { kittest.Broken(t, chat(openai.Config{Model: "m"})) })
	t.Run("responses", func(t *testing.T) { kittest.Broken(t, responses(openai.Config{Model: "m"})) })
}

func TestForms(t *testing.T) {
	const done = "data: [DONE]\n\n"
	_, whole, _ := strings.Cut(chatSays, "\n\n")
	t.Run("chat", func(t *testing.T) {
		kittest.Forms(t, chat(openai.Config{Model: "m"}), whole, "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\n"+done)
	})
	t.Run("chat, whole in an event", func(t *testing.T) {
		kittest.Forms(t, chat(openai.Config{Model: "m"}), whole, "data: "+whole+"\n\n"+done)
	})
	_, whole, _ = strings.Cut(responsesSays, "\n\n")
	t.Run("responses", func(t *testing.T) {
		kittest.Forms(t, responses(openai.Config{Model: "m"}), whole, `data: {"type":"response.output_text.delta","output_index":0,"delta":"Yes."}`+"\n\n"+
			`data: {"type":"response.completed","response":`+whole+"}\n\n")
	})
	t.Run("responses, whole in an event", func(t *testing.T) {
		kittest.Forms(t, responses(openai.Config{Model: "m"}), whole, "data: "+whole+"\n\n"+done)
	})
}
