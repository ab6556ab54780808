package temporal

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/ratelimit"
)

// ErrAbandoned is the error with which [Worker].Try leaves an attempt without an outcome. The attempt is
// recorded as cancelled, and the action ends.
var ErrAbandoned = errors.New("the attempt was left without an outcome")

// SizeError reports a payload that is too large. It is found before anything is sent.
type SizeError struct {
	// What describes the payload.
	What string `json:"what"`
	// Bytes is its size, Limit the largest that is sent: see [Worker].MaxPayload.
	Bytes int `json:"bytes"`
	Limit int `json:"limit"`
}

// Error returns the size, the limit and a remedy.
func (e *SizeError) Error() string {
	return fmt.Sprintf("temporal: %s has %d bytes, more than the limit of %d: "+
		"set the worker's Store and its client's DataConverter (ClaimCheck), or send less",
		e.What, e.Bytes, e.Limit)
}

// RunError reports that a run could not begin or continue. In process, [loop.Loop.Run] would have returned an
// error other than [loop.RetryExhaustedError].
type RunError struct {
	// Text is the reason.
	Text string
}

// Error returns the text. An error of user code has the same text as in process.
func (e *RunError) Error() string { return e.Text }

// errorValue is an error that ends a run, as a value.
type errorValue struct {
	Text string     `json:"text,omitempty"`
	Size *SizeError `json:"size,omitempty"`
}

// maxText bounds the text of an error in the history, in bytes.
const maxText = 8 << 10

func troubled(err error) *errorValue {
	if err == nil {
		return nil
	}
	if size, ok := errors.AsType[*SizeError](err); ok {
		return &errorValue{Size: size}
	}
	if run, ok := errors.AsType[*RunError](err); ok {
		return &errorValue{Text: cut(utf8(run.Text), maxText)}
	}
	return &errorValue{Text: cut(utf8(err.Error()), maxText)}
}

// err returns the value as an error; nil stays nil.
func (t *errorValue) err() error {
	switch {
	case t == nil:
		return nil
	case t.Size != nil:
		return t.Size
	}
	return &RunError{t.Text}
}

// RemoteError is an error of user code in another process: its text and its classification. errors.As finds
// the typed error of package fault in it, and it is the cause of a [loop.RetryExhaustedError].
type RemoteError struct {
	// Text is the text of the error.
	Text string `json:"text"`
	// Seen is the error as the core sees it.
	Seen fault.Failure `json:"seen"`
	// Provider is set for an error of a model's provider.
	Provider *fault.ProviderError `json:"provider,omitempty"`
	// Reducer is set for an error of a reducer.
	Reducer *fault.ReducerError `json:"reducer,omitempty"`
	// Limits are the rate limits that the error reported; nil for none.
	Limits *ratelimit.State `json:"limits,omitempty"`
	// Planner is set for an error of a planner. Asked is then the error that the planner was asked
	// about; nil for none.
	Planner bool         `json:"planner,omitempty"`
	Asked   *RemoteError `json:"asked,omitempty"`
}

// remote converts an error to a value; nil stays nil.
func remote(err error) *RemoteError {
	if err == nil {
		return nil
	}
	err = fault.Bounded(err)
	if e, ok := errors.AsType[*RemoteError](err); ok && e != nil {
		own := *e
		own.Text = utf8(err.Error())
		return &own
	}
	r := &RemoteError{Text: utf8(err.Error()), Seen: fault.FailureOf(err)}
	if p, ok := errors.AsType[*fault.ProviderError](err); ok {
		own := *p
		own.Cause = nil
		for _, text := range []*string{&own.Provider, &own.Model, &own.RequestID, &own.Message} {
			*text = utf8(*text)
		}
		own.Class = utf8(own.Class)
		r.Provider = &own
	}
	if e, ok := errors.AsType[*fault.ReducerError](err); ok {
		own := *e
		own.Cause, r.Reducer = nil, &own
	}
	if state := ratelimit.OfError(err); !reflect.ValueOf(state).IsZero() {
		r.Limits = &state
	}
	return r
}

// cause returns the error for [loop.ResultOf]; nil stays nil.
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

// Error returns the text of the original error.
func (e *RemoteError) Error() string { return e.Text }

// Is reports whether the error means the end of a context: [context.Canceled] or
// [context.DeadlineExceeded].
func (e *RemoteError) Is(target error) bool { return e.recorded().Is(target) }

// Failure returns the error as the core sees it.
func (e *RemoteError) Failure() fault.Failure { return e.Seen }

// RateLimit returns the rate limits that the error reported; zero for none.
func (e *RemoteError) RateLimit() ratelimit.State {
	if e.Limits == nil {
		return ratelimit.State{}
	}
	return *e.Limits
}

// Unwrap returns the original typed error; nil if its type is not known here.
func (e *RemoteError) Unwrap() error {
	switch {
	case e.Reducer != nil:
		return e.Reducer
	case e.Provider != nil:
		return fault.Typed(*e.Provider)
	case e.Seen.Plane == fault.Transport: // Seen says what it was; nobody said that it was a provider's
		return nil
	}
	return e.recorded().Unwrap()
}

// recorded is the error as a journal has it.
func (e *RemoteError) recorded() *fault.RecordedError { return &fault.RecordedError{Recorded: e.Seen} }
