package seq

import "sync/atomic"

// block is a piece of memory shared by all logs that grew from one another. The cells below claimed belong to some log and are
// written once, by whoever moved claimed over them, before any log that holds them exists.
type block[T any] struct {
	// before is the block of the values before first, of which it may hold more; nil where first is 0.
	before  *block[T]
	first   int
	claimed atomic.Int64
	cells   []T
}

// minBlock is the least room of a block, and mostly that of a first one: most runs need no more of each log; evenBlock is up to which
// room a block is as long as the log before it.
const (
	minBlock  = 3
	evenBlock = 32
)

// roomAfter is the room for more of a block that follows n values. A quarter of what there is keeps the blocks few, and what is
// never used short, however long a log becomes.
func roomAfter(n int) int { return max(minBlock, min(n, evenBlock), n/4) }

// claim takes the cells from up to end for the caller. It reports false where they are not there, or another's.
func (b *block[T]) claim(from, end int) bool {
	return end-b.first <= len(b.cells) && b.claimed.CompareAndSwap(int64(from-b.first), int64(end-b.first))
}

// after returns a block in which l goes on, with so many more cells claimed. Blocks of which little belongs to l are copied into
// it: a log that was branched again and again is still one of few blocks.
func (l Log[T]) after(more int) *block[T] {
	room := max(roomAfter(l.n), more)
	before, first := l.block, l.n
	for before != nil && first-before.first < room/2 {
		before, first = before.before, before.first
	}
	b := newBlock[T](l.n - first + room)
	b.before, b.first = before, first
	b.claimed.Store(int64(l.n - first + more))
	if first < l.n {
		l.block.copy(b.cells, first, l.n)
	}
	return b
}

// newBlock returns a block with room for n values. A smallest one is allocated with its cells.
func newBlock[T any](n int) *block[T] {
	switch {
	case n > minBlock:
		return &block[T]{cells: make([]T, n)}
	case n < minBlock:
		whole := &struct {
			block[T]
			room [minBlock - 1]T
		}{}
		whole.cells = whole.room[:]
		return &whole.block
	}
	whole := &struct {
		block[T]
		room [minBlock]T
	}{}
	whole.cells = whole.room[:]
	return &whole.block
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

// copy copies the values from up to end, of which there is one at least.
func (b *block[T]) copy(to []T, from, end int) {
	for b = b.at(end - 1); ; b = b.before {
		start := max(from, b.first)
		copy(to[start-from:end-from], b.cells[start-b.first:end-b.first])
		if end = start; end == from {
			return
		}
	}
}
