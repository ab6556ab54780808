package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/fields"
)

// maxOffered bounds the names in an issue about an unknown tool.
const maxOffered = 20

// offer lists the names of a set in place of one that is not among them. The nearest comes first and is said
// to be that, where it is near enough to be a slip.
func (s *Set) offer(name string) string {
	names := s.Names()
	if len(names) == 0 {
		return "no call, for no tools are offered"
	}
	if at := nearest(names, name); at >= 0 {
		near := names[at]
		copy(names[1:], names[:at])
		names[0] = near + " (the nearest name)"
	}
	if rest := len(names) - maxOffered; rest > 0 {
		return fmt.Sprintf("one of %s and %d more", strings.Join(names[:maxOffered], ", "), rest)
	}
	return "one of " + strings.Join(names, ", ")
}

// nearest is the index of the name that another is probably a slip of, letters' case and separators aside; -1
// for none.
func nearest(names []string, name string) int {
	spelled := make([]string, len(names))
	for n, known := range names {
		spelled[n] = folded(known)
	}
	return slices.Index(spelled, fields.Near(folded(name), spelled)) // no name is empty
}

func folded(name string) string { return strings.ToLower(ProviderName(name)) }
