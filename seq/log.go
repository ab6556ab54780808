package seq

import "iter"

// Log is a persistent append-only sequence. It is a value of two words, cheap to copy. The zero value is
// empty and ready for use. Safe for concurrent use, appending included.
type Log[T any] struct {
	block *block[T]
	n     int
}

// Of returns a log of the values, which are copied.
func Of[T any](values ...T) Log[T] { return Log[T]{}.Append(values...) }

// Append returns l followed by the values; l itself stays as it was. It costs amortised O(len(values)): of
// what l holds, no more than a short part at its end is ever copied.
func (l Log[T]) Append(values ...T) Log[T] {
	if len(values) == 0 {
		return l
	}
	b := l.block
	if b == nil || !b.claim(l.n, l.n+len(values)) {
		b = b.after(l.n, len(values))
	}
	copy(b.cells[l.n-b.first:], values)
	return Log[T]{b, l.n + len(values)}
}

// Same reports whether both logs are known to be the same: they share the memory of their newest value. It
// looks at no value.
func (l Log[T]) Same(o Log[T]) bool {
	if l.n == 0 || l.n != o.n {
		return l.n == o.n
	}
	a, b := l.block.at(l.n-1), o.block.at(l.n-1)
	return &a.cells[l.n-1-a.first] == &b.cells[l.n-1-b.first]
}

// Len is the number of values.
func (l Log[T]) Len() int { return l.n }

// At returns the value at index i, counted from 0. It panics out of range, as a slice does. It is fastest at
// the end, and takes O(log n) at worst.
func (l Log[T]) At(i int) T {
	_ = make([]struct{}, l.n)[i] // panics as a slice does
	b := l.block.at(i)
	return b.cells[i-b.first]
}

// Last returns the newest value; ok is false where the log is empty.
func (l Log[T]) Last() (value T, ok bool) {
	if l.n > 0 {
		value, ok = l.At(l.n-1), true
	}
	return value, ok
}

// All yields every index and value, oldest first. Nothing is copied but the value at hand.
func (l Log[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) { l.block.all(l.n, yield) }
}

// Backward yields every index and value, newest first. Nothing is copied but the value at hand.
func (l Log[T]) Backward() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		end := l.n
		for b := l.block; b != nil; b = b.before {
			for i := end - 1; i >= b.first; i-- {
				if !yield(i, b.cells[i-b.first]) {
					return
				}
			}
			end = b.first
		}
	}
}

// Slice returns the values from index from up to, but not including, index to. Where they lie in one piece of
// the log's memory, as the newest mostly do, it shares that memory, else it copies them: read it, never write
// to it; appending to it copies. It panics out of range, as slicing does.
func (l Log[T]) Slice(from, to int) []T {
	_ = make([]struct{}, l.n)[from:to:to] // panics out of range
	if from == to {
		return nil
	}
	if b := l.block.at(to - 1); from >= b.first {
		return b.cells[from-b.first : to-b.first : to-b.first]
	}
	values := make([]T, to-from)
	l.block.copy(values, from)
	return values
}
