package journal

import (
	"context"
	"io"
)

// Store keeps the journals of sessions. It must be safe for concurrent use.
type Store interface {
	// List returns the ids of the sessions with a journal, in ascending order.
	List(ctx context.Context) ([]string, error)
	// Open opens a session's journal for its one writer; a new one is empty. It returns a [ConflictError]
	// while another writer holds the journal. A store may notice that a writer is gone by a lock that dies
	// with its owner, or by a lease. Append and Replace return a ConflictError once another writer has the
	// journal.
	Open(ctx context.Context, session string) (Log, error)
}

// Rester is a [Log] that can let go of what it costs while its writer waits for long: an open file, say, and
// the lock of it. Until [Rester.Wake] nobody holds the journal, and another writer may take it.
type Rester interface {
	Log
	// Rest lets go. A second call does nothing. The error is [errors.ErrUnsupported] if it is around a log
	// that cannot rest; then Wake returns it, too.
	Rest() error
	// Wake takes the journal again; it does nothing if that is held. It returns a [ConflictError] if another
	// writer holds the journal or has put another in its place. Read, Append and Replace call it.
	Wake() error
}

// Log is the journal of one session, held by its writer. It is for one goroutine at a time.
type Log interface {
	// Read returns the journal from its first byte, as it was when Read was called. The caller closes it.
	Read(ctx context.Context) (io.ReadCloser, error)
	// Append adds complete lines at offset at, the end of the journal. It replaces a torn line there. If
	// there are complete lines, another writer wrote them, and Append returns a [ConflictError]. Durable
	// lines survive a loss of power; all lines survive a killed process.
	Append(ctx context.Context, at int64, lines []byte, durable bool) error
	// Replace replaces a journal that ends at at, atomically and durably. Errors are those of Append.
	Replace(ctx context.Context, at int64, lines []byte) error
	// Close releases the journal.
	Close() error
}
