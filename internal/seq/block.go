package seq

import "sync/atomic"

// block is memory shared by all logs that grew from one another. The first claimed cells belong to some log.
// They are written once, by the log that claimed them.
type block[T any] struct {
	// before is the block with the values before first; nil if first is 0. It may hold more values.
	before  *block[T]
	first   int
	claimed atomic.Int64
	cells   []T
}

// claim takes the cells from index from up to end for the caller. It returns false if the block is too small
// or another log has taken them.
func (b *block[T]) claim(from, end int) bool {
	return end-b.first <= len(b.cells) && b.claimed.CompareAndSwap(int64(from-b.first), int64(end-b.first))
}

// roomAfter returns the number of cells in a block that follows n values. One eighth of n keeps the blocks
// few and the unused memory small. A log of one value gets no spare cell, because many waiting sessions have
// such a log.
func roomAfter(n int) int {
	if n == 0 {
		return 1
	}
	return max(4, min(n, 32), n/8)
}

// after returns a block in which a log of n values continues, with more cells claimed. Blocks of which the
// log uses only a small part are copied, so that a log that branched often still has few blocks.
func (b *block[T]) after(n, more int) *block[T] {
	room := max(roomAfter(n), more)
	before, first := b, n
	for before != nil && first-before.first < room/2 {
		before, first = before.before, before.first
	}
	next := &block[T]{before: before, first: first, cells: make([]T, n-first+room)}
	next.claimed.Store(int64(n - first + more))
	if first < n {
		b.copy(next.cells[:n-first], first)
	}
	return next
}

// at returns the block of the value at index i. It needs few steps, because the blocks grow with the log.
func (b *block[T]) at(i int) *block[T] {
	for i < b.first {
		b = b.before
	}
	return b
}

// all yields the first n values. It returns false if yield did.
func (b *block[T]) all(n int, yield func(int, T) bool) bool {
	if b == nil {
		return true
	}
	if !b.before.all(b.first, yield) {
		return false
	}
	for i := range n - b.first {
		if !yield(b.first+i, b.cells[i]) {
			return false
		}
	}
	return true
}

// copy fills to with the values from index from on.
func (b *block[T]) copy(to []T, from int) {
	for end := from + len(to); end > from; b = b.before {
		if b = b.at(end - 1); b.first <= from {
			copy(to, b.cells[from-b.first:end-b.first])
			return
		}
		copy(to[b.first-from:], b.cells[:end-b.first])
		end = b.first
	}
}
