package ratelimit

import (
	"errors"

	"github.com/retake-go/retake/fault"
)

// LimitedError is an error with what the response said of rate limits. Adapters wrap what they return in it.
// Safe for concurrent reading.
type LimitedError struct {
	// Err is the error itself; required.
	Err error
	// State is read from the response's headers and body: see [Parse].
	State State
}

// Error is the error's own text.
func (e *LimitedError) Error() string {
	if e.Err == nil {
		return "ratelimit: a LimitedError without an Err"
	}
	return e.Err.Error()
}

// Unwrap returns the error itself.
func (e *LimitedError) Unwrap() error { return e.Err }

// RateLimit is what the response said.
func (e *LimitedError) RateLimit() State { return e.State }

// Failure is the error as the core sees it, with the wait that the server asked for: outright, or by a window
// that is used up. See [State.Delay].
func (e *LimitedError) Failure() fault.Failure {
	f := fault.FailureOf(e.Err)
	if wait, known := e.State.Delay(); known && f.RetryAfter == 0 && f.Plane == fault.Transport {
		f.RetryAfter = max(wait, 0)
	}
	return f
}

// OfError is what an error says of rate limits: by the first of its chain with a method RateLimit() [State].
// It is zero where none has one.
func OfError(err error) State {
	var e interface {
		error
		RateLimit() State
	}
	if errors.As(err, &e) {
		return e.RateLimit()
	}
	return State{}
}
