// Package seq is a persistent append-only sequence: appending returns a new value and does not change the old
// one, at about the cost of an ordinary append.
//
// Every state of a run holds its transcript and logs, and each state may be continued in several ways. All of
// them share memory through a [Log]: the first append at the end of a log uses the free memory behind it, and
// a second one continues in a copy.
package seq

import (
	"iter"
	"slices"
	"sync/atomic"
)

// Log is a persistent append-only sequence. It is two words and cheap to copy. The zero value is empty and
// ready to use. It is safe for concurrent use, including appends.
type Log[T any] struct {
	b *buf[T]
	n int
}

// buf is memory shared by logs that grew from one another. Its first used cells belong to some log. A cell is
// written once, by the append that claimed it.
type buf[T any] struct {
	used  atomic.Int64
	cells []T
}

// Of returns a log of the values. It copies them.
func Of[T any](values ...T) Log[T] { return Log[T]{}.Append(values...) }

// Append returns l followed by the values; l does not change. It costs amortised O(len(values)). It costs
// O(l.Len()) if another log already continues l.
func (l Log[T]) Append(values ...T) Log[T] {
	if len(values) == 0 {
		return l
	}
	n := l.n + len(values)
	if b := l.b; b != nil && n <= len(b.cells) && b.used.CompareAndSwap(int64(l.n), int64(n)) {
		copy(b.cells[l.n:], values)
		return Log[T]{b, n}
	}
	cells := append(l.From(0), values...)
	b := &buf[T]{cells: cells[:cap(cells)]}
	b.used.Store(int64(n))
	return Log[T]{b, n}
}

// Same reports whether both logs have the same length and share their memory. It compares no values.
func (l Log[T]) Same(o Log[T]) bool { return l.n == o.n && (l.n == 0 || l.b == o.b) }

// Len returns the number of values.
func (l Log[T]) Len() int { return l.n }

// At returns the value at index i, from 0. It panics if i is out of range.
func (l Log[T]) At(i int) T { return l.From(0)[i] }

// Last returns the newest value; ok is false if the log is empty.
func (l Log[T]) Last() (value T, ok bool) {
	if l.n > 0 {
		value, ok = l.At(l.n-1), true
	}
	return value, ok
}

// All iterates over indices and values, oldest first.
func (l Log[T]) All() iter.Seq2[int, T] { return slices.All(l.From(0)) }

// Backward iterates over indices and values, newest first.
func (l Log[T]) Backward() iter.Seq2[int, T] { return slices.Backward(l.From(0)) }

// From returns the values from index n on, nil if there are none. They share the log's memory: do not write
// to them. Appending to them copies. It panics if n is out of range.
func (l Log[T]) From(n int) []T {
	var all []T
	if l.n > 0 {
		all = l.b.cells[:l.n:l.n]
	}
	if n == len(all) {
		return nil
	}
	return all[n:]
}
