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
}

// The bounds of limits: recursion stays shallow, and places fit 32 bits, whatever a caller asks for.
const (
	maxMaxDepth = 1000
	maxMaxBytes = 1 << 30
)

// maxIssues bounds what one check reports; a document can hold more faults than anyone will read.
const maxIssues = 1000

// DefaultLimits is 1 MiB and 64 levels.
func DefaultLimits() Limits { return Limits{MaxBytes: 1 << 20, MaxDepth: 64} }

// Validate names every field that is out of bounds.
func (l Limits) Validate() error {
	var bytes, depth error
	if l.MaxBytes < 2 || l.MaxBytes > maxMaxBytes {
		bytes = fmt.Errorf("MaxBytes: %d, want 2 to %d", l.MaxBytes, maxMaxBytes)
	}
	if l.MaxDepth < 1 || l.MaxDepth > maxMaxDepth {
		depth = fmt.Errorf("MaxDepth: %d, want 1 to %d", l.MaxDepth, maxMaxDepth)
	}
	return errors.Join(bytes, depth)
}
