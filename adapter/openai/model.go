package openai

import (
	"context"
	"errors"
	"net/http"

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
	asks, address := kit.AddressOption(option.WithMaxRetries(0))
	_ = client.Get(context.Background(), "", nil, nil, asks) // it is not sent
	post := client.Post
	return chat.Over(func(
		ctx context.Context, head *kit.Head, path string, body []byte,
	) (res *http.Response, err error) {
		watch := func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			return head.Send(r, next)
		}
		err = post(ctx, path, body, &res, option.WithMaxRetries(0), option.WithMiddleware(watch), guarded)
		return res, err
	}, *address, cfg)
}

// guarded refuses redirects to elsewhere.
var guarded = kit.GuardOption(option.WithMaxRetries(0))
