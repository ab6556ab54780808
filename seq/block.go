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

// roomAfter is the room for more of a block that follows n values. An eighth of what there is keeps the blocks few, and what is
// never used short, however long a log becomes.
func roomAfter(n int) int { return max(minBlock, min(n, evenBlock), n/8) }

// claim takes the cells from up to end for the caller. It reports false where they are not there, or another's.
func (b *block[T]) claim(from, end int) bool {
	return end-b.first <= len(b.cells) && b.claimed.CompareAndSwap(int64(from-b.first), int64(end-b.first))
}

// append is the block in which a log of n values goes on with more of them.
func (b *block[T]) append(n int, values []T) *block[T] {
	if len(values) > 0 {
		b = b.grow(n, len(values), minBlock)
		copy(b.cells[n-b.first:], values)
	}
	return b
}

// next is append of a zero value, and where that lies. An empty log makes room for first values. It is called, so that [Log.Next] is small
// enough not to be.
//
//go:noinline
func (b *block[T]) next(n, first int) (longer *block[T], held *T) {
	b = b.grow(n, 1, first)
	return b, &b.cells[n-b.first]
}

// grow is the block in which a log of n values goes on, with cells for so many more claimed: they are the caller's alone until others have
// the log. An empty log makes room for first values, if that is more.
func (b *block[T]) grow(n, more, first int) *block[T] {
	if b == nil {
		b = newBlock[T](max(more, first))
		b.claimed.Store(int64(more))
	} else if !b.claim(n, n+more) {
		b = b.after(n, more)
	}
	return b
}

// after returns a block in which a log of n values goes on, with so many more cells claimed. Blocks of which little belongs to the log are
// copied into it: a log that was branched again and again is still one of few blocks.
func (b *block[T]) after(n, more int) *block[T] {
	room := max(roomAfter(n), more)
	before, first := b, n
	for before != nil && first-before.first < room/2 {
		before, first = before.before, before.first
	}
	next := newBlock[T](n - first + room)
	next.before, next.first = before, first
	next.claimed.Store(int64(n - first + more))
	if first < n {
		b.copy(next.cells, first, n)
	}
	return next
}

// newBlock returns a block with room for n values or some more: for as many as the memory holds that is given for n. A smallest one is
// allocated with its cells.
func newBlock[T any](n int) *block[T] {
	switch {
	case n > minBlock:
		cells := append([]T(nil), make([]T, n)...)
		return &block[T]{cells: cells[:cap(cells)]}
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
