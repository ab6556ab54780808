package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// Stats implements [Keeper]. A file whose name is not that of its session is an error. Files of journals that
// are known and have not changed are not opened. A folder that is not there has no sessions, but it is
// an error if some of it are known.
func (d Dir) Stats(ctx context.Context, known ...Stat) ([]Stat, error) {
	all, misnamed, err := d.stats(ctx, known)
	return all, errors.Join(misnamed, err)
}

// stats looks at all files that have a session. An error for files of other names than those of their
// sessions is apart.
func (d Dir) stats(ctx context.Context, known []Stat) (all []Stat, misnamed, err error) {
	if err := d.named(); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) && len(known) == 0 {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var other, bad []error
	lines, were := newLineReader(nil), make(map[string]Stat, len(known))
	for _, s := range known {
		were[FileName(s.Session)] = s
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if !strings.HasSuffix(e.Name(), suffix) || !e.Type().IsRegular() {
			continue
		}
		var err error
		stat, is := were[e.Name()]
		if !is || !stat.isOf(e) {
			stat, err = statOf(filepath.Join(string(d), e.Name()), lines)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was deleted meanwhile
		case err != nil:
			bad = append(bad, fmt.Errorf("%s: %w", e.Name(), err))
		case stat.Session == "":
		case e.Name() != FileName(stat.Session):
			other = append(other, fmt.Errorf("%s: it is the journal of session %q, whose file is called %s", e.Name(),
				stat.Session, FileName(stat.Session)))
		default:
			all = append(all, stat)
		}
	}
	slices.SortFunc(all, func(a, b Stat) int { return strings.Compare(a.Session, b.Session) })
	return all, errors.Join(other...), errors.Join(bad...)
}

// isOf reports whether a file has not changed since.
func (s Stat) isOf(file fs.DirEntry) bool {
	info, err := file.Info()
	return err == nil && info.Size() == s.Bytes && info.ModTime().Equal(s.Changed)
}

// statOf looks at a journal file. Its session is empty if it has no complete line.
// lines is room for it.
func statOf(path string, lines lineReader) (s Stat, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, err
	}
	s.Bytes, s.Changed = info.Size(), info.ModTime()
	if s.Held, err = held(f); err != nil {
		return s, err
	}
	lines.in.Reset(f)
	s.Session, err = sessionIn(&Reader{in: lines, head: newHash()})
	return s, err
}

// sessionIn returns the session of a journal, or "" if it has no complete line; the rest of its header is for
// who reads the journal. That of a sealed journal is in the clear.
func sessionIn(in *Reader) (string, error) {
	raw, err := in.Raw()
	if sealed, is := errors.AsType[*SealedError](err); is && sealed.session != "" {
		return sealed.session, nil
	}
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	var first struct {
		Header *struct {
			Format  string `json:"format"`
			Session string `json:"session"`
		} `json:"header"`
	}
	if err == nil {
		err = in.locate(canon.Unmarshal(raw, &first))
	}
	if err != nil {
		return "", err
	}
	if first.Header == nil {
		return "", &CorruptError{Line: 1, Why: "a journal begins with a header"}
	}
	return first.Header.Session, in.locate(knownFormat(first.Header.Format))
}

// Peek implements [Keeper].
func (d Dir) Peek(_ context.Context, session string) (io.ReadCloser, error) {
	if err := d.named(); err != nil {
		return nil, err
	}
	f, err := openWithin(filepath.Join(string(d), FileName(session)), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoRun
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

var errDeleted = fmt.Errorf("%w: it was deleted", ErrUnwritable)

// delete deletes the journal. What a process left that died while it compacted it goes first.
func (l *file) delete() error {
	dir := Dir(filepath.Dir(l.path))
	err := errors.Join(unlessGone(os.Remove(l.path+temporary)), dir.sweepInbox(l.on, l.session))
	if err != nil {
		return err
	}
	l.broken = errDeleted
	return errors.Join(l.remove(), l.on.syncFolder(string(dir)))
}

// sweepInbox removes what dead processes left in an inbox, and the inbox if it is empty.
func (d Dir) sweepInbox(on *disk, session string) error {
	in, err := d.openInbox(on, inboxOf(session), false)
	if err == nil {
		err = errors.Join(in.sweep(), in.Close())
	} else {
		err = unlessGone(err) // a process may have died before it removed the folder of all inboxes
	}
	return errors.Join(err, d.removeEmpty(on, session))
}
