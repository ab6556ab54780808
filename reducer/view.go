package reducer

import "iter"

// Func is a reducer: from what its slice holds and one event to a change of the slice, or to an error that
// says why the event is refused. It must be pure, must write neither to the view's values nor to the event,
// and may be called for events that are never applied (a what-if). To change nothing, return [None].
type Func[T, E any] func(View[T], E) (Change[T], error)

// Source is what a [View] reads: values by index, the oldest at 0.
type Source[T any] interface {
	// Len is the number of values.
	Len() int
	// At returns the value at index i, from 0 to Len()-1; of another index it is not asked but by [View.At].
	At(i int) T
}

// View is a read-only look at the values of a slice; nothing is copied but the value asked for. The zero
// value is an empty view. Safe for concurrent use where its source is.
type View[T any] struct {
	source Source[T]
}

// NewView returns a view of a source, which must not change while the view is in use. Nil is an empty one.
func NewView[T any](source Source[T]) View[T] { return View[T]{source: source} }

// ViewOf returns a view of the values, for the tests of a reducer. The slice is not copied.
func ViewOf[T any](values ...T) View[T] { return View[T]{source: list[T](values)} }

// Len is the number of values.
func (v View[T]) Len() int {
	if v.source == nil {
		return 0
	}
	return v.source.Len()
}

// At returns the value at index i, counted from 0. It panics out of range, as a slice does.
func (v View[T]) At(i int) T {
	if v.source == nil {
		return list[T]{}.At(i)
	}
	return v.source.At(i)
}

// Last returns the newest value; ok is false where there is none.
func (v View[T]) Last() (value T, ok bool) {
	if n := v.Len(); n > 0 {
		return v.source.At(n - 1), true
	}
	return value, false
}

// All yields every index and value, oldest first.
func (v View[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := range v.Len() {
			if !yield(i, v.source.At(i)) {
				return
			}
		}
	}
}

// Backward yields every index and value, newest first.
func (v View[T]) Backward() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := v.Len() - 1; i >= 0; i-- {
			if !yield(i, v.source.At(i)) {
				return
			}
		}
	}
}

// list is a Go slice as a source.
type list[T any] []T

func (l list[T]) Len() int   { return len(l) }
func (l list[T]) At(i int) T { return l[i] }
