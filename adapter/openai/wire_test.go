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

func chat(cfg openai.Config) kittest.Config {
	const done = "data: [DONE]\n\n"
	_, whole, _ := strings.Cut(chatSays, "\n\n")
	return kittest.Config{
		New:   func(url string, c *http.Client) (loop.Model, error) { return openai.New(client(url, c), cfg) },
		Whole: []string{whole}, Streams: []string{
			"data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\n" + done,
			"data: " + whole + "\n\n" + done, // whole in an event
		},
		Keys: keys, Accepts: chatAccepts, Scripts: "testdata/chat",
	}
}

func responses(cfg openai.Config) kittest.Config {
	cfg.API = openai.Responses
	_, whole, _ := strings.Cut(responsesSays, "\n\n")
	return kittest.Config{
		New:   func(url string, c *http.Client) (loop.Model, error) { return openai.New(client(url, c), cfg) },
		Whole: []string{whole}, Streams: []string{
			`data: {"type":"response.output_text.delta","output_index":0,"delta":"Yes."}` + "\n\n" +
				`data: {"type":"response.completed","response":` + whole + "}\n\n",
			"data: " + whole + "\n\ndata: [DONE]\n\n",
		},
		Keys: keys, Accepts: responsesAccepts, Scripts: "testdata/responses",
	}
}

func TestChat(t *testing.T) { kittest.Run(t, chat(openai.Config{Model: "gpt-4.1"})) }

func TestResponses(t *testing.T) {
	kittest.Run(t, responses(openai.Config{Model: "gpt-5", Effort: "low"}))
}
