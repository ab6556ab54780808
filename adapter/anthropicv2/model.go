package anthropicv2

import (
	"errors"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/claude"
)

// New returns a model that uses client, which has the address and the key. It asks for version 2026-10-21 of
// the API, as the SDK does. The error joins one for each field of cfg that is out of bounds.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client sdk.Client, cfg claude.Config) (*claude.Model, error) {
	if client.Options = client.Messages.Options; len(client.Options) == 0 {
		return nil, errors.New("anthropic: the client is empty: make one with NewClient of the SDK")
	}
	send, address := kit.SendBy(client.Post, option.WithMiddleware, option.WithMaxRetries(0))
	return claude.Over(send, address, cfg)
}
