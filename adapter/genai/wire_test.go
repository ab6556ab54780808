package genai_test

import (
	"context"
	"net/http"
	"testing"

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

func adapter(model string) kittest.Adapter {
	return kittest.Adapter{New: func(url string, client *http.Client) (loop.Model, error) {
		c, err := gemini(url, client)
		if err != nil {
			return nil, err
		}
		return genai.New(c, genai.Config{
			Model: model, MaxTokens: 500, Temperature: new(0.5), TopP: new(0.9), Seed: new(int64(7)),
			Thinking: genai.Thinking{Level: "low"},
		})
	}}
}

func TestWire(t *testing.T) { kittest.Run(t, "testdata/wire", adapter("gemini-3-pro")) }

func TestStory(t *testing.T) { kittest.Story(t, "testdata/story", adapter("gemini-3-pro")) }

func TestBodies(t *testing.T) { kittest.Bodies(t, adapter("gemini-3-pro"), "text/event-stream") }

func TestRedirects(t *testing.T) {
	kittest.Redirects(t, adapter("gemini-3-pro"), `{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}]}`)
}

func TestBrokenConnections(t *testing.T) { kittest.Broken(t, adapter("gemini-3-pro")) }

func TestForms(t *testing.T) {
	const yes = `{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}]}`
	kittest.Forms(t, adapter("gemini-3-pro"), yes, "data: "+yes+"\n\n")
}
