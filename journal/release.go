package journal

import (
	"bytes"
	"errors"
	"io"
)

// Rest lets go of a journal whose run waits for long, if that costs something meanwhile: see [Rester]. Step,
// Note and Wake take it again. Another writer may take it before; the run of this one then ends with
// [ErrConflict]. It does nothing for a nil journal.
func (j *Journal) Rest() {
	j.letGo(func(log Log) bool {
		r, is := log.(Rester)
		return is && r.Rests()
	})
}

// Wake takes a journal that rests again. The error is that of [Journal.Step]; with [ErrConflict] the journal
// has another writer.
func (j *Journal) Wake() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.stops()
	}
	if err := j.reopen(); err != nil {
		return j.failed(err)
	}
	return nil
}

// Release lets go of the journal of a session whose run has ended, until its next run: others may prune or
// compact it meanwhile, or take it over. The next run ends with [ErrConflict] if another run was written, or
// the journal was deleted. It does nothing for a nil journal.
func (j *Journal) Release() { j.letGo(func(Log) bool { return true }) }

// letGo closes a log that may be closed. What needs it opens it again.
func (j *Journal) letGo(may func(Log) bool) {
	if j == nil {
		return
	}
	_ = j.Flush() // if it fails, Warning says so
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil || !may(j.log) {
		return
	}
	_ = j.log.Close() // if it fails, the store lets go of it later
	j.log = nil
}

// reopen opens the log of a journal that was let go.
func (j *Journal) reopen() error {
	if j.log != nil {
		return nil
	}
	log, err := j.store.Open(j.ctx, j.session)
	if err != nil {
		return err
	}
	if j.end > 0 {
		err = j.isAsLeft(func() (io.ReadCloser, error) { return log.Read(j.ctx) })
	}
	if err != nil {
		return errors.Join(err, log.Close())
	}
	j.log = log
	return nil
}

// Lost reports whether another writer went on with the journal, for a run that waits and may never write
// again. Wake and whatever writes then return [ErrConflict]. It takes no lock. It is false for a nil journal,
// for one in a store that is no [Keeper], and while the store cannot be read.
func (j *Journal) Lost() bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if store, tells := j.store.(Keeper); tells && j.broken == nil && j.end > 0 {
		peek := func() (io.ReadCloser, error) { return store.Peek(j.ctx, j.session) }
		if err := j.isAsLeft(peek); errors.Is(err, ErrConflict) {
			_ = j.failed(err)
		}
	}
	return errors.Is(j.broken, ErrConflict)
}

// isAsLeft returns an error unless the journal ends as it did, or was compacted so.
func (j *Journal) isAsLeft(read func() (io.ReadCloser, error)) error {
	is, err := j.ends(read())
	if !is && err == nil {
		is, err = j.wasCompacted(read())
	}
	switch {
	case is:
		return nil
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, ErrNoRun), errors.Is(err, ErrCorrupt):
		return heldError("it is not as its last run left it: another writer wrote or deleted it")
	}
	return err
}

// ends reports whether the journal in in ends as it did: with the last line of the chain, which covers those
// before it, and the notes after it. err is that of opening it.
func (j *Journal) ends(in io.ReadCloser, err error) (is bool, _ error) {
	if err != nil {
		return false, err
	}
	defer in.Close()
	begin := []byte(beforeHash + j.written.hash.String())
	last, rest, end := make([]byte, len(begin)), j.end-j.written.at-int64(len(begin)), int64(0)
	if err = leadTo(in, j.written.at); err == nil {
		_, err = io.ReadFull(in, last)
	}
	if err == nil && bytes.Equal(last, begin) {
		end, err = linesEnd(in, rest)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return err == nil && end == rest, err
}

// wasCompacted reports whether the journal in in is the one that was left, compacted, and nothing was added
// to it. What is written next then follows its snapshot. Lines that are pending follow another.
func (j *Journal) wasCompacted(in io.ReadCloser, err error) (is bool, _ error) {
	if err != nil {
		return false, err
	}
	defer in.Close()
	r := NewReader(in)
	first, err := r.Next()
	if err != nil || first.Header == nil || first.Header.Compacted == nil ||
		first.Header.Compacted.Hash != j.written.hash.String() || len(j.pending) > 0 {
		return false, err
	}
	_, err = r.Raw()
	last := chainLine{r.head, r.offset}
	if err == nil {
		_, err = r.Raw()
	}
	if !errors.Is(err, io.EOF) || r.line != compactLines || r.tornBytes > 0 {
		return false, err
	}
	j.chained, j.written, j.end = last, last, r.Offset()
	return true, nil
}

// leadTo reads to an offset of a journal. in is at its beginning, or an [io.Seeker].
func leadTo(in io.Reader, offset int64) error {
	if s, can := in.(io.Seeker); can {
		_, err := s.Seek(offset, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, in, offset)
	return err
}
