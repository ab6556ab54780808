package journal

import (
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/loop/machine"
)

// The kinds of errors, for errors.Is.
var (
	// ErrCorrupt: a line is not what was written.
	ErrCorrupt = errors.New("journal: a line is not what was written")
	// ErrConflict: another writer has written to the journal, or holds it.
	ErrConflict = errors.New("journal: another writer has it")
	// ErrDiffers: what was recorded is not what today's code decides.
	ErrDiffers = errors.New("journal: what was recorded is not what is decided now")
	// ErrUnwritable: the journal could not be written.
	ErrUnwritable = errors.New("journal: it could not be written")
	// ErrReadOnly: it can be read, and not be written to.
	ErrReadOnly = errors.New("journal: it can only be read")
	// ErrNoRun: there is no run to go on with.
	ErrNoRun = errors.New("journal: there is no run to go on with")
	// ErrRedacted: what a run needs to go on was left out of the journal.
	ErrRedacted = errors.New("journal: it was redacted")
)

// errNoStore is returned for a nil store.
var errNoStore = errors.New("journal: the store is nil: give one, such as a Dir")

// CorruptError names a line that was changed or cannot be read. errors.Is finds [ErrCorrupt].
type CorruptError struct {
	// Line counts from 1, Offset is where the line begins.
	Line, Offset int64
	// Found is the line's hash, Want the hash of its bytes after the line before. Both are empty where the
	// fault is another.
	Found, Want string
	// Why is the fault; empty where it is the hash.
	Why string
}

// Error names line and hashes.
func (e *CorruptError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("journal: line %d (offset %d): %s", e.Line, e.Offset, e.Why)
	}
	return fmt.Sprintf("journal: line %d (offset %d): its hash is %s, that of its bytes is %s: it was changed, or a line before it is missing",
		e.Line, e.Offset, e.Found, e.Want)
}

// Is finds ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// ConflictError names the session whose journal has another writer. errors.Is finds [ErrConflict].
type ConflictError struct {
	Session string
	// Want is where the writer left off, Found where the journal ends. Both are 0 where another writer holds
	// it.
	Want, Found int64
	// Until is when the lease of the other writer ends, unless it is renewed; zero where the store has no
	// leases.
	Until time.Time
}

// Error names the session.
func (e *ConflictError) Error() string {
	if e.Want == e.Found {
		held := fmt.Sprintf("journal: the journal of session %q is held by another writer: one run at a time writes to it", e.Session)
		if !e.Until.IsZero() {
			held += "; its lease ends at " + e.Until.Format(time.RFC3339Nano) + " unless it is renewed"
		}
		return held
	}
	return fmt.Sprintf("journal: the journal of session %q was written by another writer: it ends at byte %d, this writer left it at %d",
		e.Session, e.Found, e.Want)
}

// Is finds ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// MisfitError names a recorded event or header that today's code refuses. errors.Is finds [ErrDiffers].
type MisfitError struct {
	// Line and Event count from 1. A header has the number of the event before it.
	Line, Event int64
	// Kind is the event's; "header" for a header.
	Kind machine.EventKind
	// Err is the reason: a [machine.EventError] for an event.
	Err error
}

// Error names line and event.
func (e *MisfitError) Error() string {
	if e.Kind == kindHeader {
		return fmt.Sprintf("journal: line %d: the header is refused now: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("journal: line %d: event %d (%s) does not fit now: %v", e.Line, e.Event, e.Kind, e.Err)
}

// Unwrap gives the reason.
func (e *MisfitError) Unwrap() error { return e.Err }

// Is finds ErrDiffers.
func (e *MisfitError) Is(target error) bool { return target == ErrDiffers }
