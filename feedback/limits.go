package feedback

import (
	"errors"
	"fmt"
)

// Limits bound a rendered feedback, and in a run the words of all feedback on one reply together. The zero
// value is refused by Validate; [DefaultLimits] is the usual choice.
type Limits struct {
	// MaxIssues is how many issues are told, 1 to 1000. Which ones is a fair choice over the members of the
	// proposal.
	MaxIssues int `json:"max_issues"`
	// MaxBytes is the longest text, in bytes, 256 to 1 MiB.
	MaxBytes int `json:"max_bytes"`
}

// DefaultLimits are 20 issues and 4 KiB.
func DefaultLimits() Limits { return Limits{MaxIssues: 20, MaxBytes: 4096} }

// Validate reports every bound that is out of range.
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
	return fmt.Errorf("%s: must be %d to %d, is %d", field, low, high, n)
}
