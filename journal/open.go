package journal

import (
	"errors"
	"fmt"
	"io"
)

// read folds what stands in the journal.
func (j *Journal) read(session string) error {
	in, err := j.log.Read(j.ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	r := NewReader(in)
	if err := j.fold(r); err != nil {
		return err
	}
	if h := j.written.Header; h.Format != "" && h.Session != session {
		return fmt.Errorf("journal: it is that of session %q, not of %q", h.Session, session)
	}
	j.head, j.end = r.head, r.Offset()
	j.torn, j.tornBytes = r.Torn(), r.TornBytes()
	if d := j.written.Undecided(); d != nil {
		j.written.open = nil
		err = j.owe(Record{Decision: d})
	}
	if err != nil || j.written.Header.Format == "" {
		return err
	}
	return j.mend()
}

// mend writes the decision that is missing at the end, and keeps what was torn.
func (j *Journal) mend() error {
	if len(j.torn) > 0 {
		if err := j.owe(Record{Note: tornNote(j.torn, j.tornBytes)}); err != nil {
			return err
		}
	}
	if j.torn = nil; len(j.owed) == 0 {
		return nil
	}
	err := j.flush(j.settings.Sync == SyncRecords)
	if errors.Is(j.broken, ErrReadOnly) {
		// It can be read; what is owed is written, or refused, with what comes next.
		j.broken, err = nil, nil
	}
	return err
}

// fold folds all that r reads: as it is written and, where that can be had, as it was.
func (j *Journal) fold(r *Reader) error {
	j.written = NewFold(j.settings.Redact.key())
	j.real = j.written
	for {
		raw, err := r.Raw()
		if err != nil {
			return ignoreEOF(err)
		}
		if err := j.add(r, raw); err != nil {
			return err
		}
	}
}

func (j *Journal) add(r *Reader, raw []byte) error {
	if j.real == j.written && j.written.decidedAs(raw) {
		return nil
	}
	rec, err := decode(raw)
	if err != nil {
		return &CorruptError{Line: r.line, Offset: r.offset, Why: err.Error()}
	}
	if rec.Header != nil {
		if err := j.parts(rec.Header); err != nil {
			return err
		}
	}
	if err := j.written.Add(rec); err != nil {
		return located(r, err)
	}
	if j.real == j.written || j.real == nil {
		return nil
	}
	if err := j.real.addReal(j.ctx, j.settings.Redact.Transcripts, raw, rec, j.written); err != nil {
		return located(r, err)
	}
	return nil
}

// parts makes one fold or two of what comes after a header.
func (j *Journal) parts(h *Header) error {
	if h.Redaction == nil {
		j.real = j.written
		return nil
	}
	if id := keyID(j.settings.Redact.key()); j.settings.Redact != nil && h.Redaction.KeyID != id {
		return fmt.Errorf("%w: its digests were made with the key %q, the settings have %q", ErrRedacted, h.Redaction.KeyID, id)
	}
	switch {
	case j.settings.Redact == nil || j.settings.Redact.Transcripts == nil:
		j.real = nil
	case j.real == j.written:
		j.real = NewFold(nil)
		j.real.State, j.real.ends = j.written.State, j.written.ends.whole()
	}
	return nil
}

// located says on which line a record does not fit.
func located(r *Reader, err error) error {
	switch e := err.(type) {
	case *DifferenceError, *MisfitError:
		return r.locate(e)
	}
	return fmt.Errorf("journal: line %d: %w", r.Line(), err)
}

// ignoreEOF is the error of a read that is no end.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
