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

// buf is memory shared by logs that grew from one another. cells are the values from index gone on. used is
// the number of values, forgotten ones included, that belong to some log, and written is how many of them can
// be read. A cell is written once, by the append that claimed it.
type buf[T any] struct {
	used, written atomic.Int64
	gone          int
	cells         []T
}

// Of returns a log of the values. It copies them.
func Of[T any](values ...T) Log[T] { return Log[T]{}.Append(values...) }

// Append returns l followed by the values; l does not change. It costs amortised O(len(values)). It costs
// O(l.Len()) if another log already continues l.
func (l Log[T]) Append(values ...T) Log[T] {
	if len(values) == 0 {
		return l
	}
	n, at := l.n+len(values), l.n-l.gone()
	if b := l.b; b != nil && at+len(values) <= len(b.cells) && b.used.CompareAndSwap(int64(l.n), int64(n)) {
		copy(b.cells[at:], values)
		b.written.Store(int64(n))
		return Log[T]{b, n}
	}
	held := l.From(0)
	if len(held) > 0 { // the first values get no room behind them, because many logs never grow further
		held = slices.Grow(held, max(len(values), 3))
	}
	return of(append(held, values...), n)
}

// AppendAgain is Append for values that may have been appended to l before, to try it: a log that continues l
// with equal ones already is not copied.
func (l Log[T]) AppendAgain(equal func(a, b T) bool, values ...T) Log[T] {
	n, at := l.n+len(values), l.n-l.gone()
	if b := l.b; b != nil && int64(n) <= b.written.Load() && slices.EqualFunc(b.cells[at:at+len(values)], values, equal) {
		return Log[T]{b, n}
	}
	return l.Append(values...)
}

// of returns a log of n values with the last of them in cells.
func of[T any](cells []T, n int) Log[T] {
	b := &buf[T]{cells: cells[:cap(cells)], gone: n - len(cells)}
	b.used.Store(int64(n))
	b.written.Store(int64(n))
	return Log[T]{b, n}
}

// Forget returns l without the memory of its first n values: as long as l, and with the same indices. It
// copies the rest.
func (l Log[T]) Forget(n int) Log[T] {
	if n <= l.gone() {
		return l
	}
	return of(slices.Clone(l.From(n)), l.n)
}

// gone returns the number of forgotten values.
func (l Log[T]) gone() int {
	if l.b == nil {
		return 0
	}
	return l.b.gone
}

// Same reports whether both logs have the same length and share their memory. It compares no values.
func (l Log[T]) Same(o Log[T]) bool { return l.n == o.n && (l.n == 0 || l.b == o.b) }

// Len returns the number of values.
func (l Log[T]) Len() int { return l.n }

// At returns the value at index i, from 0. It panics if i is out of range or forgotten.
func (l Log[T]) At(i int) T { return l.b.cells[:l.n-l.b.gone][i-l.b.gone] }

// Last returns the newest value; ok is false if the log is empty.
func (l Log[T]) Last() (value T, ok bool) {
	if l.n > l.gone() {
		value, ok = l.At(l.n-1), true
	}
	return value, ok
}

// All iterates over indices and values, oldest first.
func (l Log[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := l.gone(); i < l.n && yield(i, l.At(i)); i++ {
		}
	}
}

// Backward iterates over indices and values, newest first.
func (l Log[T]) Backward() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := l.n - 1; i >= l.gone() && yield(i, l.At(i)); i-- {
		}
	}
}

// From returns the values from index n on that are not forgotten, nil if there are none. They share the log's
// memory: do not write to them. Appending to them copies. It panics if n is out of range.
func (l Log[T]) From(n int) []T {
	var all []T
	if l.n > l.gone() {
		all = l.b.cells[: l.n-l.b.gone : l.n-l.b.gone]
	}
	if gone := l.gone(); gone > 0 {
		n = max(n-gone, 0)
	}
	if n == len(all) {
		return nil
	}
	return all[n:]
}
