package kit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// Head is the part of a response before its body. Status 0 means that none came.
type Head struct {
	// Provider is the name in errors. Known is the name in packages fault and ratelimit; empty is
	// Provider. Model is the model that was asked.
	Provider, Known, Model string
	// Key is the API key of the request, which must be in no error.
	Key string
	// Asks are headers of a request that [Head.Post] makes, beside its own.
	Asks   http.Header
	Status int
	Header http.Header
	// At is the time of the response: that of its Date, else when it came.
	At time.Time
	// Host and Port are the address that answered, or was asked if none did.
	Host string
	Port int
	// Refusal is the body of a failed response, and Form what that of a good one is: see [Head.Send].
	Refusal []byte
	Form    Form
}

// Send sends a request by next, which may be a client, a transport or the next middleware of an SDK, and
// records its response. The body of a failed one is read, up to 1 MiB, and can be read again. That of
// a good one is bounded by 64 MiB and begins at its first character; Form says what it is. A response
// from elsewhere than was asked is an error. The caller closes the body, also of a failed response.
func (h *Head) Send(
	r *http.Request, next func(*http.Request) (*http.Response, error),
) (*http.Response, error) {
	h.Key = cmp.Or(h.Key, keyOf(r.Header))
	h.Host, h.Port = addressOf(r.URL)
	resp, err := next(r)
	if err != nil {
		return resp, err
	}
	h.came(resp)
	if err := elsewhere(r, resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	if h.Status < http.StatusBadRequest {
		h.Form, resp.Body = Sniff(boundedBody(resp.Body))
		return resp, nil
	}
	h.Refusal, _ = io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what came before it broke will do
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(h.Refusal))
	return resp, nil
}

// Post posts JSON to an address by [Head.Send], once, with Key as a bearer token if there is one. accept is
// what it asks for; empty is JSON. A response that is no success is an error: Head has what it said.
func (h *Head) Post(
	ctx context.Context, client *http.Client, address, accept string, body []byte,
) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", cmp.Or(accept, "application/json"))
	if h.Key != "" {
		r.Header.Set("Authorization", "Bearer "+h.Key)
	}
	maps.Copy(r.Header, h.Asks)
	resp, err := h.Send(r, client.Do)
	if err == nil && h.Status >= http.StatusMultipleChoices {
		resp.Body.Close()
		return nil, fmt.Errorf("the server answered %d", h.Status)
	}
	return resp, err
}

// came records a response and passes it to the watcher of its request ([ratelimit.Watch]). nil means none.
func (h *Head) came(resp *http.Response) {
	if resp == nil {
		return
	}
	h.Status, h.Header, h.At = resp.StatusCode, resp.Header, receivedAt(resp.Header, time.Now())
	if resp.Request != nil {
		h.Host, h.Port = addressOf(resp.Request.URL)
		ratelimit.Tell(resp.Request.Context(), ratelimit.Response{
			Provider: h.known(), Model: h.Model, Status: h.Status, Headers: h.Header, At: h.At,
		})
	}
}

// Source returns where a reply came from. id and finish are the provider's words. Beside an error they are
// empty.
func (h *Head) Source(id, finish string) message.Source {
	return message.Source{ID: word(id), Finish: word(finish), Host: h.Host, Port: h.Port}
}

// addressOf returns the host and the port of an address.
func addressOf(u *url.URL) (host string, port int) {
	if u == nil {
		return "", 0
	}
	given := cmp.Or(u.Port(), strings.TrimPrefix(ports[strings.ToLower(u.Scheme)], ":"))
	port, _ = strconv.Atoi(given) // a server answered there
	return u.Hostname(), port
}

func (h *Head) known() string { return cmp.Or(h.Known, h.Provider) }

// Limits returns the rate limits of a response, from its headers and the body of a failed one.
func (h *Head) Limits(body []byte) ratelimit.State {
	if h.Status == 0 {
		return ratelimit.State{}
	}
	return ratelimit.Response{Provider: h.known(), Headers: h.Header, Body: body, At: h.At}.Limits()
}

// requestHeaders are the headers with the id of a request, in order of preference.
var requestHeaders = [...]string{"Request-Id", "X-Request-Id", "Apim-Request-Id", "X-Goog-Request-Id",
	"X-Amzn-Requestid", "X-Generation-Id", "Mistral-Correlation-Id", "X-Ds-Trace-Id", "Cf-Ray"}

// RequestID returns the id of the request in the logs of the provider, or of a gateway; empty if there is
// none.
func (h *Head) RequestID() string {
	for _, name := range requestHeaders {
		if id := word(Redact(h.Header.Get(name), h.Key)); id != "" {
			return id
		}
	}
	return ""
}
