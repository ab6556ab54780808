package journal

import (
	"fmt"
	"io"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
)

// Report is the result of a replay.
type Report struct {
	// Session is the id of the session; empty if the journal has no complete line.
	Session string `json:"session"`
	// Lines, Events, Notes and Bytes count those of the journal, in complete lines. Runs is the number of
	// headers.
	Lines  int64 `json:"lines"`
	Runs   int64 `json:"runs"`
	Events int64 `json:"events"`
	Notes  int64 `json:"notes"`
	Bytes  int64 `json:"bytes"`
	// Prompts is the number of prompts whose digests were compared. UserPrompts is the number of prompts that
	// the user's code made, which are taken as recorded.
	Prompts     int64 `json:"prompts"`
	UserPrompts int64 `json:"user_prompts"`
	// Redacted reports a redacted journal. Unkeyed is the number of prompts that were not compared because
	// the secret key is missing.
	Redacted bool  `json:"redacted,omitempty"`
	Unkeyed  int64 `json:"unkeyed,omitempty"`
	// Compacted is what a snapshot replaced; nil if the journal is complete.
	Compacted *Compacted `json:"compacted,omitempty"`
	// Ended reports that the last run has stopped.
	Ended bool `json:"ended"`
	// Undecided reports that the journal ends before the decision on its last event. Torn is the length of a
	// torn last line. A killed process may leave either; neither is an error.
	Undecided bool `json:"undecided,omitempty"`
	Torn      int  `json:"torn_bytes,omitempty"`
}

// Replay folds a journal with today's code and compares every decision and prompt with the record. It reads
// to the end of in. Its memory grows with the session's feedback and slices, which prompts may show, but not
// with the conversation and the attempts. key is the secret key of a redacted journal, or nil: without it the
// digests of its prompts are not compared.
//
// It stops at the first fault and returns the report so far: [ErrDiffers] for a decision of today that is
// another one (a [DifferenceError]) or an event that today's code refuses, a [CorruptError] for a changed
// line, or [ErrRedacted] for another secret key. Errors of in are returned unchanged. Replay may have read
// some lines after the fault.
func Replay(in io.Reader, key []byte) (Report, error) {
	p := newPlayer(in, key)
	p.forgets = true
	err := p.r.each(p.Fold, p.take)
	return p.end(), err
}

// player folds a journal line by line.
type player struct {
	*Fold
	r      *Reader
	report Report
}

func newPlayer(in io.Reader, key []byte) *player {
	return &player{Fold: &Fold{folding: folding{key: key}}, r: NewReader(in)}
}

// take folds a line and counts it.
func (p *player) take(e *entry) error {
	due := p.undecided
	if err := p.Fold.take(e); err != nil {
		return err
	}
	p.report.Lines, p.report.Bytes = e.line, e.end
	switch e.kind {
	case kindHeader:
		return p.began()
	case kindEvent:
		p.report.Events++
		if p.last.Kind == machine.Prompted {
			p.report.UserPrompts++
		}
	case kindDecision:
		if due.asks() == nil {
			break
		}
		if p.lacksKey() {
			p.report.Unkeyed++
		} else {
			p.report.Prompts++
		}
	case kindNote:
		p.report.Notes++
	}
	return nil
}

// began counts a run.
func (p *player) began() error {
	if err := p.fitsKey(); err != nil {
		return err
	}
	p.report.Runs++
	p.report.Session = p.Header.Session
	p.report.Redacted = p.report.Redacted || p.Header.Redaction != nil
	if p.Header.Compacted != nil {
		p.report.Compacted = p.Header.Compacted
	}
	return nil
}

// fitsKey returns an error if the journal was written with another key.
func (p *player) fitsKey() error {
	h := p.Header.Redaction
	if h == nil || len(p.key) == 0 || h.KeyID == keyID(p.key) {
		return nil
	}
	return fmt.Errorf("%w with the key %q, and the one that is given is %q", ErrRedacted, h.KeyID, keyID(p.key))
}

func (p *player) end() Report {
	p.report.Torn = int(p.r.TornBytes())
	p.report.Undecided = p.undecided != nil
	p.report.Ended = p.State.Phase == machine.Stopped
	return p.report
}

// String returns the report in one line.
func (r Report) String() string {
	text := fmt.Sprintf("session %s: %s", r.Session, several.Of(r.Events, "event"))
	if r.Runs > 1 {
		text += fmt.Sprintf(" of %d runs", r.Runs)
	}
	return text + ", " + several.Of(r.Prompts, "prompt") + ": all as recorded"
}
