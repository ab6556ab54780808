package journal

import (
	"errors"
	"fmt"
)

// Sync says when lines are made to outlive a loss of power. A killed process all lines outlive.
type Sync string

// The choices. Their cost is that of an fsync of the file: docs/journal.md has figures.
const (
	// SyncWaits makes all lines durable before each wait, before each try of a single action, and at the end
	// of a run; the default.
	SyncWaits Sync = "waits"
	// SyncRecords makes each line durable before it is acted upon.
	SyncRecords Sync = "records"
	// SyncNever leaves it to the operating system.
	SyncNever Sync = "never"
)

// OnError says what happens to a run whose journal cannot be written.
type OnError string

// The choices.
const (
	// StopRun ends the run with [ErrUnwritable]; the default.
	StopRun OnError = "stop"
	// GoOn goes on without a journal, with a warning in the result. Nothing more is written, for a gap could
	// not be folded.
	GoOn OnError = "continue"
)

// Settings say how a journal is written. The zero value is ready for use.
type Settings struct {
	// Sync is empty for [SyncWaits].
	Sync Sync
	// OnError is empty for [StopRun].
	OnError OnError
	// Redact leaves parts out; nil for none.
	Redact *Redaction
}

// Validate returns all faults, joined, each with its field.
func (s Settings) Validate() error {
	var errs []error
	switch s.Sync {
	case "", SyncWaits, SyncRecords, SyncNever:
	default:
		errs = append(errs, fmt.Errorf("sync: %q is none of %s, %s, %s", string(s.Sync), SyncWaits, SyncRecords, SyncNever))
	}
	switch s.OnError {
	case "", StopRun, GoOn:
	default:
		errs = append(errs, fmt.Errorf("on_error: %q is none of %s, %s", string(s.OnError), StopRun, GoOn))
	}
	if s.Redact != nil {
		if err := s.Redact.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("redact: %w", err))
		}
	}
	return errors.Join(errs...)
}
