package journal

import (
	"errors"
	"fmt"
	"time"
)

// The kinds of errors; use errors.Is.
var (
	// ErrCorrupt: a line was changed.
	ErrCorrupt = errors.New("journal: a line was changed")
	// ErrConflict: another writer has written to the journal or holds it, or what is to begin conflicts with
	// what the journal holds.
	ErrConflict = errors.New("journal: another writer has it")
	// ErrDiffers: today's code decides differently than recorded, or a later version wrote the journal.
	ErrDiffers = errors.New("journal: the recording differs from what is decided now")
	// ErrUnwritable: the journal could not be written.
	ErrUnwritable = errors.New("journal: it could not be written")
	// ErrReadOnly: the journal can be read but not written.
	ErrReadOnly = errors.New("journal: it can only be read")
	// ErrNoRun: there is no run to continue.
	ErrNoRun = errors.New("journal: there is no run to continue")
	// ErrRedacted: the journal does not contain what the run needs to continue.
	ErrRedacted = errors.New("journal: it was redacted")
)

var errNoStore = errors.New("journal: the store is nil: give one, such as a Dir")

// CorruptError reports a line that was changed or cannot be read. errors.Is matches [ErrCorrupt].
type CorruptError struct {
	// Line is the number of the line, from 1. Offset is where it begins.
	Line, Offset int64
	// Found is the line's hash, and Want the hash that its bytes should have. Both are empty for other
	// faults.
	Found, Want string
	// Why is the fault; empty if the hash is wrong.
	Why string
}

// Error names the line and the hashes.
func (e *CorruptError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("journal: line %d (offset %d): %s", e.Line, e.Offset, e.Why)
	}
	return fmt.Sprintf("journal: line %d (offset %d): its hash is %s, that of its bytes is %s: it was "+
		"changed, or a line before it is missing",
		e.Line, e.Offset, e.Found, e.Want)
}

// Is matches ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// ErrSealed: the journal is sealed with a key that is not given. It is a [SealedError].
var ErrSealed = errors.New("journal: it is sealed with a key that is not given")

// SealedError reports something that is sealed with a key that is not given: see package
// [github.com/retake-go/retake/journal/sealed]. errors.Is matches [ErrSealed].
type SealedError struct {
	// Line is the number of the line, from 1; 0 for an item of an inbox.
	Line int64
	// Key is the id of the key that is missing, and Given are those of the keys that are given.
	Key   string
	Given []string

	// session is that of the journal, if the line says so.
	session string
}

// Error names the line and the keys.
func (e *SealedError) Error() string {
	text := "journal: it"
	if e.Line > 0 {
		text = fmt.Sprintf("journal: line %d", e.Line)
	}
	text += fmt.Sprintf(" is sealed with the key whose id is %q: give that key", e.Key)
	if len(e.Given) > 0 {
		text += fmt.Sprintf(", too: given is %q", e.Given)
	}
	return text
}

// Is matches ErrSealed.
func (e *SealedError) Is(target error) bool { return target == ErrSealed }

// kindError is an error of a kind without the words of the kind. errors.Is matches both.
type kindError struct {
	error
	kind error
}

func (e kindError) Is(target error) bool { return target == e.kind }

func (e kindError) Unwrap() error { return e.error }

// heldError returns an error of [ErrConflict]: what the journal holds conflicts with what is to begin.
func heldError(holds string) error { return kindError{errors.New("journal: " + holds), ErrConflict} }

// ConflictError reports that the journal of a session has another writer. errors.Is matches [ErrConflict].
type ConflictError struct {
	Session string
	// Want is where this writer ended, and Found where the journal ends. Both are 0 if another writer holds
	// it.
	Want, Found int64
	// Until is when the other writer's lease ends unless it is renewed; zero if the store has no leases.
	Until time.Time
}

// Error names the session.
func (e *ConflictError) Error() string {
	if e.Want == e.Found {
		held := fmt.Sprintf("journal: the journal of session %q is held by another writer: one run at a time "+
			"writes to it", e.Session)
		if !e.Until.IsZero() {
			held += "; its lease ends at " + e.Until.Format(time.RFC3339Nano) + " unless it is renewed"
		}
		return held
	}
	if e.Found < e.Want {
		return fmt.Sprintf("journal: the journal of session %q ends at byte %d, and this writer left it at %d: another "+
			"writer has compacted it, or its end is lost, as where a standby takes over without it or an older copy "+
			"is put back", e.Session, e.Found, e.Want)
	}
	return fmt.Sprintf("journal: the journal of session %q was written by another writer: it ends at byte %d, "+
		"this writer left it at %d",
		e.Session, e.Found, e.Want)
}

// Is matches ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }
