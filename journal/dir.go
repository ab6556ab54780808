package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Dir is a [Store] with one file per session in a folder, which is created if necessary. Files have mode 0600
// and are named by [FileName]. An open journal keeps its file open and locked, but while it rests ([Rester]).
// If the file is removed or replaced while it is open, the next append returns [ErrConflict].
// Where there are no file locks, nothing is opened for writing: see [ErrNoLocks]. It is an [Inbox], too:
// items are files below the folder .inbox, which is there while there are any.
type Dir string

// named returns an error for a Dir without a name.
func (d Dir) named() error {
	if d == "" {
		return errors.New("journal: a Dir needs a name: give a folder, such as \".\"")
	}
	return nil
}

// root opens the folder, which links do not lead out of.
func (d Dir) root() (*os.Root, error) {
	if err := d.named(); err != nil {
		return nil, err
	}
	return os.OpenRoot(string(d))
}

// ErrNoLocks says that the system or the file system has no file locks, so that two processes could write one
// journal. Use another folder, or another [Store].
var ErrNoLocks = errors.New("journal: there are no file locks here, so two processes could write one " +
	"journal: use a folder on a local disk, or a store such as adapter/sqlite")

// suffix is the end of the names of journals, and temporary that of journals that are being created.
const (
	suffix    = ".jsonl"
	temporary = ".new"
)

// FileName returns the name of a session's file in a [Dir]: the id, with every byte but A-Za-z0-9._- written
// as %XX. A name of more than 200 bytes is cut and ends in a digest.
func FileName(session string) string {
	name := unescaped.Replace(url.QueryEscape(session))
	if rest, hidden := strings.CutPrefix(name, "."); hidden {
		name = "%2E" + rest
	}
	if len(name) > 200 {
		name = name[:160] + "~" + SchemaDigest([]byte(session))
	}
	return name + suffix
}

// unescaped are what a query writes in another way than the name of a file.
var unescaped = strings.NewReplacer("+", "%20", "~", "%7E")

// List implements [Store]. It leaves out files without a complete line, which have no session yet, and those
// whose name is not that of their session, such as a copy.
func (d Dir) List(ctx context.Context) ([]string, error) {
	all, _, err := d.stats(ctx, nil)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, stat := range all {
		ids = append(ids, stat.Session)
	}
	return ids, nil
}

// Open implements [Store]. A file that cannot be written, for example on a read-only disk, is opened for
// reading without a lock; appending to it returns [ErrReadOnly].
func (d Dir) Open(_ context.Context, session string) (Log, error) {
	return d.openOn(&systemDisk, session)
}

// disk has the functions of the file system. Tests replace them by failing ones.
type disk struct {
	open     func(path string, flag int, mode fs.FileMode) (*os.File, error)
	makeAll  func(path string, mode fs.FileMode) error
	sync     func(f *os.File) error
	truncate func(f *os.File, size int64) error
	lock     func(f *os.File) error
	link     func(in *os.Root, from, to string) error
	remove   func(in *os.Root, name string) error
	// movesOpen reports whether open files can be renamed and removed.
	movesOpen bool
}

var systemDisk = disk{openWithin, os.MkdirAll, (*os.File).Sync, (*os.File).Truncate, lock, (*os.Root).Link,
	(*os.Root).Remove,
	movesOpenFiles}

// openWithin opens a regular file of a folder. A link that leads out of the folder is refused, so that none
// creates a file elsewhere.
func openWithin(path string, flag int, mode fs.FileMode) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := filepath.Base(path)
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, fmt.Errorf("%s is not a regular file, so it is no journal", path)
	}
	f, err := root.OpenFile(name, flag, mode)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if info, look := root.Lstat(name); look == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = fmt.Errorf("%s is a link, and none leads out of its folder: open the journal where it is: %w", path, err)
	}
	return nil, err
}

func (d Dir) openOn(on *disk, session string) (Log, error) {
	if err := d.named(); err != nil {
		return nil, err
	}
	if abs, err := filepath.Abs(string(d)); err == nil { // the process may go elsewhere
		d = Dir(abs)
	}
	l := &file{
		on: on, path: filepath.Join(string(d), FileName(session)), session: session,
		unsynced: newFolders(string(d)),
	}
	err := on.makeAll(string(d), 0o700)
	if err == nil {
		l.f, err = on.openLocked(l.path, session)
	}
	if err == nil {
		// A process that died while it compacted left this file. Only the holder of the journal makes one.
		_ = os.Remove(l.path + temporary)
	}
	if isReadOnly(err) {
		if f, failed := on.open(l.path, os.O_RDONLY, 0); failed == nil {
			l.f, l.broken, err = f, fmt.Errorf("%w: %w", ErrReadOnly, err), nil
		}
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// newFolders returns a folder, its parents that do not exist yet, and the first that does. Syncing each of
// them makes the new entries durable.
func newFolders(dir string) []string {
	folders := []string{dir}
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return folders
		}
		dir = filepath.Dir(dir)
		folders = append(folders, dir)
	}
}

