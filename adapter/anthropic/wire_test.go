package anthropic_test

import (
	"net/http"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/retake-go/retake/adapter/anthropic"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
)

func adapter() kittest.Adapter {
	return kittest.Adapter{New: func(url string, client *http.Client) (loop.Model, error) {
		c := sdk.NewClient(option.WithBaseURL(url), option.WithHTTPClient(client), option.WithAPIKey(kittest.Key), option.WithMaxRetries(5))
		return anthropic.New(c, anthropic.Config{Model: "claude-sonnet-5-5", MaxTokens: 1024})
	}}
}

func TestWire(t *testing.T)  { kittest.Run(t, "testdata/wire", adapter()) }
func TestStory(t *testing.T) { kittest.Story(t, "testdata/story", adapter()) }

func TestBodies(t *testing.T) { kittest.Bodies(t, adapter(), "text/event-stream") }

func TestRedirects(t *testing.T) { kittest.Redirects(t, adapter(), yes) }

func TestBrokenConnections(t *testing.T) { kittest.Broken(t, adapter()) }

func TestForms(t *testing.T) { kittest.Forms(t, adapter(), yes, yesEvents) }
