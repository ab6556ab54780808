package journal

import (
	"context"
	"io"
)

// Store keeps the journals of many sessions. It is safe for concurrent use.
type Store interface {
	// List returns the ids of the sessions that have a journal, in ascending order.
	List(ctx context.Context) ([]string, error)
	// Open opens a session's journal for its one writer; a new one is empty. It returns a [ConflictError]
	// while another writer holds the journal: until that has closed it or is gone, which a store may tell by
	// a lock that dies with its owner, or by a lease. Once another writer has it, Append and Replace of the
	// one before return a ConflictError, too.
	Open(ctx context.Context, session string) (Log, error)
}

// Log is the journal of one session, held by its writer. It is for one goroutine at a time.
type Log interface {
	// Read reads the journal from its first byte, as it was when Read was called. The caller closes it.
	Read(ctx context.Context) (io.ReadCloser, error)
	// Append adds whole lines at offset at, where the journal ends. A torn line that stands there is
	// replaced. Where whole lines stand there, another writer has written, and Append returns a
	// [ConflictError]. Durable lines outlive a loss of power; a killed process all lines outlive.
	Append(ctx context.Context, at int64, lines []byte, durable bool) error
	// Replace replaces a journal that ends at at, all or nothing and durably. Errors are those of Append.
	Replace(ctx context.Context, at int64, lines []byte) error
	// Close gives the journal free.
	Close() error
}
