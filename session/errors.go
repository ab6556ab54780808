package session

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/reducer"
)

// The errors of a session or state; use errors.Is.
var (
	// ErrBusy: a run holds the session.
	ErrBusy = errors.New("the session is held by a run")
	// ErrReentrant: a reducer, or a function that is called during a change, changes the session in turn. It
	// would wait for its own end. One that changes another session waits for that session instead; two
	// reducers that change each other's sessions wait for ever.
	ErrReentrant = errors.New("a change of the session calls for another one from within (a reducer, or a callback), which would wait for itself: " +
		"return the change, or dispatch the event afterwards")
	// ErrNotHeld: only the run that holds the session may do this.
	ErrNotHeld = errors.New("the session is not held: call Acquire first")
	// ErrAdopted: the session has another id already.
	ErrAdopted = errors.New("the session has another id already")
	// ErrUnknownSlice: no slice of this name is declared.
	ErrUnknownSlice = errors.New("unknown slice")
	// ErrLogSlice: the operation would remove values from a log, which only grows.
	ErrLogSlice = errors.New("a log slice allows only append and extend")
	// ErrBuiltin: operations cannot write to the built-in logs.
	ErrBuiltin = errors.New("only the loop writes to a built-in log")
	// ErrKind: the slice is declared with another kind.
	ErrKind = errors.New("the slice is declared with another kind")
)

// ConfigError is one fault of a [Config].
type ConfigError struct {
	// Field is the path of the field: "slices[1]".
	Field string
	// Want says what would be right.
	Want string
}

// Error names the field and what would be right.
func (e *ConfigError) Error() string { return "session config: " + e.Field + ": " + e.Want }

// OpError reports an operation that cannot be applied to a state.
type OpError struct {
	// Index is the index of the operation, from 0.
	Index int
	Slice string
	Kind  reducer.OpKind
	// Cause is [ErrUnknownSlice], [ErrLogSlice], [ErrBuiltin], a [*reducer.InvalidError], or an error about a
	// value.
	Cause error
}

// Error names the operation and its slice.
func (e *OpError) Error() string {
	return fmt.Sprintf("operation %d: %s on slice %q: %v", e.Index, e.Kind, e.Slice, e.Cause)
}

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Cause }

// SliceError reports a slice of a state that does not fit a session.
type SliceError struct {
	Slice string
	// Cause is [ErrUnknownSlice] or [ErrKind].
	Cause error
}

// Error names the slice.
func (e *SliceError) Error() string { return fmt.Sprintf("slice %q: %v", e.Slice, e.Cause) }

// Unwrap returns the cause.
func (e *SliceError) Unwrap() error { return e.Cause }

// ValueError reports a value that does not fit the Go type of its slice.
type ValueError struct {
	Slice string
	// Index is the index of the value, from 0.
	Index int
	// Cause says what does not fit.
	Cause error
}

// Error names the slice and the value.
func (e *ValueError) Error() string {
	return fmt.Sprintf("slice %q, value %d: %v", e.Slice, e.Index, e.Cause)
}

// Unwrap returns the cause.
func (e *ValueError) Unwrap() error { return e.Cause }

// SnapshotError reports why a text is not a valid snapshot.
type SnapshotError struct {
	// Field is the path of the field; empty for the whole text.
	Field string
	// Want says what would be right.
	Want string
	// Cause is what was found instead, or nil.
	Cause error
}

// Error names the field and what would be right.
func (e *SnapshotError) Error() string {
	text := "snapshot: " + e.Want
	if e.Field != "" {
		text = "snapshot: " + e.Field + ": " + e.Want
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *SnapshotError) Unwrap() error { return e.Cause }
