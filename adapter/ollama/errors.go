package ollama

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

// Error is a request that brought no reply. Its chain has the typed error of package fault ([fault.RateLimitError] and its kin;
// [fault.ToolValidationError] where the server could not read the model's call) and what net/http returned. Safe for
// concurrent reading.
type Error struct {
	// Status is the response's, or what an error in a stream names; 0 where no response came.
	Status int
	// Class is what package fault makes of it.
	Class fault.Class
	// RequestID names the request in a log, where a proxy gave it one.
	RequestID string

	detail  string
	failure fault.Failure
	typed   error
}

// Error names status, class, the server's sentence and the request. It never holds the key or a whole body.
func (e *Error) Error() string {
	return wire.Refusal(name, e.Status, string(e.Class), e.detail, e.RequestID)
}

// Unwrap returns the typed error of package fault.
func (e *Error) Unwrap() error { return e.typed }

// Failure is the error as the core sees it: see [fault.Classify].
func (e *Error) Failure() fault.Failure { return e.failure }

// errTold is a response of status 200 that tells of an error.
var errTold = errors.New("the response tells of an error")

// refusedError is a response of another status than 200.
type refusedError struct{ status int }

func (e *refusedError) Error() string {
	return cmp.Or(strings.ToLower(http.StatusText(e.status)), "unknown status")
}

// unreadableError is a response that is no reply and does not say that it is an error.
type unreadableError struct{ got string }

func (e *unreadableError) Error() string { return "unreadable response: " + e.got }

// cmpError is the first error, and the second one with it where there is one.
func cmpError(err, also error) error {
	if also == nil {
		return err
	}
	return fmt.Errorf("%w: %w", err, also)
}

// failed makes an error of what went wrong with the exchange.
func (m *Model) failed(ctx context.Context, x *exchange, cause error) error {
	if done := ctx.Err(); done != nil && !errors.Is(cause, done) {
		cause = fmt.Errorf("%w: %w", done, cause)
	}
	e := &Error{RequestID: wire.Redact(x.requestID(), m.cfg.Key), Status: x.status}
	if x.response != nil {
		e.Status = cmp.Or(e.Status, x.response.StatusCode)
	}
	sentence := said(x.body)
	e.detail = wire.Line(wire.Redact(cmp.Or(sentence, wire.Why(cause)), m.cfg.Key))
	verdict := x.judge(e.Status, cause)
	e.Class, e.failure = verdict.Class, verdict.Failure()
	e.failure.Message = e.detail
	e.typed = fault.ProviderError{
		Class: verdict.Class, Provider: name, Model: x.model, StatusCode: e.Status, RetryAfter: verdict.RetryAfter, Final: e.failure.Final,
		RequestID: e.RequestID, Message: e.detail, Cause: cause,
	}.Typed()
	if issue, garbled := garbledCall(sentence); garbled {
		e.Class = fault.ToolValidation
		e.failure = fault.Failure{Plane: fault.Correction, Class: e.Class, Message: e.detail, Issues: []fault.Issue{issue}}
		e.typed = errors.Join(&fault.ToolValidationError{Issues: e.failure.Issues}, cause)
	}
	if x.response == nil {
		return e
	}
	return &loop.LimitedError{Err: e, State: x.limits()}
}

// judge classifies what went wrong. The Go error counts only where the response does not say it better.
func (x *exchange) judge(status int, cause error) fault.Verdict {
	r := fault.Response{Provider: name, Model: x.model, Status: status, Body: x.body, Now: x.received()}
	if x.response != nil {
		r.Headers = x.response.Header
	}
	_, refused := errors.AsType[*refusedError](cause)
	if _, unreadable := errors.AsType[*unreadableError](cause); unreadable {
		r.Code = string(fault.InvalidResponse)
	} else if !refused && !errors.Is(cause, errTold) {
		r.Err = cause
	}
	v := fault.Classify(r)
	if v.Class == fault.Unknown && errors.Is(cause, errTold) && status == http.StatusOK {
		// An error in a stream has no status any more. The server's own for what it does not name is 500.
		r.Status = http.StatusInternalServerError
		v = fault.Classify(r)
	}
	if v.Failed() {
		return v
	}
	return fault.Classify(fault.Response{Provider: name, Code: string(fault.InvalidResponse), Err: cause})
}

// said is the server's own sentence; empty where the body has none.
func said(body []byte) string {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	if s, isText := wire.ReadText(e.Error); isText {
		return s
	}
	var nested struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(e.Error, &nested) != nil {
		return ""
	}
	return nested.Message
}

// garbled are the sentences by which the server says that it could not read the arguments of a call that the model made.
var garbled = []string{"error parsing tool call:", "llama-server returned invalid tool call arguments", "invalid tool call:"}

// garbledCall is such a call as an issue: the model is told, for the same request again would bring the same.
func garbledCall(sentence string) (fault.Issue, bool) {
	for _, start := range garbled {
		if strings.HasPrefix(sentence, start) {
			return fault.Issue{Rule: fault.RuleSyntax, Expected: "a tool call whose arguments are one JSON object", Source: fault.FromReply}, true
		}
	}
	return fault.Issue{}, false
}