// openLocked opens a file, which is created if necessary, and locks it.
func (on *disk) openLocked(path, session string) (*os.File, error) {
	f, err := on.open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = on.lock(f)
	if err == nil {
		err = inPlace(f, path)
	}
	if err == nil {
		err = on.locks(path)
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

// locks returns an error if a locked file can be locked once more: then locks keep nobody out.
func (on *disk) locks(path string) error {
	f, err := on.open(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = on.lock(f); err == nil {
		return ErrNoLocks
	}
	if errors.Is(err, errLocked) {
		return nil
	}
	return err
}

// inPlace returns an error if a locked file is no longer the one at path: a writer compacted it in the
// meantime, or somebody removed it. Its lock then keeps nobody out.
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
	on            *disk
	f             *os.File
	path, session string
	// unsynced are the folders to sync with the first durable append.
	unsynced []string
	// broken is why nothing more is written: the file is read-only, or its contents on the disk are unknown.
	broken error
}

// Rests implements [Rester].
func (l *file) Rests() bool { return true }

func (l *file) Read(context.Context) (io.ReadCloser, error) {
	size, err := l.size()
	if err != nil {
		return nil, err
	}
	return section{io.NewSectionReader(l.f, 0, size)}, nil
}

// section is a file that is read while it is open.
type section struct{ *io.SectionReader }

func (section) Close() error { return nil }

// size returns the length of the file. Its position does not matter, because all reads and writes give their
// offsets.
func (l *file) size() (int64, error) { return l.f.Seek(0, io.SeekEnd) }

// check returns the length of the file, and an error unless the journal, apart from a torn line, ends at at.
func (l *file) check(at int64) (size int64, err error) {
	if l.broken != nil {
		return 0, l.broken
	}
	if err = inPlace(l.f, l.path); errors.Is(err, errLocked) {
		return 0, fmt.Errorf("%w: %s was removed or replaced while its journal was open", ErrConflict, l.path)
	}
	if err != nil {
		return 0, err
	}
	if size, err = l.size(); err != nil || size == at {
		return size, err
	}
	conflict := &ConflictError{Session: l.session, Want: at, Found: size}
	if size < at {
		return size, conflict
	}
	end, err := linesEnd(io.NewSectionReader(l.f, at, size-at), 0)
	if err == nil && end > 0 {
		err = conflict
	}
	return size, err
}

// Append implements [Log]. If lines cannot be written, nothing of them remains. After a failed sync the
// contents of the disk are unknown, and nothing more is written until the journal is opened again, which
// verifies it.
func (l *file) Append(_ context.Context, at int64, lines []byte, durable bool) error {
	size, err := l.check(at)
	if err != nil {
		return err
	}
	if _, err = l.f.WriteAt(lines, at); err == nil && size > at+int64(len(lines)) {
		err = l.on.truncate(l.f, at+int64(len(lines)))
	}
	if err == nil && durable {
		if err = l.sync(); err != nil {
			l.broken = fmt.Errorf("journal: the contents of the disk are unknown since a sync failed: open it "+
				"again: %w", err)
		}
	}
	if err == nil {
		return nil
	}
	left := l.on.truncate(l.f, at)
	if left != nil && l.broken == nil {
		l.broken = fmt.Errorf("journal: a failed append could not be cut off: open it again: %w", left)
	}
	return errors.Join(err, left)
}

// sync makes the file durable and, the first time, its folders.
func (l *file) sync() error {
	if err := l.on.sync(l.f); err != nil {
		return err
	}
	for ; len(l.unsynced) > 0; l.unsynced = l.unsynced[1:] {
		if err := l.on.syncFolder(l.unsynced[0]); err != nil {
			return fmt.Errorf("syncing the folder %s: %w", l.unsynced[0], err)
		}
	}
	return nil
}

// syncFolder makes the entries of a folder durable, if the system supports it.
func (on *disk) syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return on.sync(folder)
}

// Replace implements [Log].
func (l *file) Replace(_ context.Context, at int64, lines []byte) error {
	if _, err := l.check(at); err != nil {
		return err
	}
	if len(lines) == 0 {
		return l.delete()
	}
	made, err := l.on.openLocked(l.path+temporary, l.session)
	if err != nil {
		return err
	}
	if !l.on.movesOpen {
		return l.replaceClosed(made, lines)
	}
	if err := l.install(made, lines); err != nil {
		return errors.Join(err, made.Close(), os.Remove(l.path+temporary))
	}
	old := l.f
	l.f = made
	if err := l.on.syncFolder(filepath.Dir(l.path)); err != nil {
		l.broken = fmt.Errorf("journal: it is unknown which of two files is on the disk since a sync failed: "+
			"open it again: %w", err)
	}
	return errors.Join(l.broken, old.Close())
}

// install fills a new file and renames it.
func (l *file) install(made *os.File, lines []byte) error {
	if err := l.on.truncate(made, 0); err != nil {
		return err
	}
	if _, err := made.WriteAt(lines, 0); err != nil {
		return err
	}
	if err := l.on.sync(made); err != nil || !l.on.movesOpen {
		return err
	}
	return os.Rename(l.path+temporary, l.path)
}

// replaceClosed is Replace where open files cannot be renamed. Both are closed while the new one is renamed;
// it fails if another writer has opened the journal in that moment.
func (l *file) replaceClosed(made *os.File, lines []byte) error {
	if err := errors.Join(l.install(made, lines), made.Close()); err != nil {
		return errors.Join(err, os.Remove(l.path+temporary))
	}
	err := l.f.Close()
	if err == nil {
		err = os.Rename(l.path+temporary, l.path)
	}
	l.f, l.broken = l.on.openLocked(l.path, l.session)
	return errors.Join(err, l.broken)
}

// Close implements [Log]. It removes an empty file, if it is still there.
func (l *file) Close() error {
	if l.f == nil {
		return nil
	}
	size, err := l.size()
	if err != nil || size > 0 || l.broken != nil || inPlace(l.f, l.path) != nil {
		return l.f.Close()
	}
	return l.remove()
}

// remove removes the file and closes it, for good.
func (l *file) remove() error {
	f := l.f
	if l.f = nil; l.on.movesOpen { // until it is closed nobody else has the name
		return errors.Join(os.Remove(l.path), f.Close())
	}
	return errors.Join(f.Close(), os.Remove(l.path))
}
