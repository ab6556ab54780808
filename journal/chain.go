package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// hashLen is the length of a hash in hex: 128 bits.
const hashLen = 32

// hash is the chain's state after a line, in hex. The zero hash stands before the first line.
type hash [hashLen]byte

func newHash() (h hash) {
	for n := range h {
		h[n] = '0'
	}
	return h
}

// next is the hash of a record whose bytes are raw.
func (h hash) next(raw []byte) (next hash) {
	return hashOf(append(append(make([]byte, 0, hashLen+len(raw)), h[:]...), raw...))
}

// nextIn is next for the record in a whole line, with its line feed. What stands before the record in the line is overwritten.
func (h hash) nextIn(line []byte) hash {
	copy(line[rawStart-hashLen:], h[:])
	return hashOf(line[rawStart-hashLen : len(line)-len(afterLine)])
}

// hashOf is the hash of a hash and the record after it.
func hashOf(text []byte) (h hash) {
	sum := sha256.Sum256(text)
	for n := 0; n < hashLen; n += 8 {
		binary.LittleEndian.PutUint64(h[n:], digitsOf(binary.LittleEndian.Uint32(sum[n/2:])))
	}
	return h
}

// digitsOf writes four bytes in hex, the lowest first: eight digits side by side.
func digitsOf(four uint32) uint64 {
	const each = 0x0101010101010101
	pair := uint64(four) | uint64(four)<<16
	pair &= 0x0000ffff0000ffff
	pair = (pair | pair<<8) & 0x00ff00ff00ff00ff
	digits := (pair>>4 | pair<<8) & (0x0f * each)
	letters := (digits + (0x10-10)*each) >> 4 & each
	return digits + '0'*each + ('a'-10-'0')*letters
}

func (h hash) String() string { return string(h[:]) }

// The fixed parts of a line.
const (
	beforeHash = `{"hash":"`
	afterHash  = `","record":`
	afterLine  = "}\n"
	rawStart   = len(beforeHash) + hashLen + len(afterHash)
)

// appendLine appends the line of a record.
func appendLine(to []byte, h hash, raw []byte) []byte {
	to = append(append(append(append(to, beforeHash...), h[:]...), afterHash...), raw...)
	return append(to, afterLine...)
}

// beginLine appends the place of what stands before a record in a line.
func beginLine(to []byte) []byte { return slices.Grow(to, rawStart)[:len(to)+rawStart] }

// endLine ends the line that begins at from, and whose record was written after its beginning; it returns the hash.
func (h hash) endLine(to []byte, from int) ([]byte, hash) {
	to = append(to, afterLine...)
	next := h.nextIn(to[from:])
	copy(to[from:], beforeHash)
	copy(to[from+len(beforeHash):], next[:])
	copy(to[from+len(beforeHash)+hashLen:], afterHash)
	return to, next
}

// cutLine finds hash and record in a line without its line feed; ok is false where it is no line of a journal.
func cutLine(line []byte) (h hash, raw []byte, ok bool) {
	if len(line) < rawStart+1 || string(line[:len(beforeHash)]) != beforeHash || line[len(line)-1] != '}' ||
		string(line[len(beforeHash)+hashLen:rawStart]) != afterHash {
		return h, nil, false
	}
	copy(h[:], line[len(beforeHash):])
	return h, line[rawStart : len(line)-1], true
}
