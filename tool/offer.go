package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of what an issue about an unknown tool says, and of the names that are compared.
const (
	maxOffered  = 20
	maxCompared = 64 // characters of a name
)

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

// nearest is the index of the first of the names that take the fewest edits to make from another, letters'
// case and separators aside; -1 where even those are more than a third of it.
func nearest(names []string, name string) int {
	wrong := folded(name)
	best, least := -1, len(wrong)/3+1
	if len(wrong) > maxCompared {
		return -1
	}
	for n, known := range names {
		right := folded(known)
		if len(right) > maxCompared {
			continue
		}
		if d := distance(wrong, right); d < least {
			best, least = n, d
		}
	}
	return best
}

func folded(name string) []rune {
	if len(name) > maxCompared*utf8.UTFMax {
		name = name[:maxCompared*utf8.UTFMax+1]
	}
	return []rune(strings.ToLower(ProviderName(name)))
}

// distance counts the characters to insert, delete or replace to make b of a.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, from := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, to := range b {
			cost := diagonal
			if from != to {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
