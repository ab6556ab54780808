package journal

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/chain"
)

// Sync is when lines are made durable, so that they survive a loss of power. They always survive a killed
// process.
type Sync string

// The choices. Each costs an fsync of the file: docs/journal.md has figures.
const (
	// SyncWaits makes all lines durable before each wait, before each try of a single action, and at the end
	// of a run. It is the default.
	SyncWaits Sync = "waits"
	// SyncRecords makes each line durable before it takes effect.
	SyncRecords Sync = "records"
	// SyncNever leaves it to the operating system.
	SyncNever Sync = "never"
)

// OnError is what happens to a run whose journal cannot be written.
type OnError string

// The choices.
const (
	// StopRun ends the run with [ErrUnwritable]. It is the default.
	StopRun OnError = "stop"
	// GoOn continues without a journal, with a warning in the result. Nothing more is written, because a
	// journal with a gap cannot be folded.
	GoOn OnError = "continue"
)

// Settings configures a journal. The zero value is ready to use.
type Settings struct {
	// Sync is [SyncWaits] if empty.
	Sync Sync
	// OnError is [StopRun] if empty.
	OnError OnError
	// Redact leaves parts out; may be nil.
	Redact *Redaction
}

// Validate reports all faults, joined, each with its field.
func (s Settings) Validate() error {
	var errs []error
	switch s.Sync {
	case "", SyncWaits, SyncRecords, SyncNever:
	default:
		errs = append(errs, fmt.Errorf("sync: %q: must be %s, %s or %s", string(s.Sync), SyncWaits,
			SyncRecords, SyncNever))
	}
	switch s.OnError {
	case "", StopRun, GoOn:
	default:
		errs = append(errs, fmt.Errorf("on_error: %q: must be %s or %s", string(s.OnError), StopRun, GoOn))
	}
	if s.Redact != nil {
		errs = append(errs, chain.At("redact", s.Redact.Validate()))
	}
	return errors.Join(errs...)
}
