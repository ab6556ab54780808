package limiter

import (
	"context"
	"time"
)

// Store keeps what processes share, one record for each scope. It knows nothing of limits: it compares and
// swaps bytes. All methods are safe for concurrent use, and end when ctx does. Test an implementation with
// [github.com/retake-go/retake/limit/limittest.Store].
type Store interface {
	// Load returns the record of a scope, and the zero Version and no Value if there is none. It costs one
	// round trip.
	Load(ctx context.Context, scope string) (Record, error)
	// Swap replaces the record of a scope if it still has the given version, 0 for none, and reports whether
	// it did. It costs one round trip. After an error the record may have been replaced or not. A store may
	// forget a record that was not replaced for an hour.
	Swap(ctx context.Context, scope string, version int64, value []byte) (swapped bool, err error)
}

// Record is what a store has of a scope.
type Record struct {
	// Value are the bytes of the last Swap, which are valid UTF-8. They are the caller's.
	Value []byte
	// Version is another one after each Swap, and more than 0.
	Version int64
	// Now is the time by the store's clock. It is set also if there is no record. All processes go by it, so
	// that it does not matter how theirs are set.
	Now time.Time
}
