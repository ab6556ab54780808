package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/ratelimit"
)

// Error is a request that brought no reply. Its chain has the typed error of package fault ([fault.RateLimitError] and its
// kin) and the SDK's own error. Safe for concurrent reading.
type Error struct {
	// Status is the response's; 200 where an error came within a stream, 0 where no response came.
	Status int
	// Type is the API's own word ("overloaded_error"); empty where it gave none.
	Type string
	// RequestID names the request in the provider's logs; empty where none was given.
	RequestID string

	detail  string
	failure fault.Failure
	typed   error
}

// Error names the status, the API's word or else the class, the API's sentence and the request. It never holds a key or a
// body.
func (e *Error) Error() string {
	return wire.Refusal(name, e.Status, cmp.Or(e.Type, string(e.failure.Class)), e.detail, e.RequestID)
}

// Unwrap returns the typed error of package fault.
func (e *Error) Unwrap() error { return e.typed }

// Failure is the error as the core sees it: see [fault.Classify].
func (e *Error) Failure() fault.Failure { return e.failure }

// unreadableError is a response that is no reply and does not say that it is an error.
type unreadableError struct{ why error }

func (e *unreadableError) Error() string { return "unreadable response: " + e.why.Error() }
func (e *unreadableError) Unwrap() error { return e.why }

// envelope is the body of the API's errors.
type envelope struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

// failed makes an error of what went wrong with the exchange.
func (x *exchange) failed(ctx context.Context, cause error) error {
	e := &Error{RequestID: x.requestID()}
	body := wire.Redact(x.errorBody(cause), x.key)
	var said envelope
	if json.Unmarshal(body, &said) == nil && said.Error.Type != "" {
		e.Type, e.detail = wire.Word(said.Error.Type), wire.Line(said.Error.Message)
		e.RequestID = firstWord(e.RequestID, wire.Word(said.RequestID))
	}
	verdict := x.judge(ctx, cause, body)
	if e.detail == "" && e.Type == "" {
		e.detail = wire.Redact(x.why(cause), x.key)
	}
	e.failure = verdict.Failure()
	e.failure.Message = e.detail
	if x.response != nil {
		e.Status = x.response.StatusCode
	}
	e.typed = fault.ProviderError{
		Class: verdict.Class, Provider: name, Model: x.model, StatusCode: e.Status, RetryAfter: verdict.RetryAfter,
		Final: e.failure.Final, RequestID: e.RequestID, Message: e.detail, Cause: cause,
	}.Typed()
	if x.response == nil {
		return e
	}
	return &loop.LimitedError{Err: e, State: x.limits(body)}
}

// judge classifies what went wrong. The Go error counts only where the response does not say it better.
func (x *exchange) judge(ctx context.Context, cause error, body []byte) fault.Verdict {
	r := fault.Response{Provider: name, Model: x.model, Body: body, Now: x.received()}
	if x.response != nil {
		r.Status, r.Headers = x.response.StatusCode, x.response.Header
	}
	unreadable, isUnreadable := errors.AsType[*unreadableError](cause)
	_, isAPI := errors.AsType[*sdk.Error](cause)
	switch {
	case isAPI || r.Status >= 400:
	case isUnreadable:
		if v := fault.Classify(r); v.Plane == fault.Transport && v.Failed() {
			return v
		}
		return fault.Classify(fault.Response{Err: &fault.ProviderError{Class: fault.InvalidResponse, Cause: unreadable}})
	case ctx.Err() == nil && errors.Is(cause, context.DeadlineExceeded):
		// A timeout of the client's, and no deadline of the caller's.
		r.Type = "timeout_error"
	default:
		r.Err, r.Body = cause, nil // what came before a connection broke tells nothing
	}
	v := fault.Classify(r)
	if !v.Failed() {
		return fault.Classify(fault.Response{Err: &fault.ProviderError{Class: fault.InvalidResponse, Cause: cause}})
	}
	return v
}

// errorBody is the body that tells of the error: of an error in a stream, its event.
func (x *exchange) errorBody(cause error) []byte {
	if api, ok := errors.AsType[*sdk.Error](cause); ok && api.RawJSON() != "" {
		return []byte(api.RawJSON())
	}
	if len(x.body) > 0 || x.response == nil || x.response.Body == nil || x.response.StatusCode < 400 {
		return x.body
	}
	// What the SDK has read of an error it puts back into the response.
	body, err := io.ReadAll(x.response.Body)
	if err != nil {
		return nil
	}
	return body
}

// why says in short what went wrong where the API did not: never an address, never a body.
func (x *exchange) why(cause error) string {
	if x.response != nil && x.response.StatusCode >= 400 {
		return strings.ToLower(http.StatusText(x.response.StatusCode))
	}
	if _, ok := errors.AsType[*sdk.Error](cause); ok {
		return "an error within the stream"
	}
	return wire.Why(cause)
}

func (x *exchange) requestID() string {
	if x.response == nil {
		return ""
	}
	return wire.Word(wire.Redact(x.response.Header.Get("Request-Id"), x.key))
}

// received is when the response came.
func (x *exchange) received() time.Time {
	if x.response == nil {
		return time.Now()
	}
	return wire.ReceivedAt(x.response.Header, time.Now())
}

func (x *exchange) limits(body []byte) ratelimit.State {
	if x.response == nil {
		return ratelimit.State{}
	}
	return ratelimit.Parse(x.response.Header, x.received(), ratelimit.ForProvider(name), ratelimit.WithBody(body))
}
