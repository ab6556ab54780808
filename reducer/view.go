package reducer

import "iter"

// Source has the values of a [View] by index, the oldest at 0.
type Source[T any] interface {
	// Len returns the number of values.
	Len() int
	// At returns the value at index i. Only [View.At] may call it with an index outside 0 to Len()-1.
	At(i int) T
}

// View is a read-only view of the values of a slice. It copies only the values you ask for. The zero value is
// an empty view. It is safe for concurrent use if its source is.
type View[T any] struct {
	source Source[T]
}

// NewView returns a view of a source, which must not change while the view is in use. A nil source is empty.
func NewView[T any](source Source[T]) View[T] { return View[T]{source: source} }

// ViewOf returns a view of the values. Use it to test reducers. The slice is not copied.
func ViewOf[T any](values ...T) View[T] { return View[T]{source: list[T](values)} }

// Len returns the number of values.
func (v View[T]) Len() int {
	if v.source == nil {
		return 0
	}
	return v.source.Len()
}

// At returns the value at index i, from 0. It panics if i is out of range.
func (v View[T]) At(i int) T {
	if v.source == nil {
		return list[T]{}.At(i)
	}
	return v.source.At(i)
}

// Last returns the newest value; ok is false if there is none.
func (v View[T]) Last() (value T, ok bool) {
	if n := v.Len(); n > 0 {
		return v.source.At(n - 1), true
	}
	return value, false
}

// All iterates over indices and values, oldest first.
func (v View[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := range v.Len() {
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
