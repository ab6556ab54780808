package journal

import (
	"errors"
	"fmt"
	"io"
)

// read folds the log and completes it.
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
	if h := j.file.Header; h.Format != "" && h.Session != session {
		return fmt.Errorf("journal: it is that of session %q, not of %q", h.Session, session)
	}
	j.head, j.end = r.head, r.Offset()
	j.torn, j.tornBytes = r.Torn(), r.TornBytes()
	if d := j.file.Undecided(); d != nil {
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
	if len(j.torn) > 0 {
		if err := j.enqueue(Record{Note: tornNote(j.torn, j.tornBytes)}); err != nil {
			return err
		}
	}
	if j.torn = nil; len(j.pending) == 0 {
		return nil
	}
	err := j.flush(j.settings.Sync == SyncRecords)
	if errors.Is(j.broken, ErrReadOnly) {
		// A read-only journal can be read. The next append fails.
		j.broken, err = nil, nil
	}
	return err
}

// fold folds all records of r.
func (j *Journal) fold(r *Reader) error {
	for {
		raw, err := r.Raw()
		if err != nil {
			return ignoreEOF(err)
		}
		if j.matches(raw) {
			continue
		}
		rec, err := decode(raw)
		if err != nil {
			return &CorruptError{Line: r.line, Offset: r.offset, Why: err.Error()}
		}
		if rec.Header != nil {
			if err := j.split(rec.Header); err != nil {
				return err
			}
		}
		if err := j.add(j.ctx, raw, rec); err != nil {
			return located(r, err)
		}
	}
}

// located adds the line to an error about a record that does not fit.
func located(r *Reader, err error) error {
	switch e := err.(type) {
	case *DifferenceError, *MisfitError:
		return r.locate(e)
	}
	return fmt.Errorf("journal: line %d: %w", r.Line(), err)
}

// ignoreEOF returns err, or nil for the end of the text.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
