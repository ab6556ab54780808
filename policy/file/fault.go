package file

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/retake-go/retake/internal/several"
)

// Fault is one thing wrong with a policy file. [Read] returns all of them, joined, in the order of their places.
type Fault struct {
	// File is the name that Read was given.
	File string
	// Path names the value as the file spells it: "tools.book_flight.backoff.factor"; empty for the file as a whole.
	Path string
	// Line and Column are 1-based; Column counts characters.
	Line, Column int
	// Message says what is wrong.
	Message string
	// Hint says what would be right; empty where the message already does.
	Hint string
}

// Error is one line: "policy.yaml:3:9: backoff.base: 5 has no unit; write 5s or 5ms".
func (f *Fault) Error() string {
	text := fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Column)
	if f.Path != "" {
		text += f.Path + ": "
	}
	text += f.Message
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}

// maxFaults bounds how many faults are reported of one file, maxPath how many characters of a path.
const (
	maxFaults = 100
	maxPath   = 200
)

// joined is the error that says all faults in the order of their places; nil where there are none.
func (r *reader) joined() error {
	slices.SortStableFunc(r.faults, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	if r.unsaid > 0 {
		last := r.faults[len(r.faults)-1]
		r.faults = append(r.faults, &Fault{File: r.name, Line: last.Line, Column: last.Column,
			Message: "and " + several.Of(r.unsaid, "more fault that is not listed", "more faults that are not listed")})
	}
	all := make([]error, len(r.faults))
	for n, f := range r.faults {
		all[n] = f
	}
	return errors.Join(all...)
}

// fault notes one fault.
func (r *reader) fault(at place, path, message, hint string) {
	if len(r.faults) >= maxFaults {
		r.unsaid++
		return
	}
	r.faults = append(r.faults, &Fault{
		File: r.name, Path: shownPath(path), Line: max(at.line, 1), Column: max(at.column, 1), Message: message, Hint: hint,
	})
}

// shownPath is a path as faults name it: on one line, what cannot be seen escaped, and cut where it is long.
func shownPath(path string) string {
	var b strings.Builder
	for _, c := range cut(path, maxPath) {
		if unicode.IsGraphic(c) {
			b.WriteRune(c)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		}
	}
	return b.String()
}

// found is how many faults were found so far.
func (r *reader) found() int { return len(r.faults) + r.unsaid }
