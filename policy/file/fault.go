package file

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-go/retake/internal/several"
)

// Fault is one fault of a policy file. [Read] returns all of them, joined, in the order of the file.
type Fault struct {
	// File is the name passed to Read.
	File string
	// Path names the value as in the file: "tools.book_flight.backoff.factor". It is empty for the whole
	// file.
	Path string
	// Line and Column count from 1; Column counts characters.
	Line, Column int
	// Message says what is wrong.
	Message string
	// Hint says what would be right. It is empty if the message says so already.
	Hint string
}

// Error returns one line: "policy.yaml:3:9: backoff.base: 5 has no unit; write 5s or 5ms".
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

// joined returns all faults as one error, in the order of the file.
func (r *reader) joined() error {
	all := make([]error, 0, len(r.Faults)+1)
	for _, f := range r.Faults {
		all = append(all, &Fault{r.File, f.Path, max(f.At.Line, 1), max(f.At.Column, 1), f.Message, f.Hint})
	}
	slices.SortStableFunc(all, func(one, other error) int {
		a, b := one.(*Fault), other.(*Fault)
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	if r.More > 0 {
		last := all[len(all)-1].(*Fault)
		all = append(all, &Fault{File: r.File, Line: last.Line, Column: last.Column,
			Message: "and " + several.Of(r.More, "more fault") + ", not listed"})
	}
	return errors.Join(all...)
}
