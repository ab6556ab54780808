package seq

import "fmt"

// Memory is where a log has its newest values. Of two logs whose memories are equal, one is the beginning of the other, so that who keeps
// the newest of logs that grow from one another needs no more than the memory and a length. The zero value is that of the empty log.
// Safe for concurrent use.
type Memory[T any] struct{ block *block[T] }

// Memory returns the memory of a log. It is another one once the log has grown beyond it.
func (l Log[T]) Memory() Memory[T] { return Memory[T]{l.block} }

// Log returns the log of n values that has this memory. It panics for a length that none has.
func (m Memory[T]) Log(n int) Log[T] { return Log[T]{m.block.holding(n), n} }

// holding is b, where it is the memory of a log of n values.
func (b *block[T]) holding(n int) *block[T] {
	if b == nil && n != 0 || b != nil && (n <= b.first || n-b.first > int(b.claimed.Load())) {
		panic(fmt.Sprintf("seq: no log in this memory has length %d", n))
	}
	return b
}
