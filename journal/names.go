package journal

import "encoding/binary"

// names keeps short strings, for the next time that they are read: records are full of the same. Each has two places where it may be.
type names [256]string

// longestName is how long they may be.
const longestName = 40

func (n *names) of(text []byte) string {
	at := slot(text)
	first, second := &n[at], &n[at^1]
	switch {
	case *first == string(text):
		return *first
	case *second == string(text):
		return *second
	}
	*first, *second = string(text), *first
	return *first
}

// slot is a place among names, by the ends of a text.
func slot(text []byte) byte {
	const mix = 0x9e3779b97f4a7c15
	sum := uint64(len(text))
	if n := len(text) - 8; n >= 0 {
		sum = (sum ^ binary.LittleEndian.Uint64(text)) * mix
		sum ^= binary.LittleEndian.Uint64(text[n:])
	} else {
		for _, b := range text {
			sum = sum<<8 | uint64(b)
		}
	}
	return byte(sum * mix >> 56)
}
