package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
)

// hashLen is the length of a hash in hex digits: 128 bits.
const hashLen = 32

// hash is a hash of the chain, in hex. 32 zeros precede the first line.
type hash [hashLen]byte

func newHash() (h hash) {
	for n := range h {
		h[n] = '0'
	}
	return h
}

// next returns the hash of a record with the bytes raw.
func (h hash) next(raw []byte) hash {
	both := sha256.New()
	both.Write(h[:])
	both.Write(raw)
	var sum [sha256.Size]byte
	return hexOf(both.Sum(sum[:0]))
}

func hashOf(text []byte) hash {
	sum := sha256.Sum256(text)
	return hexOf(sum[:])
}

// hexOf returns the first half of a sum in hex.
func hexOf(sum []byte) (h hash) {
	hex.Encode(h[:], sum[:hashLen/2])
	return h
}

func (h hash) String() string { return string(h[:]) }

// The constant parts of a line.
const (
	beforeHash = `{"hash":"`
	afterHash  = `","record":`
	afterLine  = "}\n"
	rawStart   = len(beforeHash) + hashLen + len(afterHash)
)

// appendRecord appends the line of a record after h, and returns its hash.
func (h hash) appendRecord(to []byte, rec *Record) (_ []byte, next hash, err error) {
	start := len(to)
	to = append(append(append(to, beforeHash...), h[:]...), afterHash...)
	if to, err = canon.AppendDeclared(to, rec); err != nil {
		return nil, h, err
	}
	next = h.next(to[start+rawStart:])
	copy(to[start+len(beforeHash):], next[:])
	to = append(to, afterLine...)
	if n := len(to) - start; n > MaxLineBytes {
		return nil, h, fmt.Errorf("a line of %d bytes is longer than a line may be: %d", n, MaxLineBytes)
	}
	return to, next, nil
}

// cutLine returns the hash and the record of a line without its line feed. ok is false if it is not a line of
// a journal.
func cutLine(line []byte) (h hash, raw []byte, ok bool) {
	if len(line) < rawStart+1 || string(line[:len(beforeHash)]) != beforeHash || line[len(line)-1] != '}' ||
		string(line[len(beforeHash)+hashLen:rawStart]) != afterHash {
		return h, nil, false
	}
	copy(h[:], line[len(beforeHash):])
	return h, line[rawStart : len(line)-1], true
}
