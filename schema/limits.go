package schema

import (
	"errors"
	"fmt"
)

// Limits bounds what a document may be before anything is made of it. Zero is refused: it never means
// "unlimited".
type Limits struct {
	// MaxBytes is the largest document, in bytes. At least 2, at most 1 GiB.
	MaxBytes int
	// MaxDepth is the deepest nesting of arrays and objects. At least 1, at most 1000.
	MaxDepth int
	// MaxValues is the most values in a document, its objects and arrays included. At least 1, at most
	// 10,000,000.
	MaxValues int
}

// The bounds of limits: recursion stays shallow, and places fit 32 bits, whatever a caller asks for.
const (
	maxMaxDepth  = 1000
	maxMaxBytes  = 1 << 30
	maxMaxValues = 10_000_000
)

// maxIssues bounds what one check reports; a document can hold more faults than anyone will read.
const maxIssues = 100

// DefaultLimits returns 1 MiB, 64 levels and 100,000 values, which is more than models say in one reply.
func DefaultLimits() Limits { return Limits{MaxBytes: 1 << 20, MaxDepth: 64, MaxValues: 100_000} }

// Validate names every field that is out of bounds.
func (l Limits) Validate() error {
	return errors.Join(
		bounds("MaxBytes", l.MaxBytes, 2, maxMaxBytes),
		bounds("MaxDepth", l.MaxDepth, 1, maxMaxDepth),
		bounds("MaxValues", l.MaxValues, 1, maxMaxValues),
	)
}

// bounds returns the error of a field that is out of bounds.
func bounds(field string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%s: %d, want %d to %d", field, n, least, most)
	}
	return nil
}

// Budget bounds the work of one reply: finding its values, checking them and saying what is wrong with them.
// All checks of a reply share a budget, so that no reply takes long. A unit of work is about one schema
// applied to one value, so the same document gets the same answer on every machine. A nil *Budget stands for
// a new one. Not for concurrent use.
type Budget struct {
	left    int
	stop    func() bool
	next    int // stop is called when less than this is left
	kept    int // how many answers of shared schemas are remembered, and failures in them
	weighed int // how many failures of alternatives were compared with each other
	likened int // how many names were compared with one that is not allowed
}

// maxWork is less than half a second of work.
const maxWork = 2 << 20

// NewBudget returns the budget for the checks of one reply.
func NewBudget() *Budget { return &Budget{left: maxWork} }

// Until ends checks when stop reports true, for example when a context is done. What such a check found is of
// no use. stop is called about once a millisecond; nil never stops. Until returns the budget.
func (b *Budget) Until(stop func() bool) *Budget {
	b.stop, b.next = stop, b.left
	return b
}

// stopEvery is the work between two calls of stop: about a millisecond.
const stopEvery = 1 << 12

// Read takes from the budget what it takes to find a value or a call in a text of so many bytes.
func (b *Budget) Read(size int) { b.spend(size / patternSteps) }

// spend takes from the budget. If too little is left, it returns false and the budget is spent.
func (b *Budget) spend(work int) bool {
	b.left -= work
	return b.left >= b.next || b.goesOn()
}

// goesOn reports whether something is left, and stop does not end the work. It is apart so that spend is
// inlined.
func (b *Budget) goesOn() bool {
	if b.left < 0 || b.stop != nil && b.stop() {
		b.left = -1
		return false
	}
	b.next = max(b.left-stopEvery, 0)
	return true
}

// remembers reports whether an answer of a shared schema that took so much work is remembered, and counts it
// and its failures. The more there are, the more work it takes: cheap answers of very many values would take
// more memory than reading them.
func (b *Budget) remembers(work, failures int) bool {
	if grown := b.kept / 2048; work < grown*grown {
		return false
	}
	b.kept += 1 + failures
	return true
}

// maxWeighed bounds the failures of alternatives that are compared in one reply, and those that are kept
// while alternatives are asked: each takes about 300 bytes.
const maxWeighed = 1 << 14

// weighs counts failures of alternatives. It reports whether those of the next alternatives are to be
// compared, too.
func (b *Budget) weighs(failures int) bool {
	b.weighed += failures
	return b.weighed < maxWeighed
}

// maxLikened bounds the names that are compared in one reply with those that are not allowed: a comparison of
// two long ones takes about 10 µs.
const maxLikened = 1 << 12

// likens counts names that are to be compared with one that is not allowed, and reports whether they are.
func (b *Budget) likens(names int) bool {
	b.likened += names
	return b.likened < maxLikened
}

// spent reports whether the budget was not enough.
func (b *Budget) spent() bool { return b.left < 0 }
