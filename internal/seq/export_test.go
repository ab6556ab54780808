package seq

// Blocks returns the number of memory blocks of a log.
func Blocks[T any](l Log[T]) int {
	n := 0
	for b := l.block; b != nil; b = b.before {
		n++
	}
	return n
}
