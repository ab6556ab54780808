package backoff

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// keyVersion is part of every hash. Its jitter must never change, because journals contain its delays.
const keyVersion = "retake backoff jitter 1"

// hashStep is the increment of wyrand.
const hashStep = 0xa0761d6478bd642f

// Key is a seed and a stream, hashed once. It determines all jitter. Keys are comparable; equal keys give
// equal delays. The zero Key has no seed and gives no jitter.
type Key struct {
	start, secret uint64
}

// NewKey returns the key of a stream of delays under a seed. The same seed and stream always give the same
// key; others give unrelated delays. An empty seed gives the zero Key.
func NewKey(seed, stream string) Key {
	if seed == "" {
		return Key{}
	}
	// The lengths distinguish ("a", "bc") from ("ab", "c").
	text := make([]byte, 0, 128)
	for _, part := range [...]string{keyVersion, seed, stream} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return Key{
		start:  binary.BigEndian.Uint64(sum[0:8]),
		secret: binary.BigEndian.Uint64(sum[8:16]) | 1, // never 0, so never the zero Key
	}
}

// Between returns a duration from low to high, both included, for the wait after the given attempt. It
// returns low for the zero Key, or if high is not above low. low must be 0 or more.
func (k Key) Between(attempt int, low, high time.Duration) time.Duration {
	if k == (Key{}) || high <= low {
		return low
	}
	// The high word of the product maps the hash to the range almost uniformly: the bias is at most the
	// range's part of 2^64.
	offset, _ := bits.Mul64(k.hash(uint64(max(attempt, 1))), uint64(high-low)+1)
	return low + time.Duration(offset)
}

// hash returns 64 uniform bits for an attempt: the output of the generator wyrand at that position, seeded by
// the key.
func (k Key) hash(attempt uint64) uint64 {
	x := k.start + attempt*hashStep
	high, low := bits.Mul64(x, x^k.secret)
	return high ^ low
}
