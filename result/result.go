package result

import (
	"encoding/json"

	"github.com/retake-go/retake/fault"
)

// Status says how far a result is. The zero value is invalid.
type Status string

// The statuses, as result envelopes write them.
const (
	StatusSuccess    Status = "success"
	StatusError      Status = "error"
	StatusInProgress Status = "in-progress"
)

// Result is the outcome of a run: data, an error, or work in progress. The zero value is invalid. As JSON it
// has the form of the result envelope; [Encode] and [Decode] know the others.
//
// With T = [json.RawMessage] the data passes through unchanged. A struct is read as encoding/json does it,
// and members that it does not have are dropped.
type Result[T any] struct {
	Status Status
	// Data is the outcome of a success; zero otherwise.
	Data T
	// Error says what failed; zero unless Status is StatusError.
	Error Error
	Meta
}

// Success returns a result with data.
func Success[T any](data T) Result[T] { return Result[T]{Status: StatusSuccess, Data: data} }

// Failure returns a result with an error: a class, built-in or the agent's own, and a message for operators,
// which may be empty. It is marked as retryable if the class is.
func Failure[T any](class fault.Class, message string) Result[T] {
	return Result[T]{
		Status: StatusError,
		Error:  Error{Class: class, Message: message, Retryable: new(class.Transient())},
	}
}

// InProgress returns a result that is not final. The metadata is JSON, nil for none.
func InProgress[T any](metadata json.RawMessage) Result[T] {
	return Result[T]{Status: StatusInProgress, Meta: Meta{Metadata: metadata}}
}

// IsSuccess reports whether there is data.
func (r Result[T]) IsSuccess() bool { return r.Status == StatusSuccess }

// IsError reports whether the run failed.
func (r Result[T]) IsError() bool { return r.Status == StatusError }

// IsInProgress reports whether there is more to come.
func (r Result[T]) IsInProgress() bool { return r.Status == StatusInProgress }

// Retryable reports whether running the agent again may help: as the error says, or else as its class says.
// It is false unless r is an error.
func (r Result[T]) Retryable() bool {
	if own := r.Error.Retryable; own != nil {
		return r.IsError() && *own
	}
	return r.IsError() && r.Error.Class.Transient()
}

// Below reports whether the result's confidence is known and less than least.
func (r Result[T]) Below(least float64) bool { return r.Confidence != nil && *r.Confidence < least }

// UserMessage says to a person what went wrong and what to do next: see [fault.UserMessage]. Empty unless r
// is an error.
func (r Result[T]) UserMessage() string {
	if !r.IsError() {
		return ""
	}
	return fault.UserMessage(r.Error.Class, r.metadata())
}

// metadata returns what a message to users may show.
func (r Result[T]) metadata() fault.Metadata {
	return fault.Metadata{
		Provider: r.Execution.Provider, Model: r.Execution.Model, StatusCode: r.Error.StatusCode,
		RetryAfter: r.RateLimit.RetryAfter.Duration,
	}
}

// Validate checks the result as Encode does; nil, or an [*InvalidError] whose places are those of the
// "retake" extension.
func (r Result[T]) Validate() error {
	_, err := toCore(r)
	return err
}

// MarshalJSON writes the form of the result envelope.
func (r Result[T]) MarshalJSON() ([]byte, error) { return Encode(ResultEnvelope, r) }

// UnmarshalJSON reads the form of the result envelope.
func (r *Result[T]) UnmarshalJSON(doc []byte) error {
	read, err := Decode[T](ResultEnvelope, doc)
	if err != nil {
		return err
	}
	*r = read
	return nil
}
