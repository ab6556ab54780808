package openai

import (
	"errors"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/chat"
)

// New returns a model that uses client, which has the address and the key. The error joins one for each field
// of cfg that is out of bounds.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client sdk.Client, cfg chat.Config) (*chat.Model, error) {
	if len(client.Options) == 0 {
		return nil, errors.New("openai: the client is empty: make one with NewClient of the SDK")
	}
	send, address := kit.SendBy(client.Post, option.WithMiddleware, option.WithMaxRetries(0))
	return chat.Over(send, address, cfg)
}
