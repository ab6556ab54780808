package seq

import "iter"

// at is the block of the value at index i. Since each block is a part of all before it, few steps lead there.
func (b *block[T]) at(i int) *block[T] {
	for i < b.first {
		b = b.before
	}
	return b
}

// cell is where the value at index i of the first n lies.
func (b *block[T]) cell(n, i int) *T {
	if i < 0 || i >= n {
		_ = make([]struct{}, n)[i] // panics as a slice does, whose words are recorded where a reducer fails so
	}
	b = b.at(i)
	return &b.cells[i-b.first]
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

// forward yields the first n values, oldest first.
func (b *block[T]) forward(n int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) { b.all(n, yield) }
}

// backward yields the first n values, newest first.
func (b *block[T]) backward(n int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		end := n
		for b := b; b != nil; b = b.before {
			for i := end - 1; i >= b.first; i-- {
				if !yield(i, b.cells[i-b.first]) {
					return
				}
			}
			end = b.first
		}
	}
}

// slice is the part of the first n values from index from up to index to: shared where it lies in one block, else copied.
func (b *block[T]) slice(n, from, to int) []T {
	_ = make([]struct{}, n)[from:to:to] // panics out of range
	if from == to {
		return nil
	}
	if b := b.at(to - 1); from >= b.first {
		return b.cells[from-b.first : to-b.first : to-b.first]
	}
	values := make([]T, to-from)
	b.copy(values, from, to)
	return values
}

// tightRoom is up to which length a log is copied to be tight: beyond it, copying would cost more than the room that it saves.
const tightRoom = 16

// tight is a block of the first n values and no room for more, where they are few; else b itself.
func (b *block[T]) tight(n int) *block[T] {
	if n == 0 || n > tightRoom || len(b.cells) == n {
		return b
	}
	own := &block[T]{cells: make([]T, n)}
	own.claimed.Store(int64(n))
	b.copy(own.cells, 0, n)
	return own
}
