package session

import (
	"fmt"
	"iter"

	"github.com/retake-go/retake/reducer"
)

// View is what a slice of the session holds now, typed; it stays as it is whatever happens to the session.
// History is never copied: see the package's description for when a value is decoded. A slice that the
// session does not declare with this kind and type panics, as an index out of range does.
func View[T any](s *Session, slice Slice[T]) reducer.View[T] {
	if d, ok := s.declared[slice.name]; !reserved(slice.name) && !(ok && d.same(slice.declaration())) {
		panic(fmt.Sprintf("session: slice %q is not declared with this kind and type", slice.name))
	}
	return ViewIn(s.State(), slice)
}

// Values yields what a slice of the session holds now, oldest first. It panics as [View] does.
func Values[T any](s *Session, slice Slice[T]) iter.Seq[T] {
	view := View(s, slice)
	return func(yield func(T) bool) {
		for _, v := range view.All() {
			if !yield(v) {
				return
			}
		}
	}
}

// Latest returns the newest value of a slice of the session; ok is false where there is none. It panics as
// [View] does.
func Latest[T any](s *Session, slice Slice[T]) (value T, ok bool) { return View(s, slice).Last() }

// ViewIn is what a slice holds in a state, typed. It panics where the state has no such slice. A state knows
// no Go types: where it holds a value that does not fit T, which only a foreign one can, reading that value
// panics with a [*ValueError].
func ViewIn[T any](s State, slice Slice[T]) reducer.View[T] {
	if source, ok := s.builtin(slice.name).(reducer.Source[T]); ok {
		return reducer.NewView(source)
	}
	at, ok := s.find(slice.name)
	if !ok || s.slots[at].kind != slice.kind {
		panic(fmt.Sprintf("session: the state has no slice %q of this kind and type", slice.name))
	}
	return reducer.NewView[T]((*typed[T])(&s.slots[at]))
}

// builtin returns the built-in log of that name, or nil.
func (s State) builtin(name string) any {
	switch name {
	case NameFeedback:
		return s.feedback
	case NameAttempts:
		return s.attempts
	case NameReducerErrors:
		return s.reducerErrors
	}
	return nil
}
