package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/session"
)

// Open opens a session's journal and folds it. It returns an error for a changed line and for a decision that
// differs from today's. It writes a missing last decision, and keeps a torn line in a note. The journal uses
// the values of ctx but ignores its cancellation, so a cancelled run is still recorded.
func Open(ctx context.Context, store Store, session string, s Settings) (*Journal, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if session == "" {
		return nil, errors.New("journal: the session needs an id, by which its journal is found again")
	}
	if store == nil {
		return nil, errNoStore
	}
	ctx = context.WithoutCancel(ctx)
	log, err := store.Open(ctx, session)
	if err != nil {
		return nil, chain.Bounded(err)
	}
	j := &Journal{
		log: log, store: store, settings: s, session: session, ctx: ctx,
		folds: newFolds(s.Redact.redactor(ctx, session)),
	}
	if err := j.read(); err != nil {
		return nil, errors.Join(j.unread(chain.Bounded(err)), chain.Bounded(log.Close()))
	}
	return j, nil
}

// unread adds the session to the error of a journal that cannot be opened, and what to do.
func (j *Journal) unread(err error) error {
	err = fmt.Errorf("opening the journal of session %q: %w", j.session, err)
	switch {
	case errors.Is(err, ErrCorrupt):
		return fmt.Errorf("%w: put a copy of the journal in its place, or use another session", err)
	case errors.Is(err, ErrDiffers):
		return fmt.Errorf("%w: continue it with the version that recorded it, or use another session", err)
	}
	return err
}

// read folds the log and completes it.
func (j *Journal) read() error {
	r, err := readLog(j.ctx, j.log, j.file, func(e *entry) error {
		if e.kind != kindNote {
			j.written.at = e.offset
		}
		return j.take(j.ctx, e)
	})
	if err != nil {
		return err
	}
	if h := j.file.Header; h.Format != "" && h.Session != j.session {
		return fmt.Errorf("journal: it is that of session %q, not of %q", h.Session, j.session)
	}
	j.written.hash, j.end = r.head, r.Offset()
	j.chained = j.written
	j.torn, j.tornBytes = r.torn, r.tornBytes
	if d := j.file.undecided; d != nil {
		j.file.undecided = nil
		err = j.enqueue(Record{Decision: d})
	}
	if err != nil || j.file.Header.Format == "" {
		return err
	}
	return j.repair()
}

// repair writes the missing last decision and a note of the torn line.
func (j *Journal) repair() error {
	err := j.enqueueTorn()
	if err != nil || len(j.pending) == 0 {
		return err
	}
	err = j.flush(j.settings.Sync == SyncRecords)
	if errors.Is(j.broken, ErrReadOnly) {
		// A read-only journal can be read. The next append fails.
		j.broken, err = nil, nil
	}
	return err
}

// enqueueTorn adds a note of the torn line that was found, if any, to the next append.
func (j *Journal) enqueueTorn() error {
	if len(j.torn) == 0 {
		return nil
	}
	n := Note{Kind: Torn, Torn: j.torn}
	if j.tornBytes > int64(len(j.torn)) {
		n.Text = fmt.Sprintf("%d bytes were cut off, of which these are kept", j.tornBytes)
	}
	j.torn = nil
	return j.enqueue(Record{Note: &n})
}

// Beside opens the journal of another session in the same store, with the same settings: for a run within a
// call of a tool. Errors are those of [Open]. One that may go away is [ErrUnwritable], too, unless the
// settings say to go on.
func (j *Journal) Beside(session string) (*Journal, error) {
	own, err := Open(j.ctx, j.store, session, j.settings)
	if err == nil || j.settings.OnError == GoOn {
		return own, err
	}
	for _, stays := range []error{ErrConflict, ErrCorrupt, ErrDiffers, ErrRedacted, ErrSealed} {
		if errors.Is(err, stays) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrUnwritable, err)
}

// Of returns the journal of a session, or nil if its runs are not recorded. It is an error if the session has
// another kind of journal.
func Of(s *session.Session) (*Journal, error) {
	if s == nil {
		return nil, errors.New("the session is nil: make one with session.New")
	}
	switch j := session.DriverOf(s).Journal().(type) {
	case nil:
		return nil, nil
	case *Journal:
		return j, nil
	default:
		return nil, fmt.Errorf("journal: that of the session is a %T: open one with journal.Open", j)
	}
}
