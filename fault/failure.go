package fault

import (
	"cmp"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
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
	// MaxReply is the most tokens of a reply that the model can write, if it refused a request for more; else 0.
	MaxReply int64 `json:"max_reply,omitempty"`
	// Final is set if the other side said that another try cannot help: no policy retries it.
	Final bool `json:"final,omitempty"`
}

// Failed reports whether f is a failure at all.
func (f Failure) Failed() bool { return f.Class != "" }

// FailureOf returns a Go error as the core sees it: by the first of its chain that is a typed error of this
// package or has a method Failure() [Failure], else by its classification ([ClassifyError]). Nil is of class
// [Unknown]. It is printable, has no keys, and shares no memory with the error.
func FailureOf(err error) Failure {
	var f Failure
	isOwn := chain.Has(err, func(e error) (own bool) {
		f, own = typedFailure(e)
		return own
	})
	if !isOwn {
		f = ClassifyError(err).Failure()
	}
	return Recordable(f.complete(), err)
}

// Recordable returns a failure as it may be recorded: printable, without keys, with issues of its own, and
// with the text of the Go error behind it if that says more. err may be nil.
func Recordable(f Failure, err error) Failure {
	f.Class, f.Tool, f.Message = canon.UTF8(f.Class), canon.UTF8(f.Tool), Scrub(canon.UTF8(f.Message))
	f.Issues = slices.Clone(PrintableIssues(f.Issues))
	if err == nil || !f.Failed() || len(f.Issues) > 0 {
		return f
	}
	if text := Scrub(canon.UTF8(err.Error())); text != f.Message && text != string(f.Class) {
		f.Text = text
	}
	return f
}

// typedFailure returns the failure of a typed error of this package. It does not look into its chain.
func typedFailure(err error) (Failure, bool) {
	switch e := err.(type) {
	case *ToolValidationError:
		return Failure{Plane: Correction, Class: ToolValidation, Tool: e.Tool, Issues: e.Issues}, true
	case *StructuredOutputError:
		return Failure{Plane: Correction, Class: StructuredOutput, Issues: e.Issues}, true
	case *ReducerError:
		return Failure{Plane: Correction, Class: Reducer, Message: e.Error()}, true
	case failing:
		return e.Failure(), true
	}
	return Failure{}, false
}

// failing is an error that knows its failure.
type failing interface {
	error
	Failure() Failure
}

// complete returns a failure with a class, and with the plane that it names or else that of its class.
func (f Failure) complete() Failure {
	f.Class = cmp.Or(f.Class, Unknown)
	switch {
	case f.Plane == Correction || f.Plane == Transport:
	case f.Class.Plane() == Transport:
		f.Plane = Transport
	default:
		f.Plane = Correction
	}
	return f
}
