package journal

import (
	"errors"
	"io/fs"
	"os"
)

// Rest implements [Rester]: it closes the file, which unlocks it. An empty one stays open, because whoever
// else opens it would remove it.
func (l *file) Rest() error {
	if l.f == nil || l.broken != nil {
		return nil
	}
	was, err := l.f.Stat()
	if err != nil || was.Size() == 0 {
		return err
	}
	if err = l.f.Close(); err == nil {
		l.f, l.was = nil, was
	}
	return err
}

// Wake implements [Rester]. What was appended meanwhile, the next Append finds.
func (l *file) Wake() error {
	if l.was == nil {
		return nil
	}
	conflict := &ConflictError{Session: l.session, Want: l.was.Size()}
	f, err := l.on.openLocked(l.path, l.session, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return conflict
	}
	if err != nil {
		return err
	}
	now, err := f.Stat()
	if err == nil && !l.isAsLeft(now) {
		conflict.Found, err = now.Size(), conflict
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.f, l.was = f, nil
	return nil
}

// isAsLeft reports whether a file is the one that was closed, unchanged. A new file may have the number of
// one that was removed, so the time of the last write counts, too, where closing a file does not set it.
func (l *file) isAsLeft(now os.FileInfo) bool {
	return now.Size() == l.was.Size() && os.SameFile(now, l.was) &&
		(!l.on.movesOpen || now.ModTime().Equal(l.was.ModTime()))
}
