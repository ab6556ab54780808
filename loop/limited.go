package loop

import (
	"errors"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/ratelimit"
)

// LimitedError is an error with what the response said of rate limits, so that a [Planner] sees the windows.
// Adapters wrap what they return in it. Any error in a chain with a method RateLimit() ratelimit.State does
// the same.
type LimitedError struct {
	// Err is the error itself; required.
	Err error
	// State is read from the response's headers and body: see [ratelimit.Parse].
	State ratelimit.State
}

// Error is the error's own text.
func (e *LimitedError) Error() string {
	if e.Err == nil {
		return "loop: a LimitedError without an Err"
	}
	return e.Err.Error()
}

// Unwrap returns the error itself.
func (e *LimitedError) Unwrap() error { return e.Err }

// RateLimit is what the response said.
func (e *LimitedError) RateLimit() ratelimit.State { return e.State }

// Failure is the error as the core sees it, with the wait that the server asked for outright. A wait that
// only follows from windows is the planner's.
func (e *LimitedError) Failure() fault.Failure {
	f := failureOf(e.Err)
	if f.RetryAfter == 0 && f.Plane == fault.Transport {
		f.RetryAfter = max(e.State.RetryAfter.Duration, 0)
	}
	return f
}

type limited interface {
	error
	RateLimit() ratelimit.State
}

// RateLimitOf is what an error says of rate limits; zero where it says nothing.
func RateLimitOf(err error) ratelimit.State {
	if e, ok := errors.AsType[limited](err); ok {
		return e.RateLimit()
	}
	return ratelimit.State{}
}
