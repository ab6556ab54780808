package seq

// Blocks counts the blocks that a log lies in.
func Blocks[T any](l Log[T]) int {
	n := 0
	for b := l.block; b != nil; b = b.before {
		n++
	}
	return n
}
