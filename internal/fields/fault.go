package fields

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Fault is one thing wrong with what was read. A *Fault is an error.
type Fault struct {
	// Path names the value as files spell it; empty for the whole.
	Path string
	At   Place
	// Message says what is wrong, Hint what would be right; it is empty where the message already does.
	Message, Hint string
}

// Problem is the message and the hint.
func (f *Fault) Problem() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "; " + f.Hint
}

// Error returns the fault on one line, without its place.
func (f *Fault) Error() string { return Error{f.Path, f.Problem()}.String() }

// Error is one thing wrong with one field. Packages whose values are read here have an error type of this
// form; see [Err].
type Error struct {
	// Path names the field as files do: "tools.book_flight.backoff.factor", "retryable_errors[2]". It is
	// empty for the value as a whole.
	Path string
	// Problem says what is wrong and what would be right.
	Problem string
}

// String returns "path: problem".
func (e Error) String() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + ": " + e.Problem
}

// Faults collects what is wrong with a value and its parts. Make it with [Collect].
type Faults struct {
	// path, name and the n-th item, from 1, are the path of the value. They are put together for a fault only.
	path, name string
	n          int
	all        *[]Error
}

// Collect is an empty collection.
func Collect() Faults { return Faults{all: new([]Error)} }

// Add notes what is wrong with the value.
func (f Faults) Add(problem string, args ...any) {
	*f.all = append(*f.all, Error{f.whole(), fmt.Sprintf(problem, args...)})
}

// At is the collection for the member of that name. A member without a name is told as the value itself.
func (f Faults) At(name string) Faults {
	if name == "" {
		return f
	}
	return Faults{path: f.whole(), name: name, all: f.all}
}

// Item is the collection for the n-th entry of a list, from 0.
func (f Faults) Item(n int) Faults {
	if f.n > 0 {
		f = Faults{path: f.whole(), all: f.all}
	}
	f.n = n + 1
	return f
}

// whole is the path of the value.
func (f Faults) whole() string {
	path := f.path
	if f.name != "" {
		path = Join(path, f.name)
	}
	if f.n > 0 {
		path = item(path, f.n-1)
	}
	return path
}

// like is a package's own error type for [Error].
type like interface {
	~struct{ Path, Problem string }
}

// Take adds what a Validate returned for the value: nil, or an error that joins some of the type *E.
func Take[E like](f Faults, err error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return
	}
	for _, one := range joined.Unwrap() {
		if e, ok := any(one).(*E); ok {
			own := Error(*e)
			*f.all = append(*f.all, Error{within(f.whole(), own.Path), own.Problem})
		}
	}
}

// Err joins all faults, each as a *E, in the order in which they were added. It is nil if there are none.
func Err[E like, P interface {
	*E
	error
}](f Faults) error {
	all := make([]error, len(*f.all))
	for n, e := range *f.all {
		all[n] = P(new(E(e)))
	}
	return errors.Join(all...)
}

// within is a path of a part of the value at path.
func within(path, part string) string {
	if part == "" || part[0] == '[' {
		return path + part
	}
	return Join(path, part)
}

// Join is the path of a member within path. What is absurdly long is cut.
func Join(path, name string) string {
	const most = 2000
	if path = path[:min(len(path), most)]; path == "" {
		return name
	}
	return path + "." + name
}

func item(path string, n int) string { return path + "[" + strconv.Itoa(n) + "]" }

// Shown is a path as errors name it: on one line, what cannot be seen escaped, and cut where it is long.
func Shown(path string) string {
	var b strings.Builder
	for _, c := range cut(path, 200) {
		if unicode.IsGraphic(c) {
			b.WriteRune(c)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		}
	}
	return b.String()
}

// Quoted is what was written, quoted, and cut where it is long.
func Quoted(s string) string { return strconv.Quote(cut(s, 40)) }

// cut bounds the number of characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	count := 0
	for at := range s {
		if count++; count > most {
			return s[:at] + "…"
		}
	}
	return s
}
