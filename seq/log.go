package seq

import "iter"

// Log is a persistent append-only sequence. It is a value of two words, cheap to copy. The zero value is empty and ready for
// use. Safe for concurrent use, appending included.
//
// Its methods are small enough to lie where they are called, and the work is its blocks': a method that is called keeps, in a program
// that looks methods up by name, all others of each kind of log.
type Log[T any] struct {
	block *block[T]
	n     int
}

// Of returns a log of the values, which are copied.
func Of[T any](values ...T) Log[T] { return Log[T]{(*block[T])(nil).append(0, values), len(values)} }

// Append returns l followed by the values; l itself stays as it was. It costs amortised O(len(values)): of what l holds, no
// more than a short part at its end is ever copied.
func (l Log[T]) Append(values ...T) Log[T] {
	return Log[T]{l.block.append(l.n, values), l.n + len(values)}
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
	l.block, held = l.block.next(l.n, first)
	l.n++
	return l, held
}

// Len is the number of values.
func (l Log[T]) Len() int { return l.n }

// At returns the value at index i, counted from 0. It panics out of range, as a slice does. It is fastest at the end, and takes
// O(log n) at worst.
func (l Log[T]) At(i int) T { return *l.block.cell(l.n, i) }

// Last returns the newest value; ok is false where the log is empty.
func (l Log[T]) Last() (value T, ok bool) {
	if l.n > 0 {
		value, ok = *l.block.cell(l.n, l.n-1), true
	}
	return value, ok
}

// All yields every index and value, oldest first. Nothing is copied but the value at hand.
func (l Log[T]) All() iter.Seq2[int, T] { return l.block.forward(l.n) }

// Backward yields every index and value, newest first. Nothing is copied but the value at hand.
func (l Log[T]) Backward() iter.Seq2[int, T] { return l.block.backward(l.n) }

// Slice returns the values from index from up to, but not including, index to. Where they lie in one piece of the log's memory,
// as the newest mostly do, it shares that memory, else it copies them: read it, never write to it; appending to it copies. It
// panics out of range, as slicing does.
func (l Log[T]) Slice(from, to int) []T { return l.block.slice(l.n, from, to) }

// Tight returns the same log, where it is short in memory of its own without room for more: for logs that are kept by the
// thousand, and not appended to soon.
func (l Log[T]) Tight() Log[T] { return Log[T]{l.block.tight(l.n), l.n} }
