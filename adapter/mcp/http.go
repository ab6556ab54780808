package mcp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/retake-go/retake/fault"
)

// HTTPClient returns a client for servers over HTTP. It works as base, except that a response to a call with
// status 408, 429 or 5xx is a [fault.TransportError] with the wait that the server asks for. The SDK itself
// only puts the status into a text, so that no call would be retried. A 404 to a session is always the end of
// that session, so that [WithReconnect] opens another; so is the 400 or 401 of servers of other SDKs that say
// so in their words. A call that is refused so, or by status 401 or 429, was not made, which nobody knows
// with other clients: there it is in doubt. A body of more than 16 MiB ends the session, as such a message
// does on other connections, and an event of more than 16 MiB its stream: the SDK itself would read it whole.
// A nil base is [http.DefaultClient]. base is not changed, and the client is as safe for concurrent use as
// base is.
//
// Without DisableStandaloneSSE a session ends once its stream for the server's own messages was cut six
// times.
//
//	&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: mcp.HTTPClient(nil), DisableStandaloneSSE: true}
func HTTPClient(base *http.Client) *http.Client {
	if base == nil {
		base = http.DefaultClient
	}
	typed := *base
	if typed.Transport == nil {
		typed.Transport = http.DefaultTransport
	}
	typed.Transport = statuses{typed.Transport}
	return &typed
}

// statuses is a transport that returns typed errors for temporary failures.
type statuses struct{ base http.RoundTripper }

// refusedKey is the key of an *atomic.Bool in the context of a call: whether the server refused the request
// that makes it.
type refusedKey struct{}

// refusals are the statuses of requests that were not carried out: without credentials, or after too many.
// With 403 a gateway may hold back the result of a call that was made. A 404 without a session may be a
// tool's own answer, with JSON-RPC's code of an unknown method.
var refusals = []int{http.StatusUnauthorized, http.StatusTooManyRequests}

// maxRefusal bounds how much of a failed response is read, in bytes.
const maxRefusal = 64 << 10

// RoundTrip makes the request. It leaves the statuses to the SDK that the SDK handles (404, 405 and those
// of authorization).
func (s statuses) RoundTrip(req *http.Request) (*http.Response, error) {
	refused, _ := req.Context().Value(refusedKey{}).(*atomic.Bool)
	if refused == nil || req.Method != http.MethodPost {
		refused = new(atomic.Bool)
	}
	resp, err := s.base.RoundTrip(req)
	// It may be made again with other credentials: the last word counts.
	refused.Store(err == nil && slices.Contains(refusals, resp.StatusCode))
	if err != nil {
		return resp, err
	}
	stream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	if stream && resp.StatusCode < http.StatusMultipleChoices {
		resp.Body = &events{ReadCloser: resp.Body}
	} else {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxMessage)
	}
	resumes := req.Header.Get("Last-Event-Id") != "" // of an error the SDK tries that again, of a status not
	if req.Method != http.MethodPost && !resumes {
		return resp, nil
	}
	if req.Header.Get("Mcp-Session-Id") != "" && !resumes && forgotten(resp) {
		// With a body of JSON-RPC the SDK would not notice that the session is gone.
		refused.Store(true)
		_ = resp.Body.Close()
		resp.StatusCode, resp.Body, resp.ContentLength = http.StatusNotFound, http.NoBody, 0
	}
	if !forNow(resp.StatusCode) {
		return resp, nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what came before it broke will do
	v := fault.Classify(fault.Response{Status: resp.StatusCode, Headers: resp.Header, Body: body,
		Now: time.Now()})
	f := v.Failure()
	cause := fmt.Errorf("the server answered %d: %s", resp.StatusCode, v.Message)
	return nil, &fault.TransportError{Class: f.Class, RetryAfter: f.RetryAfter, Final: f.Final, Cause: cause}
}

// events is the body of a stream of events. An event of more than maxMessage bytes is an error.
type events struct {
	io.ReadCloser
	event, line int // how much of the event and of the line was read, in bytes
}

// Read reads from the body.
func (e *events) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	for _, c := range p[:n] {
		switch {
		case c == '\n' && e.line == 0: // an empty line ends an event
			e.event = 0
		case c == '\n':
			e.line = 0
		case c != '\r':
			e.line++
		}
		if e.event++; e.event > maxMessage {
			return 0, &http.MaxBytesError{Limit: maxMessage}
		}
	}
	return n, err
}

// noSession is what servers of the SDKs for Python, TypeScript, Go (mcp-go) and Rust say with a status of
// 400, or 401, to the id of a session that they do not know.
var noSession = [][]byte{[]byte("No valid session ID"), []byte("Bad Request: Server not initialized"),
	[]byte("Invalid session ID"), []byte("Session not found")}

// forgotten reports whether a server says that it does not know the session of a request. It leaves the body
// to be read.
func forgotten(resp *http.Response) bool {
	if resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusUnauthorized {
		return resp.StatusCode == http.StatusNotFound
	}
	read, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what came before it broke will do
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), resp.Body), resp.Body}
	return slices.ContainsFunc(noSession, func(says []byte) bool { return bytes.Contains(read, says) })
}

// forNow reports whether a status means that another try may help.
func forNow(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests ||
		status >= http.StatusInternalServerError
}
