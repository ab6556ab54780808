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

// Rester is a [Log] that may cost something while its writer waits for long: an open file, say, and the lock
// of it.
type Rester interface {
	// Rests reports whether it is closed meanwhile. Until it is opened again nobody holds the journal, and
	// another writer may take it.
	Rests() bool
}

// Log is the journal of one session, held by its writer. It is for one goroutine at a time.
type Log interface {
	// Read returns the journal from its first byte, as it was when Read was called. The caller closes it.
	Read(ctx context.Context) (io.ReadCloser, error)
	// Append adds complete lines at offset at, the end of the journal. It replaces a torn line there. If
	// there are complete lines, another writer wrote them, and Append returns a [ConflictError]. Durable
	// lines survive a loss of power; all lines survive a killed process.
	Append(ctx context.Context, at int64, lines []byte, durable bool) error
	// Replace replaces a journal that ends at at, atomically and durably. With no lines it deletes it, and
	// what the store has about its session besides, but no item of its inbox: nothing of its contents is
	// left, and only Close may follow. Errors are those of Append.
	Replace(ctx context.Context, at int64, lines []byte) error
	// Close releases the journal.
	Close() error
}
