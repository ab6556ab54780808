package seq

import "iter"

// Log is a persistent append-only sequence. It is a value of two words, cheap to copy. The zero value is empty and ready for
// use. Safe for concurrent use, appending included.
type Log[T any] struct {
	block *block[T]
	n     int
}

// Of returns a log of the values, which are copied.
func Of[T any](values ...T) Log[T] { return Log[T]{}.Append(values...) }

// Append returns l followed by the values; l itself stays as it was. It costs amortised O(len(values)): of what l holds, no
// more than a short part at its end is ever copied.
func (l Log[T]) Append(values ...T) Log[T] {
	if len(values) == 0 {
		return l
	}
	l, room := l.grow(len(values), minBlock)
	copy(room, values)
	return l
}

// Add is Append of one value, for values that are big: it returns besides where the log holds its copy of it, which is to be
// read and never written to.
func (l Log[T]) Add(value *T) (longer Log[T], held *T) {
	l, held = l.Next(minBlock)
	*held = *value
	return l, held
}

// Next is Add of a zero value, for values that are made where they are held: it is the caller's to fill until others have the log.
// first is how many values an empty log makes room for; one at least.
func (l Log[T]) Next(first int) (longer Log[T], held *T) {
	l, room := l.grow(1, first)
	return l, &room[0]
}

// grow returns l with so many more values, and the room for them, which is the caller's alone until others have the log. An empty log
// makes room for first values, if that is more.
func (l Log[T]) grow(more, first int) (Log[T], []T) {
	b, end := l.block, l.n+more
	switch {
	case b == nil:
		b = newBlock[T](max(more, first))
		b.claimed.Store(int64(more))
	case !b.claim(l.n, end):
		b = l.after(more)
	}
	return Log[T]{block: b, n: end}, b.cells[l.n-b.first : end-b.first]
}

// Len is the number of values.
func (l Log[T]) Len() int { return l.n }

// At returns the value at index i, counted from 0. It panics out of range, as a slice does. It is fastest at the end, and takes
// O(log n) at worst.
func (l Log[T]) At(i int) T {
	if i < 0 || i >= l.n {
		_ = make([]struct{}, l.n)[i] // panics as a slice does, whose words are recorded where a reducer fails so
	}
	b := l.block.at(i)
	return b.cells[i-b.first]
}

// Last returns the newest value; ok is false where the log is empty.
func (l Log[T]) Last() (value T, ok bool) {
	if l.n == 0 {
		return value, false
	}
	return l.block.cells[l.n-1-l.block.first], true
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

// Slice returns the values from index from up to, but not including, index to. Where they lie in one piece of the log's memory,
// as the newest mostly do, it shares that memory, else it copies them: read it, never write to it; appending to it copies. It
// panics out of range, as slicing does.
func (l Log[T]) Slice(from, to int) []T {
	_ = make([]struct{}, l.n)[from:to:to] // panics out of range
	if from == to {
		return nil
	}
	if b := l.block.at(to - 1); from >= b.first {
		return b.cells[from-b.first : to-b.first : to-b.first]
	}
	values := make([]T, to-from)
	l.block.copy(values, from, to)
	return values
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
	l.block.copy(b.cells, 0, l.n)
	return Log[T]{block: b, n: l.n}
}
