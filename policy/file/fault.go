package file

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/fields"
	"github.com/retake-go/retake/policy"
)

// Fault is one fault of a policy file. [Read] returns all of them, joined, in the order of the file.
type Fault struct {
	// File is the name passed to Read.
	File string
	// Path names the value as in the file: "tools.book_flight.backoff.factor". It is empty for the whole
	// file.
	Path string
	// Line and Column count from 1; Column counts characters. It is 1 where a file is no valid YAML.
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

// maxFaults is the most faults of a file that are told.
const maxFaults = 100

// fault records a fault.
func (r *reader) fault(at place, path, message, hint string) {
	if r.more = r.more || len(r.faults) == maxFaults; !r.more {
		r.faults = append(r.faults, &Fault{r.name, path, max(at.line, 1), max(at.column, 1), message, hint})
	}
}

// take records the faults that a policy found, each at the place of its value or of what is around it.
func (r *reader) take(err error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return
	}
	for _, one := range joined.Unwrap() {
		own := one.(*policy.FieldError)
		message, hint, _ := strings.Cut(own.Problem, "; ")
		switch own.Problem {
		case fields.More:
			r.more = true
		case fields.Twice: // walk has recorded it, with the line of the first
		default:
			r.fault(r.nearest(own), own.Path, message, hint)
		}
	}
}

// nearest returns the place of the wrong value, or of the closest value around it that was written. If the
// key is wrong, it is the place of the key.
func (r *reader) nearest(wrong *policy.FieldError) place {
	for path := wrong.Path; path != ""; path = fields.Around(path) {
		switch at, ok := r.places[path]; {
		case ok && path == wrong.Path && strings.Contains(wrong.Problem, "this key"):
			return at.key
		case ok:
			return at.value
		}
	}
	return start
}

// joined returns all faults as one error, in the order of the file.
func (r *reader) joined() error {
	slices.SortStableFunc(r.faults, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	if r.more {
		last := r.faults[len(r.faults)-1]
		r.faults = append(r.faults, &Fault{File: r.name, Line: last.Line, Column: last.Column, Message: fields.More})
	}
	var all []error
	for _, f := range r.faults {
		all = append(all, f)
	}
	return errors.Join(all...)
}
