package session

import (
	"reflect"
)

// Kind is how a slice may change. The zero value is invalid.
type Kind string

// The kinds of slices.
const (
	// KindState slices may be added to, replaced and cleared.
	KindState Kind = "state"
	// KindLog slices may only be added to.
	KindLog Kind = "log"
)

// The names of the built-in logs: [State.Feedback], [State.Attempts] and [State.ReducerErrors]. Other slices
// cannot have them.
const (
	nameFeedback      = "feedback"
	nameAttempts      = "attempts"
	nameReducerErrors = "reducer_errors"
)

// namePattern is the pattern of the names of slices, events and reducers.
const namePattern = `^[a-z][a-z0-9_.-]{0,63}$`

// maxName is the longest name, in bytes.
const maxName = 64

// isName reports whether a name matches [namePattern]. Compiling the pattern would take milliseconds.
func isName(name string) bool {
	for n := range len(name) {
		c := name[n]
		letter, more := 'a' <= c && c <= 'z', '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
		if !letter && (n == 0 || !more) {
			return false
		}
	}
	return 0 < len(name) && len(name) <= maxName
}

func reserved(name string) bool {
	return name == nameFeedback || name == nameAttempts || name == nameReducerErrors
}

// Slice identifies a typed slice by name, kind and Go type; it holds no values. Make it once with
// [StateSlice] or [LogSlice], and use it to declare the slice, bind reducers and read values. It is
// comparable and safe for concurrent use. The zero value is invalid.
type Slice[T any] struct {
	name string
	kind Kind
}

// StateSlice returns the handle of a state slice. A name is a lower-case letter and up to 63 more of a-z,
// 0-9, "_", "." and "-"; [New] checks it. T is encoded as by encoding/json, except that member names match
// exactly.
func StateSlice[T any](name string) Slice[T] { return Slice[T]{name, KindState} }

// LogSlice returns the handle of a log slice. Reducers may only append and extend.
func LogSlice[T any](name string) Slice[T] { return Slice[T]{name, KindLog} }

// Name returns the slice's name, as in snapshots and journals.
func (s Slice[T]) Name() string { return s.name }

// Kind returns the slice's kind.
func (s Slice[T]) Kind() Kind { return s.kind }

// Declared is a [Slice] of any type. No other type implements it.
type Declared interface {
	Name() string
	Kind() Kind
	declaration() declaration
}

// declaration is a handle without its type parameter.
type declaration struct {
	name   string
	kind   Kind
	goType reflect.Type
	// verify returns the first value, from an index on, that does not fit the type.
	verify func(held values, from int) (index int, err error)
}

func (s Slice[T]) declaration() declaration {
	return declaration{name: s.name, kind: s.kind, goType: reflect.TypeFor[T](), verify: verify[T]}
}

// same reports whether two handles identify the same slice.
func (d declaration) same(e declaration) bool {
	return d.name == e.name && d.kind == e.kind && d.goType == e.goType
}
