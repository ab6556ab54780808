package journal

import (
	"errors"
	"fmt"
)

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
