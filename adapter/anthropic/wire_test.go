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

func adapter() kittest.Config {
	return kittest.Config{New: func(url string, client *http.Client) (loop.Model, error) {
		c := sdk.NewClient(option.WithBaseURL(url), option.WithHTTPClient(client), option.WithAPIKey(kittest.Key), option.WithMaxRetries(5))
		return anthropic.New(c, anthropic.Config{Model: "claude-sonnet-5-5", MaxTokens: 1024})
	}, Whole: []string{yes}, Streams: []string{yesEvents}, Keys: keys, Accepts: accepts, Scripts: "testdata", Opaque: opaques("claude-sonnet-5-5")}
}

func TestAdapter(t *testing.T) { kittest.Run(t, adapter()) }
