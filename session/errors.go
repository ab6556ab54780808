package session

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/reducer"
)

// The errors of a session or state; use errors.Is.
var (
	errUnfinished = errors.New("session: a run of its journal was left to be resumed, and goes on with its own " +
		"state: finish it first, with Loop.Resume or the same call")

	// ErrBusy: a run holds the session.
	ErrBusy = errors.New("the session is held by a run: wait for its end, or speak to it with Session.Say")
	// ErrReentrant: a reducer, or a function that is called during a change, changes the session in turn. It
	// would wait for its own end. One that changes another session waits for that session instead; two
	// reducers that change each other's sessions wait for ever.
	ErrReentrant = errors.New("a change of the session calls for another one from within (a reducer, or a " +
		"callback), which would wait for itself: return the change, or dispatch the event afterwards")
	// ErrNotHeld: only the run that holds the session may do this.
	ErrNotHeld = errors.New("session: no run holds it: begin one; a message is its prompt")
)

// Causes that only mistakes of the program have.
var (
	errAdopted  = errors.New("the session has another id already")
	errLogSlice = errors.New("a log slice allows only append and extend")
	errBuiltin  = errors.New("only the loop writes to a built-in log")
	errUnknown  = errors.New("unknown slice") // none of this name is declared
	errKind     = errors.New("the slice is declared with another kind")
)

// badConfig returns the error of one fault of a [Config]: the path of the field, and what would be right.
func badConfig(field, want string) error { return fmt.Errorf("session config: %s: %s", field, want) }

// badOp returns the error of an operation, by its index from 0, that cannot be applied to a state.
func badOp(index int, op reducer.Op, cause error) error {
	return fmt.Errorf("operation %d: %s on slice %q: %w", index, op.Kind, op.Slice, cause)
}

// badSlice returns the error of a slice of a state that does not fit a session.
func badSlice(slice string, cause error) error { return fmt.Errorf("slice %q: %w", slice, cause) }

// badValue returns the error of a value, by its index from 0, that does not fit the Go type of its slice.
func badValue(slice string, index int, cause error) error {
	return fmt.Errorf("slice %q, value %d: %w", slice, index, cause)
}

// badSnapshot says why a text is not a snapshot. The field is empty for the whole text; the cause may be nil.
func badSnapshot(field, want string, cause error) error {
	if field != "" {
		want = field + ": " + want
	}
	if cause != nil {
		return fmt.Errorf("snapshot: %s: %w", want, cause)
	}
	return errors.New("snapshot: " + want)
}
