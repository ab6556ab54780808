package seq

// Window is a persistent sequence of the last values that were added. The zero value is empty and ready to
// use. Like a [Log] it is cheap to copy and safe for concurrent use.
type Window[T any] struct {
	log   Log[T]
	first int
}

// WindowOf returns a window of the values. It copies them.
func WindowOf[T any](values ...T) Window[T] { return Window[T]{log: Of(values...)} }

// Add returns w with the value at its end, and without its oldest values if it would have more than size,
// which is at least 1. It costs amortised O(1), and holds the memory of at most twice size values.
func (w Window[T]) Add(value T, size int) Window[T] {
	if n := w.log.Len() + 1; n <= 2*size {
		return Window[T]{w.log.Append(value), max(w.first, n-size)}
	}
	held := w.Values()
	held = held[max(0, len(held)+1-size):]
	cells := append(append(make([]T, 0, 2*size), held...), value)
	return Window[T]{log: of(cells, len(cells))}
}

// Values returns the values, oldest first. They share the window's memory: do not write to them.
func (w Window[T]) Values() []T { return w.log.From(w.first) }

// Len returns the number of values.
func (w Window[T]) Len() int { return w.log.Len() - w.first }
