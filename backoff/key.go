package backoff

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// keyVersion is part of every hash. Jitter under it may never change: journals hold the delays it gave.
const keyVersion = "retake backoff jitter 1"

// hashStep is the increment of wyrand.
const hashStep = 0xa0761d6478bd642f

// Key is a seed and a stream, hashed once: it decides all jitter. Keys are comparable; equal keys give equal
// delays. The zero Key means no seed, and so no jitter.
type Key struct {
	start, secret uint64
}

// NewKey makes the key of a stream of delays under a seed: the same two strings always give the same key, and
// two that differ in either give delays that have nothing to do with each other. An empty seed gives the zero
// Key, whatever the stream: there is no randomness unless it was seeded.
func NewKey(seed, stream string) Key {
	if seed == "" {
		return Key{}
	}
	// The lengths keep ("a", "bc") apart from ("ab", "c").
	text := make([]byte, 0, 128)
	for _, part := range [...]string{keyVersion, seed, stream} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return Key{
		start:  binary.BigEndian.Uint64(sum[0:8]),
		secret: binary.BigEndian.Uint64(sum[8:16]) | 1, // never the zero Key
	}
}

// Between draws from low to high, both included, for the wait after the given attempt; without a key, and
// where high is not above low, it is low. It takes low as 0 or more.
func (k Key) Between(attempt int, low, high time.Duration) time.Duration {
	if k == (Key{}) || high <= low {
		return low
	}
	// The high word of the product maps the hash to the range: no value is likelier than another by more than
	// the range's part of 2^64.
	offset, _ := bits.Mul64(k.hash(uint64(max(attempt, 1))), uint64(high-low)+1)
	return low + time.Duration(offset)
}

// hash is 64 uniform bits for an attempt: the generator wyrand at that position, started and mixed by the
// key.
func (k Key) hash(attempt uint64) uint64 {
	x := k.start + attempt*hashStep
	high, low := bits.Mul64(x, x^k.secret)
	return high ^ low
}
