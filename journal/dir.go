package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dir is a [Store] of one file per session in a folder, which is made where it is not there: files of mode 0600, named after
// the session, with nothing beside them. A journal that is open holds its file open; on Unix the file is locked meanwhile.
type Dir string

// suffix ends the name of a journal's file, temporary that of one that is being made.
const (
	suffix    = ".jsonl"
	temporary = ".new"
)

// FileName is the name of a session's file in a [Dir]: the id with every byte but A-Za-z0-9._- written as %XX; of ids that come to more
// than 200 bytes so, the beginning and a digest.
func FileName(session string) string {
	var b strings.Builder
	for n, c := range []byte(session) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' && n > 0
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	name := b.String()
	if len(name) > 200 {
		name = name[:160] + "~" + SchemaDigest([]byte(session))
	}
	return name + suffix
}

// List implements [Store]. A file whose first line is not whole has no session yet, and is left out.
func (d Dir) List(ctx context.Context) ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !strings.HasSuffix(e.Name(), suffix) || !e.Type().IsRegular() {
			continue
		}
		id, err := sessionOf(filepath.Join(string(d), e.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// sessionOf is the session of a journal file; empty where it has no whole line.
func sessionOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	rec, err := NewReader(f).Next()
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if rec.Header == nil {
		return "", &CorruptError{Line: 1, Why: "a journal begins with a header"}
	}
	return rec.Header.Session, nil
}

// Open implements [Store].
func (d Dir) Open(_ context.Context, session string) (Log, error) {
	if d == "" {
		return nil, errors.New("journal: a Dir without a name: give a folder, such as \".\"")
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(string(d), FileName(session))
	f, err := openLocked(path, session)
	if err != nil {
		return nil, err
	}
	return &file{f: f, path: path, session: session}, nil
}

func openLocked(path, session string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = lock(f)
	if err == nil {
		err = inPlace(f, path)
	}
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, errLocked):
		err = &ConflictError{Session: session}
	default:
		err = fmt.Errorf("locking %s: %w", path, err)
	}
	return nil, errors.Join(err, f.Close())
}

// inPlace says where a file that was locked is not the one at path any more: a writer that held it has compacted it meanwhile.
func inPlace(f *os.File, path string) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !os.SameFile(mine, there)) {
		return errLocked
	}
	return err
}

var errLocked = errors.New("locked")

// file is a [Log] in a [Dir].
type file struct {
	f             *os.File
	path, session string
}

func (l *file) Read(context.Context) (io.ReadCloser, error) {
	size, err := l.size()
	if err != nil {
		return nil, err
	}
	return io.NopCloser(io.NewSectionReader(l.f, 0, size)), nil
}

// size is how long the file is. Where the file stands does not matter: all reading and writing names its place.
func (l *file) size() (int64, error) { return l.f.Seek(0, io.SeekEnd) }

// check reports whether the journal ends at at, but for a torn line, and how long the file is.
func (l *file) check(at int64) (size int64, err error) {
	if size, err = l.size(); err != nil || size == at {
		return size, err
	}
	conflict := &ConflictError{Session: l.session, Want: at, Found: size}
	if size < at {
		return size, conflict
	}
	rest, err := io.ReadAll(io.NewSectionReader(l.f, at, size-at))
	if err != nil {
		return size, err
	}
	if bytes.IndexByte(rest, '\n') >= 0 {
		return size, conflict
	}
	return size, nil
}

func (l *file) Append(_ context.Context, at int64, lines []byte, durable bool) error {
	size, err := l.check(at)
	if err != nil {
		return err
	}
	if _, err := l.f.WriteAt(lines, at); err != nil {
		return errors.Join(err, l.f.Truncate(at))
	}
	if end := at + int64(len(lines)); size > end {
		err = l.f.Truncate(end)
	}
	if err == nil && durable {
		err = l.f.Sync()
	}
	return err
}

func (l *file) Replace(_ context.Context, at int64, lines []byte) error {
	if _, err := l.check(at); err != nil {
		return err
	}
	made, err := openLocked(l.path+temporary, l.session)
	if err != nil {
		return err
	}
	if err := install(made, lines, l.path); err != nil {
		return errors.Join(err, made.Close(), os.Remove(l.path+temporary))
	}
	old := l.f
	l.f = made
	return old.Close()
}

// install fills a new file and gives it its place.
func install(made *os.File, lines []byte, path string) error {
	if err := made.Truncate(0); err != nil {
		return err
	}
	if _, err := made.WriteAt(lines, 0); err != nil {
		return err
	}
	if err := made.Sync(); err != nil {
		return err
	}
	if err := os.Rename(made.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

func (l *file) Close() error { return l.f.Close() }
