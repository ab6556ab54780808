package genai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
)

// Error is a request that brought no reply. Its chain has the typed error of package fault ([fault.RateLimitError] and its kin)
// and what the SDK returned: an sdk.APIError, by value, where the API answered in its form. Safe for concurrent reading.
type Error struct {
	// Status is the response's; 200 where an error came within a reply or stream that names no other, 0 where no response came.
	Status int
	// Code is the API's own word ("RESOURCE_EXHAUSTED", or a finish reason); empty where it gave none.
	Code string
	// Class is what package fault makes of it.
	Class fault.Class
	// RequestID names the request in a log, where the response's head does.
	RequestID string

	detail  string
	failure fault.Failure
	typed   error
}

// Error names status, the API's word or else the class, the API's sentence and the request. It never holds the key or a whole body.
func (e *Error) Error() string {
	return wire.Refusal(name, e.Status, cmp.Or(e.Code, string(e.Class)), e.detail, e.RequestID)
}

// Unwrap returns the typed error of package fault.
func (e *Error) Unwrap() error { return e.typed }

// Failure is the error as the core sees it: see [fault.Classify].
func (e *Error) Failure() fault.Failure { return e.failure }

// errTold is a response of status 200 that tells of an error.
var errTold = errors.New("the response tells of an error")

// errEnded is a response that ended in good order, and too early.
var errEnded = fmt.Errorf("the response ended before the reply did: %w", io.ErrUnexpectedEOF)

// unreadableError is a response that is no reply and does not say that it is an error.
type unreadableError struct{ got string }

func (e *unreadableError) Error() string { return "unreadable response: " + e.got }

// garbledError is a call that the API could not read, or would not take.
type garbledError struct{ reason, sentence string }

func (e *garbledError) Error() string { return e.reason + ": " + e.sentence }

// garbled are the finish reasons that say so, and what would be right. There is no call to answer: the model is told in words.
var garbled = map[string]fault.Issue{
	"MALFORMED_FUNCTION_CALL": {Rule: fault.RuleSyntax, Expected: "a function call that can be read", Source: fault.FromReply},
	"MALFORMED_RESPONSE":      {Rule: fault.RuleSyntax, Expected: "a reply that can be read", Source: fault.FromReply},
	"UNEXPECTED_TOOL_CALL":    {Rule: fault.RuleUnknownTool, Expected: "a call of a function that is on offer", Source: fault.FromReply},
	"TOO_MANY_TOOL_CALLS":     {Rule: "too_many_calls", Expected: "fewer function calls", Source: fault.FromReply},
}

// unusable is what keeps a response from being a reply; nil where nothing does.
func (g *received) unusable() error {
	if _, isGarbled := garbled[g.finish]; isGarbled {
		return &garbledError{g.finish, g.finished}
	}
	if !g.began && g.blocked == "" {
		return &unreadableError{"no candidate"}
	}
	return nil
}

// failed makes an error of what went wrong with the exchange.
func (m *Model) failed(ctx context.Context, x *exchange, cause error) error {
	cause = x.cause(ctx, cause)
	said := x.said()
	e := &Error{RequestID: wire.Redact(x.requestID(), m.key), Code: wire.Word(wire.Redact(said.Status, m.key)), Status: said.Code}
	if x.response != nil && (e.Status == 0 || x.response.StatusCode != http.StatusOK) {
		e.Status = x.response.StatusCode
	}
	e.detail = wire.Line(wire.Redact(cmp.Or(said.Message, x.why(cause)), m.key))
	verdict := x.judge(ctx, e.Status, cause)
	e.Class, e.failure = verdict.Class, verdict.Failure()
	e.failure.Message = e.detail
	e.typed = fault.ProviderError{
		Class: verdict.Class, Provider: provider, Model: x.model, StatusCode: e.Status, RetryAfter: verdict.RetryAfter, Final: e.failure.Final,
		RequestID: e.RequestID, Message: e.detail, Cause: cause,
	}.Typed()
	if g, isGarbled := errors.AsType[*garbledError](cause); isGarbled {
		e.correct(g)
	}
	if x.response == nil {
		return e
	}
	return &loop.LimitedError{Err: e, State: x.limits(x.errorBody())}
}

// correct makes the error one that the model is told of.
func (e *Error) correct(g *garbledError) {
	issue := garbled[g.reason]
	e.Code, e.Class = g.reason, fault.ToolValidation
	if issue.Rule == fault.RuleUnknownTool {
		e.Class = fault.UnknownTool
	}
	e.failure = fault.Failure{Plane: fault.Correction, Class: e.Class, Message: e.detail, Issues: []fault.Issue{issue}}
	e.typed = g
}

// cause is what really went wrong: the SDK hides a connection that broke behind the line that it cut.
func (x *exchange) cause(ctx context.Context, err error) error {
	if x.readErr != nil {
		err = x.readErr
	}
	if done := ctx.Err(); done != nil && !errors.Is(err, done) {
		return fmt.Errorf("%w: %w", done, err)
	}
	return err
}

// errorBody is what tells of an error.
func (x *exchange) errorBody() []byte {
	if x.told != nil || x.response == nil || x.response.StatusCode == http.StatusOK {
		return x.told
	}
	return x.body
}

// judge classifies what went wrong. The Go error counts only where the response does not say it better.
func (x *exchange) judge(ctx context.Context, status int, cause error) fault.Verdict {
	r := fault.Response{Provider: provider, Model: x.model, Status: status, Body: x.errorBody(), Now: x.received()}
	if x.response != nil {
		r.Headers = x.response.Header
	}
	switch {
	case ctx.Err() == nil && errors.Is(cause, context.DeadlineExceeded):
		// A timeout of the client's, and no deadline of the caller's.
		r.Code = string(fault.Timeout)
	case r.Body == nil && x.broken(cause):
		r.Err = cause
	case r.Body == nil && x.response != nil && x.response.StatusCode == http.StatusOK:
		r.Code = string(fault.InvalidResponse)
	}
	if v := fault.Classify(r); v.Failed() {
		return v
	}
	return fault.Classify(fault.Response{Provider: provider, Code: string(fault.InvalidResponse)})
}

// broken reports whether the connection failed, and not the response.
func (x *exchange) broken(cause error) bool {
	return x.response == nil || x.readErr != nil || errors.Is(cause, errEnded)
}

// said is the API's own error; zero where it has none.
func (x *exchange) said() sdk.APIError {
	type envelope struct {
		Error sdk.APIError `json:"error"`
	}
	var one envelope
	if json.Unmarshal(x.errorBody(), &one) == nil {
		return one.Error
	}
	var many []envelope
	if json.Unmarshal(x.errorBody(), &many) == nil && len(many) > 0 {
		return many[0].Error
	}
	return sdk.APIError{}
}

// why says in short what went wrong where the API did not: never an address, never a body.
func (x *exchange) why(cause error) string {
	if g, ok := errors.AsType[*garbledError](cause); ok {
		return g.sentence
	}
	_, unreadable := errors.AsType[*unreadableError](cause)
	switch {
	case unreadable, x.broken(cause):
		return wire.Why(cause)
	case x.response.StatusCode != http.StatusOK:
		return cmp.Or(strings.ToLower(http.StatusText(x.response.StatusCode)), "unknown status")
	}
	return (&unreadableError{"no JSON of a reply"}).Error()
}
