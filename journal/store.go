package journal

import (
	"context"
	"io"
)

// Store keeps the journals of many sessions. It is safe for concurrent use.
type Store interface {
	// List returns the ids of the sessions that have a journal, in ascending order.
	List(ctx context.Context) ([]string, error)
	// Open opens a session's journal for its one writer; one that is not there is empty. Where another writer
	// holds it, it gives a [ConflictError]: until that has closed it or is gone, which a store may tell by a
	// lock that dies with its owner, or by a lease. Once another writer has it, Append and Replace of the one
	// before give a ConflictError, too.
	Open(ctx context.Context, session string) (Log, error)
}

// Log is the journal of one session, held by its writer. It is for one goroutine at a time.
type Log interface {
	// Read reads the journal from its first byte. It gives what there was when it was called; the caller
	// closes it.
	Read(ctx context.Context) (io.ReadCloser, error)
	// Append adds whole lines at offset at, which is where the journal ends: a torn line that stands there is
	// replaced. Where anything else does, another writer has written, and it gives a [ConflictError]. durable
	// asks that the lines outlive a loss of power; a killed process they always outlive.
	Append(ctx context.Context, at int64, lines []byte, durable bool) error
	// Replace puts other lines in the place of a whole journal that ends at at, all or nothing and durably.
	// Errors are as those of Append.
	Replace(ctx context.Context, at int64, lines []byte) error
	// Close lets the journal go.
	Close() error
}
