package fault

import (
	"cmp"

	"github.com/retake-go/retake/internal/chain"
)

// TryRules say how the error of a try of an action is classified. The zero value goes by types alone: the
// typed errors of this package and errors with a method Failure() [Failure], the codes and the status that
// SDK errors offer by methods, a true Timeout() bool, and the errors of package net. A bare error number of
// the system counts if it is of a connection: ENOSPC does not. An error whose type says nothing is of class
// [Unknown], since its words may be "connection reset" although a payment was made. An error around a
// [Sealed] one is of class [Unknown] and final, unless Classify says more: the sealed error is of other work,
// which has had its attempts.
type TryRules struct {
	// Tool is the tool that the action calls; empty for an answer. An error that is [Sealed] for it is not
	// looked into.
	Tool string
	// Classify is asked about errors that are no typed errors of this package. A zero verdict leaves the
	// error to its types. May be nil.
	Classify func(err error) Verdict
	// Words also takes the words of errors whose types say nothing: see [ClassifyError].
	Words bool
}

// Failure classifies the error of a try. Check the caller's own context before: here a deadline that has
// passed is a [Timeout]. The failure may have keys in its texts, and it shares the error's issues: see
// [Recordable].
func (r TryRules) Failure(err error) Failure {
	var f Failure
	isOwn := chain.Outside(r.Tool, err, func(e error) (own bool) {
		f, own = typedFailure(e)
		return own
	})
	if !isOwn {
		f = r.classify(err)
	}
	return f.complete()
}

func (r TryRules) classify(err error) Failure {
	if r.Classify != nil {
		if v := r.Classify(err); v.Failed() {
			return v.Failure()
		}
	}
	if chain.Has(err, func(e error) bool { return chain.Sealed(r.Tool, e) }) {
		return Failure{Class: Unknown, Message: Scrub(err.Error()), Final: true}
	}
	e := evidence{bare: true, err: err}
	f := Failure{Class: e.triedClass(), Message: advised(Scrub(err.Error()), err)}
	if f.Class == Unknown && r.Words {
		return ClassifyError(err).Failure()
	}
	return f
}

// triedClass classifies the error of a try by types, codes and status.
func (e *evidence) triedClass() Class {
	switch c := e.byCodeOrStatus(); {
	case c != "":
		return c
	case contextClass(e.err) == Cancelled:
		return Cancelled
	case chain.Has(e.err, timesOut):
		return Timeout
	}
	if c := e.byType(); c != InvalidResponse { // the decoder's type does not say whose text it was
		return cmp.Or(c, Unknown)
	}
	return Unknown
}
