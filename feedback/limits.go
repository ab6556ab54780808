package feedback

import (
	"errors"
	"fmt"
)

// Limits bounds a rendered feedback; in a run, they bound the feedback on one reply as a whole. Validate
// refuses the zero value; use [DefaultLimits].
type Limits struct {
	// MaxIssues is the most issues in the text, 1 to 1000. They are chosen evenly from the members of the
	// proposal.
	MaxIssues int `json:"max_issues"`
	// MaxBytes is the longest text in bytes, 256 to 1 MiB.
	MaxBytes int `json:"max_bytes"`
}

// DefaultLimits returns 20 issues and 4 KiB.
func DefaultLimits() Limits { return Limits{MaxIssues: 20, MaxBytes: 4096} }

// Validate reports every limit that is out of range.
func (l Limits) Validate() error {
	return errors.Join(
		within("max_issues", l.MaxIssues, 1, 1000),
		within("max_bytes", l.MaxBytes, 256, 1<<20),
	)
}

func within(field string, n, low, high int) error {
	if low <= n && n <= high {
		return nil
	}
	return fmt.Errorf("%s: must be %d to %d, got %d", field, low, high, n)
}
