package kit

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// addressError is a request whose address is wrong: another request would fail like it.
type addressError struct {
	// Say says what is wrong, and what to set.
	Say string
	// Cause is the Go error that told; nil if a response did.
	Cause error
}

func (e *addressError) Error() string { return e.Say }

// Unwrap returns the cause.
func (e *addressError) Unwrap() error { return e.Cause }

// maxRedirects bounds the redirects that are followed within one origin.
const maxRedirects = 10

// Guarded returns a copy of a client that follows no redirect to another host, port or scheme: net/http
// would send the key along, since it knows only the header Authorization as a secret. Then the client's
// own CheckRedirect is asked.
func Guarded(c *http.Client) *http.Client {
	own, asked := *c, c.CheckRedirect
	own.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch {
		case !sameOrigin(via[0].URL, r.URL):
			return &addressError{Say: fmt.Sprintf("the server redirects to %s, which is another host, port or "+
				"scheme: this is not followed, as it would take the key there; if the address is right, "+
				"set it as the base URL", origin(r.URL))}
		case asked != nil:
			return asked(r, via)
		case len(via) >= maxRedirects:
			return &addressError{Say: fmt.Sprintf("the server redirects in a circle: more than %d "+
				"redirects of one request", maxRedirects)}
		}
		return nil
	}
	return &own
}

// elsewhere returns an error if a response is from another host, port or scheme than was asked: a client
// that is no http.Client followed a redirect.
func elsewhere(asked *http.Request, got *http.Response) error {
	if got == nil || got.Request == nil || got.Request.URL == nil || sameOrigin(asked.URL, got.Request.URL) {
		return nil
	}
	return &addressError{Say: fmt.Sprintf("the HTTP client followed a redirect to %s, which is another "+
		"host, port or scheme: the reply is not read, and the key may be known there", origin(got.Request.URL))}
}

// sameOrigin reports whether two addresses have one scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return origin(a) == origin(b) }

// ports are the ports of addresses that name none.
var ports = map[string]string{"http": ":80", "https": ":443"}

// origin returns scheme, host and port of an address. The scheme's own port is left out.
func origin(u *url.URL) string {
	scheme := strings.ToLower(u.Scheme)
	return scheme + "://" + strings.ToLower(strings.TrimSuffix(u.Host, ports[scheme]))
}
