package fault

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/several"
)

// ToolValidationError says that the arguments of a tool call cannot be used. Safe for concurrent
// reading.
type ToolValidationError struct {
	// Tool is the tool's registered name.
	Tool string
	// Issues says all that is wrong, in canonical order.
	Issues []Issue
}

// Error lists the issues on one line.
func (e *ToolValidationError) Error() string {
	if len(e.Issues) == 1 && e.Issues[0].Rule == RuleUnknownTool { // nothing is wrong with its arguments
		return fmt.Sprintf("no tool %q: %s", e.Tool, e.Issues[0].Says())
	}
	if len(e.Issues) == 1 && e.Issues[0].Rule == RuleToolChoice {
		return fmt.Sprintf("call of tool %q: %s", e.Tool, e.Issues[0].Says())
	}
	return fmt.Sprintf("arguments of tool %q: %s", e.Tool, joinIssues(e.Issues))
}

// StructuredOutputError says that a final answer cannot be parsed or is refused by its schema.
// Safe for concurrent reading.
type StructuredOutputError struct {
	// Issues says all that is wrong, in canonical order.
	Issues []Issue
}

// Error lists the issues on one line.
func (e *StructuredOutputError) Error() string { return "structured output: " + joinIssues(e.Issues) }

// ReducerError says that a reducer refused an event or panicked on it: no state slice was changed.
// It is also an entry of the session's log slice of the same name. Safe for concurrent reading.
type ReducerError struct {
	// Reducer is the name of the reducer that failed.
	Reducer string `json:"reducer" redact:"keep"`
	// Payload is the event it failed on, as canonical JSON.
	Payload string `json:"payload" redact:"reducer"`
	// Message is the reducer's own error text, or that of its panic, as [Scrub] leaves it: the user's code
	// wrote it.
	Message string `json:"message" redact:"reducer"`
	// Panicked is set if the reducer panicked instead of returning an error.
	Panicked bool `json:"panicked,omitempty"`
	// Cause is the error the reducer returned; nil after a panic, and in what was read back from a snapshot
	// or journal.
	Cause error `json:"-"`
}

// Error names the reducer and its message.
func (e *ReducerError) Error() string { return fmt.Sprintf("reducer %q: %s", e.Reducer, e.Message) }

// Unwrap returns the error the reducer returned.
func (e *ReducerError) Unwrap() error { return e.Cause }

func joinIssues(issues []Issue) string {
	return cmp.Or(canon.Visible(several.Joined(issues)), "no issues given")
}

// ClassError gives an error a class, built-in or the user's own. A tool, a model or a try returns it. With a
// class of the transport plane it says what [TransportError] says. With any other it is of the correction
// plane: if the policy lists the class, the failure is an attempt, and the model is told the issues. If it
// does not, a tool's error ends only the call. A tool's error with a built-in class of the correction plane
// is treated like any other error, because the tool has run. Safe for concurrent reading.
type ClassError struct {
	// Class is the class that policies list; required.
	Class Class
	// Issues says what is wrong, if that can be said as issues.
	Issues []Issue
	// Cause is the error itself; may be nil.
	Cause error
}

// Error names the class and the cause.
func (e *ClassError) Error() string {
	if e.Cause == nil {
		return string(e.Class)
	}
	return string(e.Class) + ": " + canon.Visible(e.Cause.Error())
}

// Unwrap returns the cause.
func (e *ClassError) Unwrap() error { return e.Cause }

// Failure returns the error as the core sees it.
func (e *ClassError) Failure() Failure {
	if e.Class.Plane() == Transport {
		return Failure{Plane: Transport, Class: e.Class, Message: Scrub(e.Error())}
	}
	return Failure{Plane: Correction, Class: e.Class, Message: Scrub(e.Error()),
		Issues: SortIssues(slices.Clone(e.Issues))}
}

// Sealed is the error of a piece of work that has ended: a run, an action, a tool call, a panic. What it
// wraps is about that work alone. So [TypedFailure], and the classification of a tool's error, do not look
// into it. errors.Is and errors.As do.
type Sealed interface {
	error
	// Sealed reports whether the error is of other work than a call of the named tool.
	Sealed(tool string) bool
}

// Bounded returns err, unless the tree of errors that it wraps is endless or has more than 256: then it
// returns an error with the same text, in which errors.Is and errors.As find the first 256. On an error that
// wraps itself the two would never return. The errors of models, tools and other user code are bounded before
// anything looks into them; an engine or adapter bounds what it is given. Nil stays nil; in place of a nil
// pointer that is an error it returns an error that names its type.
func Bounded(err error) error { return chain.Bounded(err) }
