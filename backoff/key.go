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

// Key is a seed and a stream, hashed once: it decides all jitter. Keys are comparable; equal keys give equal delays. The
// zero Key means no seed, and so no jitter.
type Key struct {
	start, secret uint64
}

// NewKey makes the key of a stream of delays under a seed: the same two strings always give the same key, and two that
// differ in either give delays that have nothing to do with each other. An empty seed gives the zero Key, whatever the
// stream (seed 002: no randomness unless seeded).
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

// Between draws from low to high, both included, for the wait after the given attempt; without a key, and where high is not
// above low, it is low. It takes low as 0 or more.
func (k Key) Between(attempt int, low, high time.Duration) time.Duration {
	if k.none() || high <= low {
		return low
	}
	return low + k.pick(uint64(max(attempt, 1)), high-low)
}

// none reports whether k is the zero Key: no other has no secret.
func (k Key) none() bool { return k.secret == 0 }

// hash is 64 uniform bits for an attempt: the generator wyrand at that position, started and mixed by the key. It is one
// wide multiplication, and passes what SplitMix64 passes.
func (k Key) hash(attempt uint64) uint64 { return mix(k.start+attempt*hashStep, k.secret) }

func mix(x, secret uint64) uint64 {
	hi, lo := bits.Mul64(x, x^secret)
	return hi ^ lo
}

// pick draws from 0 to width, both included.
func (k Key) pick(attempt uint64, width time.Duration) time.Duration {
	return pick(k.hash(attempt), width)
}

// pick maps a hash to the range from 0 to width by the high word of the product: no value is likelier than another by more
// than the range's part of 2^64.
func pick(hash uint64, width time.Duration) time.Duration {
	offset, _ := bits.Mul64(hash, uint64(width)+1)
	return time.Duration(offset)
}
