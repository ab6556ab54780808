package fault

import (
	"cmp"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
)

// TransportError says that a call did not come through. A tool that is declared read-only or idempotent is
// run again for it, under the transport policy. Safe for concurrent reading.
type TransportError struct {
	// Class is the class that policies list. Empty means [Unavailable].
	Class Class
	// RetryAfter is the wait that the other side asked for, or 0. A negative one counts as 0.
	RetryAfter time.Duration
	// Final is set if the other side said that another try cannot help.
	Final bool
	// Cause is the error itself; may be nil.
	Cause error
}

// Error names the class and the cause.
func (e *TransportError) Error() string {
	class := string(cmp.Or(e.Class, Unavailable))
	if e.Cause == nil {
		return class
	}
	return class + ": " + canon.Visible(e.Cause.Error())
}

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Cause }

// Failure returns the error as the core sees it.
func (e *TransportError) Failure() Failure {
	return Failure{
		Plane: Transport, Class: cmp.Or(e.Class, Unavailable), Message: Scrub(e.Error()),
		RetryAfter: max(e.RetryAfter, 0), Final: e.Final,
	}
}

// TypedFailure classifies an error by its types alone: its Failure method ([TransportError], [ProviderError],
// [ClassError]), the codes and the status that SDK errors offer by methods, and the types of package net.
// Words never count: an error that has only words is of class [ToolExecution]. The errors of tools are
// classified in this way, since the words may be "connection reset" although a payment was made. Nor does
// what a [Sealed] error wraps: an error with one in it is of class [ToolExecution] and final, unless an error
// around it has a Failure method. Nil gives the zero Failure.
func TypedFailure(err error) (f Failure) {
	if err == nil {
		return f
	}
	if own, ok := chain.Own[failing]("", err); ok {
		f = own.Failure()
	} else if chain.Has(err, func(e error) bool { return chain.Sealed("", e) }) {
		f.Class, f.Message, f.Final = ToolExecution, Scrub(err.Error()), true
	} else {
		e := evidence{bare: true, err: err}
		f.Class, f.Message = e.typedClass(), Scrub(err.Error())
	}
	return f.complete()
}

// typedClass classifies by types, codes and status.
func (e *evidence) typedClass() Class {
	named := e.byCodeOrStatus()
	if own := ownFailure(e.err); own.Class != "" {
		return own.Class
	}
	if c := contextClass(e.err); c != "" && e.status < 400 {
		return c
	}
	return cmp.Or(named, e.byType(), ToolExecution)
}

// byCodeOrStatus classifies by the codes and the status of the error, or "".
func (e *evidence) byCodeOrStatus() Class {
	e.addFromError()
	strong, weak := e.byCode()
	return cmp.Or(strong, statusClass("", e.status), weak)
}

// byType classifies by the types in the error's chain, or "".
func (e *evidence) byType() Class {
	found := typeClass(e.err)
	if found == "" && networked(e.err) {
		return Network
	}
	return found
}
