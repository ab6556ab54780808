package session

import (
	"reflect"
	"regexp"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/flat"
)

// Kind says what may become of a slice. The zero value is invalid.
type Kind string

// The kinds of slices.
const (
	// KindState may be added to, replaced and cleared.
	KindState Kind = "state"
	// KindLog may only be added to.
	KindLog Kind = "log"
)

// The names of the built-in logs. No slice of a user may have one of them.
const (
	NameFeedback      = "feedback"
	NameAttempts      = "attempts"
	NameReducerErrors = "reducer_errors"
)

// NamePattern is what the names of slices, events and reducers look like.
const NamePattern = `^[a-z][a-z0-9_.-]{0,63}$`

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(NamePattern) })

func reserved(name string) bool {
	return name == NameFeedback || name == NameAttempts || name == NameReducerErrors
}

// Slice is a handle of a typed slice: a name, a kind and a Go type, and no values. Make it with [StateSlice] or [LogSlice],
// once, and use it to declare the slice, to bind reducers and to read. It is comparable and safe for concurrent use. The
// zero value is invalid.
type Slice[T any] struct {
	name string
	kind Kind
	// apart is set where a copy of a value shares nothing with it; written is how values are written, where their type is flat.
	apart   bool
	written *flat.Type
}

// StateSlice returns the handle of a state slice. A session checks the name when the slice is declared: see [NamePattern].
// T is read and written as encoding/json does, except that member names match exactly.
func StateSlice[T any](name string) Slice[T] { return makeSlice[T](name, KindState) }

// LogSlice returns the handle of a log slice: reducers may append and extend, and are refused anything else.
func LogSlice[T any](name string) Slice[T] { return makeSlice[T](name, KindLog) }

// FeedbackLog returns the handle of the built-in log of feedback, for reading.
func FeedbackLog() Slice[feedback.RetryFeedback] {
	return LogSlice[feedback.RetryFeedback](NameFeedback)
}

// AttemptsLog returns the handle of the built-in log of attempts, for reading.
func AttemptsLog() Slice[Attempt] { return LogSlice[Attempt](NameAttempts) }

// ReducerErrorsLog returns the handle of the built-in log of reducer errors, for reading.
func ReducerErrorsLog() Slice[fault.ReducerError] {
	return LogSlice[fault.ReducerError](NameReducerErrors)
}

func makeSlice[T any](name string, kind Kind) Slice[T] {
	return Slice[T]{name: name, kind: kind, apart: sharesNothing(reflect.TypeFor[T]()), written: flat.Of[T]()}
}

// Name is the slice's stable name, as it stands in snapshots and journals.
func (s Slice[T]) Name() string { return s.name }

// Kind is the slice's kind.
func (s Slice[T]) Kind() Kind { return s.kind }

// Declared is a slice handle of any type; only [Slice] implements it.
type Declared interface {
	Name() string
	Kind() Kind
	declaration() declaration
}

// declaration is what a session keeps of a handle: its type as a value.
type declaration struct {
	name   string
	kind   Kind
	goType reflect.Type
	// verify reports the first value that does not fit the type; index is its place.
	verify func(entries) (index int, err error)
}

func (s Slice[T]) declaration() declaration {
	return declaration{name: s.name, kind: s.kind, goType: reflect.TypeFor[T](), verify: s.verify}
}

// same reports whether two handles mean the same slice.
func (d declaration) same(e declaration) bool {
	return d.name == e.name && d.kind == e.kind && d.goType == e.goType
}

// sharesNothing reports whether a copy of a value of the type shares nothing with it that could be written to.
func sharesNothing(t reflect.Type) bool {
	if t == reflect.TypeFor[time.Time]() {
		return true // its pointer is to an immutable location
	}
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if !sharesNothing(f.Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return sharesNothing(t.Elem())
	case reflect.String:
		return true
	}
	return reflect.Bool <= t.Kind() && t.Kind() <= reflect.Complex128 && t.Kind() != reflect.Uintptr
}
