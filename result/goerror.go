package result

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// UnwrapError is the Go error of a result without data. Safe for concurrent reading.
type UnwrapError struct {
	Status Status
	// Failure is the error as data; zero for work in progress.
	Failure Error
	// Cause is the typed error of package fault that Failure amounts to, so that errors.As finds a
	// [*fault.RateLimitError] and its kin, and the [*fault.ProviderError] below; a [*fault.ClassError] for
	// classes of the correction plane and of the user's own. Nil for work in progress.
	Cause error
}

// Error says the status and, of an error, its class and message.
func (e *UnwrapError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("result without data: status is %q", e.Status)
	}
	return "result without data: " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *UnwrapError) Unwrap() error { return e.Cause }

// Unwrap returns the data of a success; an [*UnwrapError] of anything else.
func (r Result[T]) Unwrap() (T, error) {
	if r.IsSuccess() {
		return r.Data, nil
	}
	var none T
	if !r.IsError() {
		return none, &UnwrapError{Status: r.Status}
	}
	return none, &UnwrapError{Status: r.Status, Failure: r.Error, Cause: r.cause()}
}

func (r Result[T]) cause() error {
	e := r.Error
	if e.Class.Plane() == fault.Transport {
		m := r.metadata()
		return fault.Typed(fault.ProviderError{
			Class: e.Class, Provider: m.Provider, Model: m.Model, StatusCode: m.StatusCode,
			RetryAfter: m.RetryAfter, RequestID: r.Provider.RequestID, Message: e.Message,
		})
	}
	if e.Message == "" {
		return &fault.ClassError{Class: e.Class}
	}
	return &fault.ClassError{Class: e.Class, Cause: errors.New(e.Message)}
}

// FromError makes a result of a Go error. Its class is that of a [fault.ClassError] in the chain, or else
// that of [fault.Classify]. Its message is the provider's if a provider's error is in the chain, else that of
// the whole chain. Its rate limits are those of the error: see [ratelimit.OfError]. A result that was
// unwrapped comes back as it was. A nil error gives a success with the zero value.
func FromError[T any](err error) Result[T] {
	if err == nil {
		var none T
		return Success(none)
	}
	err = chain.Bounded(err)
	var unwrapped *UnwrapError
	if errors.As(err, &unwrapped) && unwrapped.Failure.Class != "" {
		r := Result[T]{Status: StatusError, Error: unwrapped.Failure}
		r.addProvider(unwrapped.Cause)
		return r
	}
	var own *fault.ClassError
	if errors.As(err, &own) && own.Class != "" {
		r := Failure[T](own.Class, err.Error())
		r.Error.Type = typeName(err)
		return r
	}
	r := FromResponse[T](fault.Response{Err: err})
	if s := ratelimit.OfError(err); len(s.Windows) > 0 {
		r.RateLimit = told(s)
	}
	r.Error.Type = typeName(err)
	r.addProvider(err)
	return r
}

// addProvider takes over what a provider's error in the chain knows.
func (r *Result[T]) addProvider(err error) {
	var p *fault.ProviderError
	if !errors.As(err, &p) {
		return
	}
	r.Execution.Provider, r.Execution.Model, r.Provider.RequestID = p.Provider, p.Model, p.RequestID
	r.Error.StatusCode = p.StatusCode
	if p.Message != "" {
		r.Error.Message = p.Message
	}
	if p.RetryAfter > 0 {
		r.RateLimit.RetryAfter = ratelimit.In(p.RetryAfter)
	}
}

// typeName returns the name of the typed agent error in the chain. Other Go types mean nothing to other
// systems.
func typeName(err error) string {
	for _, target := range []any{
		new(*fault.RateLimitError), new(*fault.AuthError), new(*fault.ModelNotFoundError),
		new(*fault.TimeoutError), new(*fault.ConfigError), new(*fault.APIError),
		new(*fault.ToolValidationError),
		new(*fault.StructuredOutputError), new(*fault.ReducerError),
	} {
		if errors.As(err, target) {
			return reflect.TypeOf(target).Elem().Elem().Name()
		}
	}
	return ""
}

// FromResponse makes a result of a failed response: its class, its rate limits as of r.Now, and its headers
// without secrets. If nothing went wrong, the class is Unknown.
func FromResponse[T any](r fault.Response) Result[T] {
	v := fault.Classify(r)
	failed := Failure[T](cmp.Or(v.Class, fault.Unknown), v.Message)
	failed.Finish = message.Error
	failed.Error.Type, failed.Error.StatusCode = r.Type, v.Metadata.StatusCode
	failed.Error.Retryable = new(v.Plane == fault.Transport && v.Retryable)
	failed.Execution.Provider, failed.Execution.Model = r.Provider, r.Model
	failed.RateLimit = limits(r, v)
	failed.Provider.RawHeaders = CleanHeaders(r.Headers)
	if v.Failed() {
		failed.Provider.RequestID = fault.RequestID(r.Headers)
	}
	return failed
}

// limits reads the rate limits, with the wait that the classification found.
func limits(r fault.Response, v fault.Verdict) ratelimit.State {
	return told(ratelimit.Response{
		Provider: r.Provider, Headers: r.Headers, Body: r.Body, At: r.Now,
		RetryAfter: ratelimit.Span{Duration: v.RetryAfter, Known: v.Asked},
	}.Limits())
}

// told returns a state without lists that are empty.
func told(s ratelimit.State) ratelimit.State {
	if len(s.Windows) == 0 {
		s.Windows = nil
	}
	if len(s.Ignored) == 0 {
		s.Ignored = nil
	}
	return s
}
