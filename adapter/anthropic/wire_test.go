package anthropic_test

import (
	"net/http"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/retake-go/retake/adapter/anthropic"
	"github.com/retake-go/retake/adapter/internal/wiretest"
	"github.com/retake-go/retake/loop"
)

func adapter() wiretest.Adapter {
	return wiretest.Adapter{New: func(url string, client *http.Client) (loop.Model, error) {
		c := sdk.NewClient(option.WithBaseURL(url), option.WithHTTPClient(client), option.WithAPIKey(wiretest.Key), option.WithMaxRetries(5))
		return anthropic.New(c, anthropic.Config{Model: "claude-sonnet-5-5", MaxTokens: 1024})
	}}
}

func TestWire(t *testing.T)  { wiretest.Run(t, "testdata/wire", adapter()) }
func TestStory(t *testing.T) { wiretest.Story(t, "testdata/story", adapter()) }

func TestBodies(t *testing.T) { wiretest.Bodies(t, adapter(), "text/event-stream") }

func TestRedirects(t *testing.T) { wiretest.Redirects(t, adapter(), yes) }

func TestBrokenConnections(t *testing.T) { wiretest.Broken(t, adapter()) }

func TestForms(t *testing.T) { wiretest.Forms(t, adapter(), yes, yesEvents) }
