package seq

import (
	"iter"
	"sync/atomic"
)

// minBlock is the room of a first block, so that the short logs of most runs are allocated once.
const minBlock = 4

// Log is a persistent append-only sequence. It is a value of two words, cheap to copy. The zero value is empty and ready for
// use. Safe for concurrent use, appending included.
type Log[T any] struct {
	block *block[T]
	n     int
}

// block is memory shared by all logs that grew from one another. The cells below claimed belong to some log and are written
// once, by whoever moved claimed over them, before any log that holds them exists.
type block[T any] struct {
	cells   []T
	claimed atomic.Int64
}

// Of returns a log of the values, which are copied.
func Of[T any](values ...T) Log[T] { return Log[T]{}.Append(values...) }

// Append returns l followed by the values; l itself stays as it was. Appending to the newest log of a line costs amortised
// O(len(values)); appending to a log that has been appended to before copies it once.
func (l Log[T]) Append(values ...T) Log[T] {
	if len(values) == 0 {
		return l
	}
	end := l.n + len(values)
	if b := l.block; b != nil && end <= len(b.cells) && b.claimed.CompareAndSwap(int64(l.n), int64(end)) {
		copy(b.cells[l.n:end], values)
		return Log[T]{block: b, n: end}
	}
	b := newBlock[T](max(minBlock, end, 2*l.n))
	b.claimed.Store(int64(end))
	copy(b.cells, l.cells())
	copy(b.cells[l.n:end], values)
	return Log[T]{block: b, n: end}
}

// newBlock returns a block with room for n values. A smallest one is allocated with its cells.
func newBlock[T any](n int) *block[T] {
	if n > minBlock {
		return &block[T]{cells: make([]T, n)}
	}
	whole := &struct {
		block[T]
		room [minBlock]T
	}{}
	whole.cells = whole.room[:]
	return &whole.block
}

// Len is the number of values.
func (l Log[T]) Len() int { return l.n }

// At returns the value at index i, counted from 0. It panics out of range, as a slice does.
func (l Log[T]) At(i int) T { return l.cells()[i] }

// Last returns the newest value; ok is false where the log is empty.
func (l Log[T]) Last() (value T, ok bool) {
	if l.n == 0 {
		return value, false
	}
	return l.block.cells[l.n-1], true
}

// All yields every index and value, oldest first. Nothing is copied but the value at hand.
func (l Log[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, v := range l.cells() {
			if !yield(i, v) {
				return
			}
		}
	}
}

// Backward yields every index and value, newest first. Nothing is copied but the value at hand.
func (l Log[T]) Backward() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		cells := l.cells()
		for i := len(cells) - 1; i >= 0; i-- {
			if !yield(i, cells[i]) {
				return
			}
		}
	}
}

// Slice returns the values from index from up to, but not including, index to. It shares the log's memory: read it, never
// write to it; appending to it copies. It panics out of range, as slicing does.
func (l Log[T]) Slice(from, to int) []T { return l.cells()[from:to:to] }

// cells is the part of the block that is l's own, with no room left, so that an index beyond it is out of range.
func (l Log[T]) cells() []T {
	if l.block == nil {
		return nil
	}
	return l.block.cells[:l.n:l.n]
}

// tightRoom is up to which length a log is copied by Tight: beyond it, copying would cost more than the room that it saves.
const tightRoom = 16

// Tight returns the same log, where it is short in memory of its own without room for more: for logs that are kept by the
// thousand, and not appended to soon.
func (l Log[T]) Tight() Log[T] {
	if l.n == 0 || l.n > tightRoom || len(l.block.cells) == l.n {
		return l
	}
	b := &block[T]{cells: make([]T, l.n)}
	b.claimed.Store(int64(l.n))
	copy(b.cells, l.cells())
	return Log[T]{block: b, n: l.n}
}
