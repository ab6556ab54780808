package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/ratelimit"
)

// ErrAbandoned is what [Worker].Try returns where it leaves a try without an outcome: the try is recorded as
// cancelled, and the action ends.
var ErrAbandoned = errors.New("the try was left without an outcome")

// SizeError says that something is larger than what the server takes in one piece. It is found before
// anything is sent.
type SizeError struct {
	// What is what was to be sent.
	What string `json:"what"`
	// Bytes is its size, Limit the most that is sent: see [Worker].MaxPayload.
	Bytes int `json:"bytes"`
	Limit int `json:"limit"`
}

// Error names the size, the limit and what would help.
func (e *SizeError) Error() string {
	return fmt.Sprintf("temporal: %s has %d bytes, more than the %d that are sent in one piece: "+
		"give the worker a Store and its client the DataConverter of ClaimCheck, or say less", e.What, e.Bytes, e.Limit)
}

// RunError says that a run could not be made or gone on with: in process, [loop.Run] would have returned an
// error that is no [loop.RetryExhaustedError].
type RunError struct {
	// Text says why.
	Text string
}

// Error is the text: that of the error in process, where it is user code's.
func (e *RunError) Error() string { return e.Text }

// trouble is an error that ends a run, as a value.
type trouble struct {
	Text string     `json:"text,omitempty"`
	Size *SizeError `json:"size,omitempty"`
}

// maxText bounds in bytes the text of an error that ends a run: it stands in the history.
const maxText = 8 << 10

func troubled(err error) *trouble {
	if err == nil {
		return nil
	}
	if size, ok := errors.AsType[*SizeError](err); ok {
		return &trouble{Size: size}
	}
	if run, ok := errors.AsType[*RunError](err); ok {
		return &trouble{Text: cut(utf8(run.Text), maxText)}
	}
	return &trouble{Text: cut(utf8(err.Error()), maxText)}
}

// err is the Go error that a trouble is; nil for none.
func (t *trouble) err() error {
	switch {
	case t == nil:
		return nil
	case t.Size != nil:
		return t.Size
	}
	return &RunError{t.Text}
}

// RemoteError is an error of user code that another process returned. It crosses as a value: its text and
// what is known of it. errors.As finds the typed error of package fault in it, and [loop.RetryExhaustedError]
// has it as its cause.
type RemoteError struct {
	// Text is that of the error.
	Text string `json:"text"`
	// Seen is the error as the core sees it.
	Seen fault.Failure `json:"seen"`
	// Provider is set where a model's provider returned it.
	Provider *RemoteProvider `json:"provider,omitempty"`
	// Reducer is set where a reducer did.
	Reducer *fault.ReducerError `json:"reducer,omitempty"`
	// Limits is what the error said of rate limits; nil where it said nothing.
	Limits *ratelimit.State `json:"limits,omitempty"`
	// Planner is set where a planner returned it; Asked is then what the planner was asked about, nil for
	// none.
	Planner bool         `json:"planner,omitempty"`
	Asked   *RemoteError `json:"asked,omitempty"`
}

// RemoteProvider is a [fault.ProviderError] as data.
type RemoteProvider struct {
	Class      fault.Class   `json:"class"`
	Provider   string        `json:"provider,omitempty"`
	Model      string        `json:"model,omitempty"`
	StatusCode int           `json:"status_code,omitempty"`
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	Final      bool          `json:"final,omitempty"`
	RequestID  string        `json:"request_id,omitempty"`
	Message    string        `json:"message,omitempty"`
}

// limited is an error that says something of rate limits.
type limited interface {
	error
	RateLimit() ratelimit.State
}

// remote is an error as a value; nil for nil.
func remote(err error) *RemoteError {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*RemoteError](err); ok && e != nil {
		own := *e
		own.Text = utf8(err.Error())
		return &own
	}
	r := &RemoteError{Text: utf8(err.Error()), Seen: fault.FailureOf(err)}
	if p, ok := errors.AsType[*fault.ProviderError](err); ok {
		r.Provider = &RemoteProvider{
			utf8(p.Class), utf8(p.Provider), utf8(p.Model), p.StatusCode, p.RetryAfter, p.Final,
			utf8(p.RequestID), utf8(p.Message),
		}
	}
	if e, ok := errors.AsType[*fault.ReducerError](err); ok {
		own := *e
		own.Cause, r.Reducer = nil, &own
	}
	if e, ok := errors.AsType[limited](err); ok {
		state := e.RateLimit()
		r.Limits = &state
	}
	return r
}

// cause is the error, and nil where there is none.
func (e *RemoteError) cause() error {
	if e == nil {
		return nil
	}
	if !e.Planner {
		return e
	}
	own := *e
	own.Planner, own.Asked = false, nil
	return &engine.PlannerError{Err: &own, Asked: e.Asked.cause()}
}

// Error is the text that the error had where it came up.
func (e *RemoteError) Error() string { return e.Text }

// Is reports whether the error stands for the end of a context: [context.Canceled] or
// [context.DeadlineExceeded].
func (e *RemoteError) Is(target error) bool {
	return (&loop.RecordedError{Recorded: e.Seen}).Is(target)
}

// Failure is the error as the core sees it.
func (e *RemoteError) Failure() fault.Failure { return e.Seen }

// RateLimit is what the error said of rate limits; zero where it said nothing.
func (e *RemoteError) RateLimit() ratelimit.State {
	if e.Limits == nil {
		return ratelimit.State{}
	}
	return *e.Limits
}

// Unwrap returns the typed error that it was; nil where it had no type that is known here.
func (e *RemoteError) Unwrap() error {
	switch p := e.Provider; {
	case e.Reducer != nil:
		return e.Reducer
	case p != nil:
		return fault.ProviderError{
			Class: p.Class, Provider: p.Provider, Model: p.Model, StatusCode: p.StatusCode,
			RetryAfter: p.RetryAfter, Final: p.Final, RequestID: p.RequestID, Message: p.Message,
		}.Typed()
	}
	switch e.Seen.Class {
	case fault.Cancelled:
		return context.Canceled
	case fault.ToolValidation, fault.UnknownTool:
		return &fault.ToolValidationError{Tool: e.Seen.Tool, Issues: e.Seen.Issues}
	case fault.StructuredOutput:
		return &fault.StructuredOutputError{Issues: e.Seen.Issues}
	}
	if _, builtIn := fault.Lookup(e.Seen.Class); !builtIn && e.Seen.Plane == fault.Correction {
		return &fault.ClassError{Class: e.Seen.Class, Issues: e.Seen.Issues}
	}
	return nil
}
