package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/ratelimit"
)

// Error is a failed request. Its chain has the typed error of package fault ([fault.RateLimitError] and so
// on; [fault.ToolValidationError] if the model's call could not be parsed) and the error of the SDK or of
// net/http. If a response came, it stands within a [ratelimit.LimitedError]. It is safe for concurrent
// reading.
type Error struct {
	// Provider is the name of the provider.
	Provider string
	// Status is the status that the error itself gives, else that of the response; 0 if no response came.
	Status int
	// Code is the provider's code for the error ("overloaded_error", "RESOURCE_EXHAUSTED", a finish
	// reason); empty if it gave none.
	Code string
	// Class is the class of package fault.
	Class fault.Class
	// RequestID identifies the request in the provider's logs; empty if the provider gave none.
	RequestID string

	sentence string
	failure  fault.Failure
	typed    error
}

// Error returns the provider, the status, the code or else the class, the message and the request id, on
// one line. It never has a key or a whole body, and no address but that of a refused redirect.
func (e *Error) Error() string {
	line := e.Provider + ":"
	if e.Status != 0 {
		line += fmt.Sprintf(" %d", e.Status)
	}
	line += " " + cmp.Or(e.Code, string(e.Class))
	if e.sentence != "" {
		line += ": " + e.sentence
	}
	if e.RequestID != "" {
		line += " (request " + e.RequestID + ")"
	}
	return line
}

// Unwrap returns the typed error of package fault.
func (e *Error) Unwrap() error { return e.typed }

// Failure returns the error as a failure: see [fault.Classify].
func (e *Error) Failure() fault.Failure { return e.failure }

// ReportedError is a successful response that reports an error.
type ReportedError struct {
	// Body is the response, or the event of a stream, that reports it.
	Body []byte
	// Code replaces a body: a code that package fault knows.
	Code string
	// Say is the message if there is no body.
	Say string
	// Final means that another request would be useless or harmful.
	Final bool
}

func (e *ReportedError) Error() string { return cmp.Or(e.Say, "the response reports an error") }

// UnreadableError is a response that is neither a reply nor an error.
type UnreadableError struct{ Got string }

func (e *UnreadableError) Error() string { return "unreadable response: " + e.Got }

// Unasked is the error of a request that an API does not support: nothing was sent. what names the field
// of the request and a valid alternative.
func Unasked(provider, what string) error {
	e := &Error{Provider: provider, Class: fault.InvalidRequest, sentence: what}
	e.failure = fault.Failure{Plane: fault.Transport, Class: e.Class, Message: what, Final: true}
	e.typed = fault.Typed(fault.ProviderError{Class: e.Class, Provider: provider, Message: what, Final: true})
	return e
}

// ErrEnded is a response that ended normally but too early: the connection broke.
var ErrEnded = fmt.Errorf("the response ended before the reply was complete: %w", io.ErrUnexpectedEOF)

// errTimedOut is the end of a time limit of the client. Its original error is the same as that of a
// caller's deadline.
var errTimedOut error = timedOut{}

type timedOut struct{}

func (timedOut) Error() string   { return "the client's own time limit for a request has passed" }
func (timedOut) Timeout() bool   { return true }
func (timedOut) Temporary() bool { return true }

// Trouble describes why a request failed.
type Trouble struct {
	// Cause is the Go error: a [ReportedError], an [UnreadableError], or the error of the SDK or the
	// connection.
	Cause error
	// Advice says which setting may help; empty for none.
	Advice string
	// Otherwise is the status that classifies an unknown error; 0 for none.
	Otherwise int
}

// Fail returns the [Error] of a failed request.
func (h *Head) Fail(ctx context.Context, t Trouble) error {
	cause := h.cause(ctx, fault.Bounded(t.Cause))
	body, code, final := h.Refusal, "", false
	if reported, ok := errors.AsType[*ReportedError](cause); ok {
		body, code, final = reported.Body, reported.Code, reported.Final
	}
	misdirected, wrong := errors.AsType[*addressError](cause)
	if wrong {
		body, code, final = nil, string(fault.Config), true
	}
	body = Redact(body, h.Key)
	said := readError(body)
	issue := garbledCall(said.Sentence)
	switch unusable, ok := errors.AsType[*unusableError](cause); {
	case ok:
		issue, said = &unusable.issue, saidError{Code: word(unusable.finish), Sentence: unusable.sentence}
	case wrong:
		said.Sentence = misdirected.Say
	case said.Sentence == "":
		said.Sentence = h.why(cause, said)
	}
	most, advice := int64(0), t.Advice
	if h.Status == http.StatusBadRequest || h.Status == http.StatusUnprocessableEntity {
		most = longestReply(body)
	}
	switch {
	case most > 0:
		advice = longestAdvice
	case h.Status == http.StatusNotFound && said.Code == "" && strings.EqualFold(said.Sentence, "not found"):
		advice = cmp.Or(advice, addressAdvice)
	}
	e := &Error{
		Provider: h.Provider, Status: h.Status, Code: said.Code,
		RequestID: cmp.Or(h.RequestID(), said.RequestID),
		sentence:  advised(oneLine(Redact(said.Sentence, h.Key)), advice),
	}
	if said.Status != 0 && h.Status < http.StatusBadRequest {
		e.Status = said.Status
	}
	verdict := h.judge(cause, fault.Response{
		Provider: h.known(), Model: h.Model, Status: e.Status, Headers: h.Header, Body: body, Code: code,
		Now: h.At,
	}, said, t.Otherwise)
	e.Class, e.failure = verdict.Class, verdict.Failure()
	e.failure.Message, e.failure.Final = e.sentence, e.failure.Final || final
	e.failure.MaxReply = most
	e.typed = fault.Typed(fault.ProviderError{
		Class: e.Class, Provider: h.known(), Model: h.Model, StatusCode: e.Status,
		RetryAfter: verdict.RetryAfter, MaxReply: most, Final: e.failure.Final,
		RequestID: e.RequestID, Message: e.sentence, Cause: cause,
	})
	if issue != nil {
		e.correct(*issue, cause)
	}
	if h.Status == 0 {
		return e
	}
	return &ratelimit.LimitedError{Err: e, State: h.Limits(body)}
}

