package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
)

// Error is a call that failed. Its text names what is safe to log: provider, class, status, code and request id, never a body,
// a header or an URL. In its chain are a loop.LimitedError with the rate limits, the typed error of package fault (a
// *fault.RateLimitError, *fault.AuthError, …; all of them a fault.ProviderError, which has the provider's own message), and the
// error itself: the SDK's *openai.Error where the server answered in its form. Safe for concurrent reading.
type Error struct {
	// Provider is the config's.
	Provider string
	// Class is what package fault makes of the failure.
	Class fault.Class
	// Status is the HTTP status, 200 for an error within a reply or stream; 0 where no response came.
	Status int
	// Code is the provider's code, or else its type; empty where it gave none, or one that is no plain word.
	Code string
	// RequestID names the request in the provider's logs; empty where it gave none.
	RequestID string

	detail string
	err    *loop.LimitedError
}

// Error says what went wrong, on one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Provider, e.Class)
	if e.Status != 0 {
		fmt.Fprintf(&b, ": HTTP %d", e.Status)
	}
	if e.Code != "" {
		b.WriteString(", code " + e.Code)
	}
	if e.RequestID != "" {
		b.WriteString(", request " + e.RequestID)
	}
	if e.detail != "" {
		b.WriteString(": " + e.detail)
	}
	return b.String()
}

// Unwrap returns the loop.LimitedError.
func (e *Error) Unwrap() error { return e.err }

// Failure is the error as the core sees it.
func (e *Error) Failure() fault.Failure { return e.err.Failure() }

// badReply is a reply of status 2xx that is an error, or not what the API promises.
type badReply struct {
	// body is what tells of the error: the reply, or one event of a stream.
	body []byte
	// code stands in for a body that says nothing.
	code string
	err  error
}

func (e *badReply) Error() string { return e.err.Error() }

func (e *badReply) Unwrap() error { return e.err }

// invalid is a reply that is not what the API promises.
func invalid(why string) error {
	return &badReply{code: string(fault.InvalidResponse), err: errors.New(why)}
}

// told is a reply that tells of an error.
func told(body []byte) error {
	return &badReply{body: body, err: errors.New("the reply tells of an error")}
}

// errTimedOut stands for the SDK's own time limit, which ends in the very error that a caller's deadline does.
var errTimedOut error = timedOut{}

type timedOut struct{}

func (timedOut) Error() string   { return "the client's own time limit for a request is over" }
func (timedOut) Timeout() bool   { return true }
func (timedOut) Temporary() bool { return true }

// fail makes an Error of what came of a call.
func (c *caller) fail(ctx context.Context, x exchange, err error) error {
	r := fault.Response{
		Provider: c.cfg.provider(), Model: c.cfg.Model, Status: x.status, Headers: x.header, Body: x.body, Err: err, Now: x.at,
	}
	if bad, ok := errors.AsType[*badReply](err); ok {
		r.Body, r.Code = wire.Redact(bad.body, x.key), bad.code
		if r.Body == nil && r.Code == "" {
			r.Code = string(fault.InvalidResponse)
		}
	}
	switch done := ctx.Err(); {
	case done != nil && !errors.Is(err, done):
		r.Err = errors.Join(done, err)
	case done == nil && errors.Is(err, context.DeadlineExceeded):
		err = errTimedOut
		r.Err = err
	}
	x.body = r.Body
	typed := fault.AsError(r)
	if typed == nil {
		r.Code = string(fault.InvalidResponse)
		typed = fault.AsError(r)
	}
	return c.wrap(x, typed, err)
}

func (c *caller) wrap(x exchange, typed, err error) error {
	e := &Error{
		Provider: c.cfg.provider(), Status: x.status, Code: wire.Redact(codeOf(x.body), x.key), RequestID: requestID(x), detail: wire.Redact(detail(x, err), x.key),
		err: &loop.LimitedError{Err: typed, State: c.limits(x)},
	}
	e.Class = e.err.Failure().Class
	return e
}

// codeOf is the code that a body tells of, or else its type, where it is a plain word.
func codeOf(body []byte) string {
	type coded struct{ Code, Type json.RawMessage }
	var doc struct {
		coded
		Error    json.RawMessage
		Response struct{ Error json.RawMessage }
		Choices  []struct{ Error json.RawMessage }
	}
	if json.Unmarshal(body, &doc) != nil {
		return ""
	}
	places := []json.RawMessage{doc.Error, doc.Response.Error}
	for _, c := range doc.Choices {
		places = append(places, c.Error)
	}
	for _, place := range places {
		var c coded
		if json.Unmarshal(place, &c) == nil && c.Code != nil || c.Type != nil {
			return cmp.Or(plain(c.Code), plain(c.Type))
		}
	}
	return plain(doc.Code)
}

// plain is a string or number of JSON as a word.
func plain(v json.RawMessage) string {
	if string(v) == "null" {
		return ""
	}
	return wire.Word(strings.Trim(string(v), `"`))
}

// detail is what of an error itself may be shown: our own words, and why a connection failed.
func detail(x exchange, err error) string {
	if bad, ok := errors.AsType[*badReply](err); ok {
		return bad.Error()
	}
	if x.status >= http.StatusBadRequest {
		return ""
	}
	return wire.Why(err)
}

// requestID is the id of a response, where it is a plain word.
func requestID(x exchange) string {
	for _, name := range [...]string{"X-Request-Id", "Request-Id", "Apim-Request-Id", "Cf-Ray"} {
		if id := wire.Word(wire.Redact(x.header.Get(name), x.key)); id != "" {
			return id
		}
	}
	return ""
}
