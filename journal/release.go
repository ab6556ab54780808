package journal

import (
	"errors"
	"io"
)

// Release lets go of the journal of a session whose run has ended, until its next run: others may prune or
// compact it meanwhile, or take it over. The next run ends with [ErrConflict] if another run was written, or
// the journal was compacted or deleted. It does nothing for a nil journal.
func (j *Journal) Release() {
	if j == nil {
		return
	}
	_ = j.Flush() // if it fails, Warning says so
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return
	}
	if log, rests := j.log.(Rester); rests && j.broken == nil && log.Rest() == nil {
		return
	}
	_ = j.log.Close() // if it fails, the store lets go of it later
	j.log = nil
}

// reopen opens the log of a journal that was released and whose log cannot rest.
func (j *Journal) reopen() error {
	if j.log != nil {
		return nil
	}
	log, err := j.store.Open(j.ctx, j.session)
	if err != nil {
		return err
	}
	if err = j.isAsLeft(log); err != nil {
		return errors.Join(err, log.Close())
	}
	j.log = log
	return nil
}

// isAsLeft returns an error unless the last line of the chain, which covers those before it, is where it was.
// What follows it, the next append finds.
func (j *Journal) isAsLeft(log Log) error {
	if j.end == 0 {
		return nil
	}
	in, err := log.Read(j.ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	start := make([]byte, len(beforeHash)+hashLen)
	if err = leadTo(in, j.headAt); err == nil {
		_, err = io.ReadFull(in, start)
	}
	if err == nil && string(start) == beforeHash+j.head.String() {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return heldError("it is not as its last run left it: another writer wrote, compacted or deleted it")
	}
	return err
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
