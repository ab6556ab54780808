package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
)

// Send posts JSON to a path of an API ("chat/completions") by [Head.Send], once. The error of a refused
// request is the client's own.
type Send func(ctx context.Context, head *Head, path string, body []byte) (*http.Response, error)

// SendBy returns what sends by the client of an SDK, and the address of that client. post is the method Post
// of the client, middleware the SDK's WithMiddleware, and once its WithMaxRetries(0): C and O are the SDK's
// configuration and its options. The http.Client of the SDK is [Guarded]; an SDK without the field HTTPClient
// gets an error, because requests would go out unguarded. The address is empty if the SDK has no fields
// BaseURL and DefaultBaseURL.
func SendBy[C any, O interface{ Apply(*C) error }](
	post func(ctx context.Context, path string, params, res any, opts ...O) error,
	middleware func(
		...func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error),
	) O,
	once O,
) (send Send, address string) {
	option := func(o interface{ Apply(*C) error }) O { return o.(O) }                // O is an interface
	_ = post(context.Background(), "", nil, nil, option(addressReader[C]{&address})) // it is not sent
	send = func(ctx context.Context, head *Head, path string, body []byte) (res *http.Response, err error) {
		var open io.Closer
		watch := func(
			r *http.Request, next func(*http.Request) (*http.Response, error),
		) (*http.Response, error) {
			resp, err := head.Send(r, next)
			if err == nil {
				open = resp.Body
			}
			return resp, err
		}
		err = post(ctx, path, body, &res, once, middleware(watch), option(guard[C]{}))
		if err != nil && open != nil {
			open.Close() // SDKs leave it open if the context ends as the response comes
		}
		return res, err
	}
	return send, address
}

// addressReader is an option that reads the address of a client, and stops the request before it is sent.
type addressReader[C any] struct{ address *string }

// Apply reads the address.
func (r addressReader[C]) Apply(cfg *C) error {
	for _, field := range [...]string{"BaseURL", "DefaultBaseURL"} {
		at := reflect.ValueOf(cfg).Elem().FieldByName(field)
		if !at.IsValid() {
			continue
		}
		if u, ok := at.Interface().(*url.URL); ok && u != nil && *r.address == "" {
			*r.address = u.String()
		}
	}
	return errors.New("only the address was asked for")
}

// guard is an option that replaces the client by one that is [Guarded].
type guard[C any] struct{}

// Apply replaces the client.
func (guard[C]) Apply(cfg *C) error {
	at := reflect.ValueOf(cfg).Elem().FieldByName("HTTPClient")
	if !at.IsValid() || at.Type() != reflect.TypeFor[*http.Client]() || !at.CanSet() {
		return fmt.Errorf("%T has no field HTTPClient: redirects cannot be refused with this version "+
			"of the SDK", cfg)
	}
	if client := at.Interface().(*http.Client); client != nil {
		at.Set(reflect.ValueOf(Guarded(client)))
	}
	return nil
}
