package wire

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/ratelimit"
)

// Error is a request that brought no reply. Its chain has the typed error of package fault
// ([fault.RateLimitError] and its kin; [fault.ToolValidationError] where the model's own call could not be
// read) and what the SDK or net/http returned. Where a response came it stands within a
// [ratelimit.LimitedError]. Safe for concurrent reading.
type Error struct {
	// Provider is who was asked.
	Provider string
	// Status is the one that the error itself names, else the response's; 0 where no response came.
	Status int
	// Code is the provider's own word for the error ("overloaded_error", "RESOURCE_EXHAUSTED", a finish
	// reason); empty where it gave none.
	Code string
	// Class is what package fault makes of it.
	Class fault.Class
	// RequestID names the request in the provider's logs; empty where none was given.
	RequestID string

	sentence string
	failure  fault.Failure
	typed    error
}

// Error names provider, status, the provider's word or else the class, its sentence and the request, on one
// line: never a key, a whole body or an address.
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

// Failure is the error as the core sees it: see [fault.Classify].
func (e *Error) Failure() fault.Failure { return e.failure }

// ToldError is a response of a good status that tells of an error.
type ToldError struct {
	// Body is what tells of it: the response, or one event of a stream.
	Body []byte
	// Code stands in for a body: what package fault knows the error by.
	Code string
	// Say says what went wrong where no body does.
	Say string
	// Final says that another request would do harm, or nothing.
	Final bool
}

func (e *ToldError) Error() string { return cmp.Or(e.Say, "the response tells of an error") }

// UnreadableError is a response that is no reply, and does not say that it is an error.
type UnreadableError struct{ Got string }

func (e *UnreadableError) Error() string { return "unreadable response: " + e.Got }

// Unasked is a request that an API cannot be asked: nothing was sent. what names the field of the request,
// and says what would be right.
func Unasked(provider, what string) error {
	e := &Error{Provider: provider, Class: fault.InvalidRequest, sentence: what}
	e.failure = fault.Failure{Plane: fault.Transport, Class: e.Class, Message: what, Final: true}
	e.typed = fault.ProviderError{Class: e.Class, Provider: provider, Message: what, Final: true}.Typed()
	return e
}

// ErrEnded is a response that ended in good order, and too early: the connection broke.
var ErrEnded = fmt.Errorf("the response ended before the reply did: %w", io.ErrUnexpectedEOF)

// errTimedOut stands for a time limit of the client's own, which ends in the very error that a caller's
// deadline does.
var errTimedOut error = timedOut{}

type timedOut struct{}

func (timedOut) Error() string   { return "the client's own time limit for a request is over" }
func (timedOut) Timeout() bool   { return true }
func (timedOut) Temporary() bool { return true }

// Head is what is known of a response before its body. Status 0 means that none came.
type Head struct {
	// Provider is what errors call the provider, Known what packages fault and ratelimit know it by; empty is
	// Provider. Model is the one that was asked.
	Provider, Known, Model string
	// Key is the request's: it stands in no error.
	Key    string
	Status int
	Header http.Header
	// At is when the response came: see [ReceivedAt].
	At time.Time
}

// Came notes a response, and tells whoever watches its request: see [ratelimit.Watch]; nil for none.
func (h *Head) Came(resp *http.Response) {
	if resp == nil {
		return
	}
	h.Status, h.Header, h.At = resp.StatusCode, resp.Header, ReceivedAt(resp.Header, time.Now())
	if resp.Request != nil {
		ratelimit.Tell(resp.Request.Context(), ratelimit.Response{
			Provider: h.known(), Model: h.Model, Status: h.Status, Headers: h.Header, At: h.At,
		})
	}
}

func (h *Head) known() string { return cmp.Or(h.Known, h.Provider) }

// Limits is what a response says of rate limits, in its head and in the body of a refusal.
func (h *Head) Limits(body []byte) ratelimit.State {
	if h.Status == 0 {
		return ratelimit.State{}
	}
	return ratelimit.Parse(h.Header, h.At, ratelimit.ForProvider(h.known()), ratelimit.WithBody(body))
}

// requestHeaders name a request, in order of preference.
var requestHeaders = [...]string{"Request-Id", "X-Request-Id", "Apim-Request-Id", "X-Goog-Request-Id", "Cf-Ray"}

// RequestID names the request in the logs of the provider, or of a gateway; empty where the head does not.
func (h *Head) RequestID() string {
	for _, name := range requestHeaders {
		if id := Word(Redact(h.Header.Get(name), h.Key)); id != "" {
			return id
		}
	}
	return ""
}

// Trouble is what kept a request from bringing a reply.
type Trouble struct {
	// Cause is the Go error: a [ToldError], an [UnreadableError], or what the SDK or the connection returned.
	Cause error
	// Refusal is the body of a response that is no good one.
	Refusal []byte
	// Code and Sentence are the provider's own word and words where they do not stand in the body of an
	// error.
	Code, Sentence string
	// Issue is set where the model's own words are at fault: the model is told of it.
	Issue *fault.Issue
	// Otherwise is the status to judge by an error that says nothing that is known; 0 for none.
	Otherwise int
}

