package seq

import "iter"

// Log is a persistent append-only sequence. It is two words and cheap to copy. The zero value is empty and
// ready to use. It is safe for concurrent use, including appends.
type Log[T any] struct {
	block *block[T]
	n     int
}

// Of returns a log of the values. It copies them.
func Of[T any](values ...T) Log[T] { return Log[T]{}.Append(values...) }

// Append returns l followed by the values; l does not change. It costs amortised O(len(values)): it copies at
// most a short part at the end of l.
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

// Same reports whether both logs have the same length and share the memory of their newest value. It compares
// no values.
func (l Log[T]) Same(o Log[T]) bool {
	if l.n == 0 || l.n != o.n {
		return l.n == o.n
	}
	a, b := l.block.at(l.n-1), o.block.at(l.n-1)
	return &a.cells[l.n-1-a.first] == &b.cells[l.n-1-b.first]
}

// Len returns the number of values.
func (l Log[T]) Len() int { return l.n }

// At returns the value at index i, from 0. It panics if i is out of range. It is fastest near the end and
// takes at most O(log n).
func (l Log[T]) At(i int) T {
	_ = make([]struct{}, l.n)[i] // panics like a slice
	b := l.block.at(i)
	return b.cells[i-b.first]
}

// Last returns the newest value; ok is false if the log is empty.
func (l Log[T]) Last() (value T, ok bool) {
	if l.n > 0 {
		value, ok = l.At(l.n-1), true
	}
	return value, ok
}

// All iterates over indices and values, oldest first.
func (l Log[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) { l.block.all(l.n, yield) }
}

// Backward iterates over indices and values, newest first.
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

// Slice returns the values from index from up to, but not including, index to. It shares the log's memory if
// it can, else it copies: do not write to the result. Appending to it copies. It panics if the range is
// invalid.
func (l Log[T]) Slice(from, to int) []T {
	_ = make([]struct{}, l.n)[from:to:to] // panics if out of range
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

// From is [Log.Slice] up to the end.
func (l Log[T]) From(n int) []T { return l.Slice(n, l.n) }
