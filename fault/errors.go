package fault

import (
	"fmt"
	"strings"
	"time"
)

// Failure is a failure as the pure core sees it: a value without Go errors, to be printed, compared and
// journaled. The zero value means "nothing went wrong".
type Failure struct {
	// Plane is the plane the failure belongs to.
	Plane Plane `json:"plane"`
	// Class is the class that policies list. On the transport plane it is the canonical error code.
	Class Class `json:"class"`
	// Tool is the tool whose call failed; empty for an answer or a model call.
	Tool string `json:"tool,omitempty" redact:"name"`
	// Message is one line for operators. It never reaches a prompt.
	Message string `json:"message,omitempty" redact:"text"`
	// Text is the scrubbed text of the error behind the failure, if it differs from Message. The error of a
	// run that is read from a journal says it again. It never reaches a prompt.
	Text string `json:"text,omitempty" redact:"text"`
	// Issues are in canonical order.
	Issues []Issue `json:"issues,omitempty"`
	// RetryAfter is the wait that the server asked for, or 0. Never negative.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	// Final is set if the other side said that another try cannot help: no policy retries it.
	Final bool `json:"final,omitempty"`
}

// Failed reports whether f is a failure at all.
func (f Failure) Failed() bool { return f.Class != "" }

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
	if len(issues) == 0 {
		return "no issues given"
	}
	lines := make([]string, len(issues))
	for n, i := range issues {
		lines[n] = i.String()
	}
	return strings.Join(lines, "; ")
}

// ClassError gives an error a class, built-in or the user's own. A tool, a model or a try returns it. It is
// of the correction plane: if the policy lists the class, the failure is an attempt, and the model is told
// the issues. If it does not, a tool's error ends only the call. A tool's error with a built-in class of the
// correction plane is one like any other, because the tool has run. Safe for concurrent reading.
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
	return string(e.Class) + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *ClassError) Unwrap() error { return e.Cause }

// Failure is the error as the core sees it.
func (e *ClassError) Failure() Failure {
	return Failure{Plane: Correction, Class: e.Class, Message: Scrub(e.Error()), Issues: SortIssues(e.Issues)}
}