// Fail makes an [Error] of what came of a request.
func (h *Head) Fail(ctx context.Context, t Trouble) error {
	cause := h.cause(ctx, t.Cause)
	body, code, final := t.Refusal, "", false
	if told, ok := errors.AsType[*ToldError](cause); ok {
		body, code, final = told.Body, told.Code, told.Final
	}
	body = Redact(body, h.Key)
	said := ReadError(body)
	sentence := cmp.Or(t.Sentence, said.Sentence)
	if sentence == "" && t.Issue == nil {
		sentence = h.why(cause, said)
	}
	e := &Error{
		Provider: h.Provider, Status: h.Status, Code: cmp.Or(t.Code, said.Code),
		RequestID: cmp.Or(h.RequestID(), said.RequestID),
		sentence:  Line(Redact(sentence, h.Key)),
	}
	if said.Status != 0 && h.Status < http.StatusBadRequest {
		e.Status = said.Status
	}
	verdict := h.judge(cause, fault.Response{
		Provider: h.known(), Model: h.Model, Status: e.Status, Headers: h.Header, Body: body, Code: code,
		Now: h.At,
	}, t.Otherwise)
	e.Class, e.failure = verdict.Class, verdict.Failure()
	e.failure.Message, e.failure.Final = e.sentence, e.failure.Final || final
	e.typed = fault.ProviderError{
		Class: e.Class, Provider: h.known(), Model: h.Model, StatusCode: e.Status,
		RetryAfter: verdict.RetryAfter, Final: e.failure.Final,
		RequestID: e.RequestID, Message: e.sentence, Cause: cause,
	}.Typed()
	if t.Issue != nil {
		e.correct(*t.Issue, cause)
	}
	if h.Status == 0 {
		return e
	}
	return &ratelimit.LimitedError{Err: e, State: h.Limits(body)}
}

// correct makes the error one that the model is told of.
func (e *Error) correct(issue fault.Issue, cause error) {
	issues := []fault.Issue{issue}
	e.Class, e.typed = fault.ToolValidation, errors.Join(&fault.ToolValidationError{Issues: issues}, cause)
	if issue.Rule == fault.RuleUnknownTool {
		e.Class, e.typed = fault.UnknownTool, cause
	}
	e.failure = fault.Failure{Plane: fault.Correction, Class: e.Class, Message: e.sentence, Issues: issues}
}

// cause tells a caller who left from a client whose own time is over.
func (h *Head) cause(ctx context.Context, err error) error {
	switch done := ctx.Err(); {
	case done != nil && !errors.Is(err, done):
		return fmt.Errorf("%w: %w", done, err)
	case done == nil && errors.Is(err, context.DeadlineExceeded):
		return errTimedOut
	}
	return err
}

// judge classifies what went wrong. The Go error counts only where the response does not say it better.
func (h *Head) judge(cause error, r fault.Response, otherwise int) fault.Verdict {
	_, unreadable := errors.AsType[*UnreadableError](cause)
	_, told := errors.AsType[*ToldError](cause)
	switch {
	case told, h.Status >= http.StatusBadRequest:
	case unreadable:
		r.Code, r.Body = string(fault.InvalidResponse), nil
	default:
		r.Err, r.Body = cause, nil // what came before a connection broke tells nothing
	}
	v := fault.Classify(r)
	if told && v.Class == fault.Unknown && r.Status < http.StatusBadRequest && otherwise != 0 {
		r.Status = otherwise
		v = fault.Classify(r)
	}
	if v.Failed() {
		return v
	}
	return fault.Classify(fault.Response{Provider: r.Provider, Code: string(fault.InvalidResponse)})
}

// why says in short what went wrong where the provider did not.
func (h *Head) why(cause error, said Said) string {
	if unreadable, ok := errors.AsType[*UnreadableError](cause); ok {
		return unreadable.Error()
	}
	if told, ok := errors.AsType[*ToldError](cause); ok {
		if said.Code != "" {
			return ""
		}
		return told.Error()
	}
	if h.Status >= http.StatusBadRequest {
		if said.Code != "" {
			return ""
		}
		return cmp.Or(strings.ToLower(http.StatusText(h.Status)), "unknown status")
	}
	return Why(cause)
}

// Bounds of what is read of a response, in bytes.
const (
	MaxReply   = 64 << 20
	MaxRefusal = 1 << 20
)

// ReadWhole reads a body of JSON to its end. One that is cut, or empty, is [ErrEnded].
func ReadWhole(body io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(body)
	if err == nil && Cut(raw) {
		err = ErrEnded
	}
	return raw, err
}

// Bounded is a body that fails with an [UnreadableError] beyond [MaxReply]: SDKs read all there is.
func Bounded(body io.ReadCloser) io.ReadCloser { return &bounded{body, MaxReply} }

type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, &UnreadableError{fmt.Sprintf("more than %d MiB", MaxReply>>20)}
	}
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return 0, &UnreadableError{"no gzip, though its head says so"}
	}
	return n, err
}

// OneOf reports whether a value is one of a list.
func OneOf[S comparable](s S, list ...S) bool { return slices.Contains(list, s) }