// addressAdvice goes with a 404 that speaks of nothing else: mostly the address lacks the version, or has it
// twice.
const addressAdvice = "check the base URL, and whether the version, such as /v1, belongs in it"

// advised returns a sentence with advice after it.
func advised(sentence, advice string) string {
	if sentence == "" || advice == "" {
		return sentence + advice
	}
	return sentence + " (" + advice + ")"
}

// correct turns the error into one of the correction plane.
func (e *Error) correct(issue fault.Issue, cause error) {
	issues := []fault.Issue{issue}
	e.Class, e.typed = fault.ToolValidation, errors.Join(&fault.ToolValidationError{Issues: issues}, cause)
	if issue.Rule == fault.RuleUnknownTool {
		e.Class, e.typed = fault.UnknownTool, cause
	}
	e.failure = fault.Failure{Plane: fault.Correction, Class: e.Class, Message: e.sentence, Issues: issues}
}

// cause distinguishes a caller that left from a time limit of the client, and a wrong address from other
// failures.
func (h *Head) cause(ctx context.Context, err error) error {
	switch done := ctx.Err(); {
	case done != nil && !errors.Is(err, done):
		return fmt.Errorf("%w: %w", done, err)
	case done == nil && errors.Is(err, context.DeadlineExceeded):
		return errTimedOut
	case !is[*addressError](err) && h.Status >= http.StatusMultipleChoices && h.Status < http.StatusBadRequest:
		return &addressError{Say: fmt.Sprintf("the server redirects (%d) without an address to follow: "+
			"check the base URL", h.Status), Cause: err}
	case h.Status == http.StatusBadRequest && wantsTLS(h.Refusal):
		return &addressError{Say: "the server speaks TLS: the address must begin with https", Cause: err}
	case h.Status == 0:
		return cmp.Or(misaddressed(err), err)
	}
	return err
}

// judge classifies the failure. The Go error only counts if the response does not say more.
func (h *Head) judge(cause error, r fault.Response, said saidError, otherwise int) fault.Verdict {
	reported := is[*ReportedError](cause)
	switch {
	case reported, h.Status >= http.StatusBadRequest:
	case is[*addressError](cause):
		r.Body = nil
	case is[*UnreadableError](cause):
		r.Code, r.Body = string(fault.InvalidResponse), nil
	case isCut(cause):
		r.Code, r.Body = string(fault.Network), nil
	default:
		r.Err, r.Body = cause, nil // what came before a connection broke tells nothing
	}
	v := fault.Classify(r)
	unknown := func() bool {
		return reported && (v.Class == fault.Unknown || !v.Failed()) && r.Status < http.StatusBadRequest
	}
	if unknown() {
		r.Err, r.Code, r.Message = cause, cmp.Or(r.Code, said.Code), said.Sentence
		v = fault.Classify(r)
	}
	if unknown() && otherwise != 0 {
		r.Status = otherwise
		v = fault.Classify(r)
	}
	if v.Failed() {
		return v
	}
	return fault.Classify(fault.Response{Provider: r.Provider, Code: string(fault.InvalidResponse)})
}

// why returns a short message if the provider gave none.
func (h *Head) why(cause error, said saidError) string {
	unreadable, isUnreadable := errors.AsType[*UnreadableError](cause)
	reported, isReported := errors.AsType[*ReportedError](cause)
	isRefused := h.Status >= http.StatusBadRequest
	switch {
	case isUnreadable:
		return unreadable.Error()
	case said.Code != "" && (isReported || isRefused):
		return ""
	case isReported:
		return reported.Error()
	case isRefused:
		return cmp.Or(strings.ToLower(http.StatusText(h.Status)), "unknown status")
	}
	return whyOf(cause)
}
