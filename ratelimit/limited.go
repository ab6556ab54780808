package ratelimit

import (
	"errors"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
)

// LimitedError is an error with the rate limits of its response. Adapters wrap their errors in it. It is safe
// for concurrent reading.
type LimitedError struct {
	// Err is the error; required.
	Err error
	// State is parsed from the headers and body of the response: see [Parse].
	State State
}

// Error returns the text of Err.
func (e *LimitedError) Error() string {
	if e.Err == nil {
		return "ratelimit: a LimitedError without an Err"
	}
	return canon.Visible(e.Err.Error())
}

// Unwrap returns Err.
func (e *LimitedError) Unwrap() error { return e.Err }

// RateLimit returns State.
func (e *LimitedError) RateLimit() State { return e.State }

// Failure returns the error as a failure, with the wait that the server asked for, or else, if it refused the
// request for its limits, that of an exhausted window. Any other failure waits for no window: a broken server
// is tried again after the backoff, and a limit that then refuses says so itself.
func (e *LimitedError) Failure() fault.Failure {
	f := fault.FailureOf(e.Err)
	wait := e.State.RetryAfter
	if !wait.Known && (f.Class == fault.RateLimit || f.Class == fault.Quota) {
		wait = e.State.Wait
	}
	if f.RetryAfter == 0 && f.Plane == fault.Transport {
		f.RetryAfter = max(wait.Duration, 0)
	}
	return f
}

// OfError returns the rate limits of an error: those of the first error in its chain with a method
// RateLimit() [State], or zero.
func OfError(err error) State {
	type limited interface {
		error
		RateLimit() State
	}
	if e, ok := errors.AsType[limited](chain.Bounded(err)); ok {
		return e.RateLimit()
	}
	return State{}
}
