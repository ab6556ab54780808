package fields

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

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

// More is the problem that stands for all faults beyond the first hundred.
const More = "there is more that is wrong: mend this first"

const most = 100

// Faults collects what is wrong with a value and its parts. Make it with [Collect].
type Faults struct {
	// path, name and the n-th item, from 1, are the path of the value. They are put together for a fault
	// only.
	path, name string
	n          int
	all        *[]Error
}

// Collect returns an empty collection.
func Collect() Faults { return Faults{all: new([]Error)} }

// Add notes what is wrong with the value.
func (f Faults) Add(problem string, args ...any) {
	f.add(Error{Shown(f.whole()), fmt.Sprintf(problem, args...)})
}

func (f Faults) add(e Error) {
	if len(*f.all) < most {
		*f.all = append(*f.all, e)
	} else if len(*f.all) == most {
		*f.all = append(*f.all, Error{Problem: More})
	}
}

// Found returns the number of faults so far, in the whole collection.
func (f Faults) Found() int { return len(*f.all) }

// At returns the collection for the member of that name. Faults of a member without a name are those of the
// value.
func (f Faults) At(name string) Faults {
	if name == "" {
		return f
	}
	return Faults{path: f.whole(), name: name, all: f.all}
}

// Item returns the collection for the n-th entry of a list, from 0.
func (f Faults) Item(n int) Faults {
	if f.n > 0 {
		f = Faults{path: f.whole(), all: f.all}
	}
	f.n = n + 1
	return f
}

// whole returns the path of the value.
func (f Faults) whole() string {
	path := f.path
	if f.name != "" {
		path = Join(path, f.name)
	}
	if f.n > 0 {
		path = Item(path, f.n-1)
	}
	return path
}

// Take adds what an UnmarshalJSON or a Validate returned for the value. Joined errors keep their paths, below
// that of the value.
func (f Faults) Take(err error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case ok:
		for _, one := range joined.Unwrap() {
			v := reflect.ValueOf(one).Elem().Convert(reflect.TypeFor[Error]()).Interface().(Error)
			f.add(Error{within(Shown(f.whole()), v.Path), v.Problem})
		}
	case err != nil:
		f.Add("%s", err)
	}
}

// Besides adds what check finds, except at places that have a fault already, or that lie directly in such a
// place.
func (f Faults) Besides(check func(Faults)) {
	known := map[string]bool{}
	for _, e := range *f.all {
		known[e.Path] = known[e.Path] || e.Problem != Twice // its first value was read
	}
	own := f
	own.all = new([]Error)
	check(own)
	for _, e := range *own.all {
		if !known[e.Path] && !known[Around(e.Path)] {
			f.add(e)
		}
	}
}

// Err joins all faults, each as a *E, in the order in which they were added. It is nil if there are none.
func Err[E ~struct{ Path, Problem string }, P interface {
	*E
	error
}](f Faults) error {
	all := make([]error, len(*f.all))
	for n, e := range *f.all {
		all[n] = P(new(E(e)))
	}
	return errors.Join(all...)
}

// within returns a path of a part of the value at path.
func within(path, part string) string {
	if part == "" || part[0] == '[' {
		return path + part
	}
	return Join(path, part)
}

// Join returns the path of a member within path. What is absurdly long is cut.
func Join(path, name string) string {
	const most = 2000
	if path = path[:min(len(path), most)]; path == "" {
		return name
	}
	return path + "." + name
}

// Item returns the path of the n-th entry of the list at path.
func Item(path string, n int) string { return path + "[" + strconv.Itoa(n) + "]" }

// Around returns the path around the last step of a path.
func Around(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

// Shown returns a path as errors name it: on one line, with invisible characters escaped, and cut where it is
// long.
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

// Quoted returns what was written, quoted, and cut where it is long.
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
