package tool

import (
	"fmt"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// maxOffered bounds the names in an issue about an unknown tool.
const maxOffered = 20

// offer lists the names of a set, for a call of a name that is not among them. A name close enough to be
// meant comes first and is marked as the nearest.
func (s *Set) offer(name string) string {
	names := s.Names()
	if len(names) == 0 {
		return fault.OneOf("")
	}
	if at := fields.Nearest(name, names); at >= 0 {
		near := names[at]
		copy(names[1:], names[:at])
		names[0] = near + " (the nearest name)"
	}
	more := ""
	if rest := len(names) - maxOffered; rest > 0 {
		names, more = names[:maxOffered], fmt.Sprintf(" and %d more", rest)
	}
	return fault.OneOf(strings.Join(names, ", ") + more)
}
