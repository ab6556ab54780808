package seq

import "sync/atomic"

// block is a piece of memory shared by all logs that grew from one another. The cells below claimed belong to
// some log and are written once, by whoever moved claimed over them, before any log that holds them exists.
type block[T any] struct {
	// before is the block of the values before first, of which it may hold more; nil where first is 0.
	before  *block[T]
	first   int
	claimed atomic.Int64
	cells   []T
}

// claim takes the cells from up to end for the caller. It reports false where they are not there, or
// another's.
func (b *block[T]) claim(from, end int) bool {
	return end-b.first <= len(b.cells) && b.claimed.CompareAndSwap(int64(from-b.first), int64(end-b.first))
}

// roomAfter is the room for more of a block that follows n values. An eighth of what there is keeps the
// blocks few, and what is never used short, however long a log becomes. A log of one value has room for no
// other: very many sessions wait with one.
func roomAfter(n int) int {
	if n == 0 {
		return 1
	}
	return max(4, min(n, 32), n/8)
}

// after returns a block in which a log of n values goes on, with so many more cells claimed. Blocks of which
// little belongs to the log are copied into it: a log that was branched again and again is still one of few
// blocks.
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

// at is the block of the value at index i. Since each block is a part of all before it, few steps lead there.
func (b *block[T]) at(i int) *block[T] {
	for i < b.first {
		b = b.before
	}
	return b
}

// all yields the first n values; it reports false where yield did.
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

// copy fills to with the values from index from.
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
