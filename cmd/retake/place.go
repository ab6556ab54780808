package main

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

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

// place is where an input is: a file, a session in a database, or standard input.
type place struct {
	// path is that of a file, or "-" for standard input.
	path string
	// session is the id of a session in the database path; empty for a file.
	session string
}

// standardInput is the place that "-" names.
const standardInput = "-"

// sessionMark stands between a database and the id of a session in it.
const sessionMark = "#"

// String returns the name as one can give it: a path, FILE#ID or "-".
func (p place) String() string {
	if p.session == "" {
		return shown(p.path)
	}
	return shown(p.path) + sessionMark + p.session
}

// inErrors returns the name in errors.
func (p place) inErrors() string {
	if p.path == standardInput {
		return "standard input"
	}
	return p.String()
}

// places finds what a name stands for: a file, the sessions of a database, what filesOf lists of a folder, or
// one session of either. want says in errors what to give.
func places(name, want string, filesOf func(folder string) ([]string, error)) ([]place, error) {
	if name == standardInput {
		return []place{{path: name}}, nil
	}
	folder, err := isFolder(name)
	if err != nil || isAddress(name) {
		if path, session, found := splitSession(name); found {
			return oneSession(path, session, want)
		}
	}
	if err != nil {
		return nil, misused("%v: %s", err, want)
	}
	files := []string{name}
	if folder {
		if files, err = filesOf(name); err != nil {
			return nil, err
		}
	}
	var all []place
	for _, file := range files {
		switch {
		case !isDatabase(file):
			all = append(all, place{path: file})
		default:
			ids, err := sessionsOf(file)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				all = append(all, place{file, id})
			}
		}
	}
	return all, nil
}

// splitSession splits STORE#ID where STORE is there.
func splitSession(name string) (path, session string, found bool) {
	for at := range len(name) {
		if !strings.HasPrefix(name[at:], sessionMark) {
			continue
		}
		_, err := os.Stat(name[:at])
		if isAddress(name) {
			_, err = pgxpool.ParseConfig(name[:at]) // a password may have the mark
		}
		if err == nil {
			return name[:at], name[at+len(sessionMark):], true
		}
	}
	return "", "", false
}

// oneSession returns the place of a session that must be in a database or a folder.
func oneSession(path, session, want string) ([]place, error) {
	one := sessionIn(path, session)
	ids, err := []string(nil), error(nil)
	switch folder, _ := isFolder(path); {
	case isDatabase(path):
		if ids, err = sessionsOf(path); err != nil {
			return nil, err
		}
	case !folder:
		return nil, misused("%s is a file, and no store of sessions: leave out %s%s", path, sessionMark, session)
	default:
		if _, err := os.Stat(one.path); err == nil && session != "" {
			return []place{one}, nil
		}
		if ids = sessionsIn(path); len(ids) == 0 {
			return nil, misused("%s: there is no journal in it: %s", path, want)
		}
	}
	if slices.Contains(ids, session) {
		return []place{one}, nil
	}
	return nil, misused("%s: there is no session %q in it%s: it has %s, such as %s%s%s", shown(path), session,
		didYouMean(session, ids), several.Of(len(ids), "session"), shown(path), sessionMark, ids[0])
}

// sessionsIn lists the sessions of a folder whose journals can be read.
func sessionsIn(folder string) (ids []string) {
	all, _ := journal.Dir(folder).Stats(context.Background()) // what cannot be read is told when it is named
	for _, stat := range all {
		ids = append(ids, stat.Session)
	}
	return ids
}

// sessionsOf lists the sessions of a database; there is at least one.
func sessionsOf(path string) ([]string, error) {
	store, err := openDatabase(path, toRead)
	if err != nil {
		return nil, unreadableDatabase(path, err)
	}
	ids, err := store.List(context.Background())
	if err = errors.Join(err, store.Close()); err == nil && len(ids) == 0 {
		err = misused("%s: there is no journal in it: %s", shown(path), journalArgs)
	}
	return ids, err
}

// magic are the first bytes of every SQLite database.
var magic = []byte("SQLite format 3\x00")

// isDatabase reports whether a name is an address, or a file a SQLite database, whatever its name. Pipes are
// not looked into: what is read of them is gone. Call it only before the database is opened: when it closes
// the file, the system drops all locks that SQLite has on it in this process, and another process that closes
// the database takes itself for the last one and deletes the log to which this one writes.
func isDatabase(path string) bool {
	if isAddress(path) {
		return true
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, magic)
}

// isOfDatabase reports whether a file belongs to a database beside it: SQLite's log, or the index of it.
func isOfDatabase(path string) bool {
	for _, suffix := range []string{"-wal", "-shm"} {
		if of, found := strings.CutSuffix(path, suffix); found && isDatabase(of) {
			return true
		}
	}
	return false
}

// open opens a journal, sealed or not, or another input. Databases are opened for reading, and stay open
// until the end.
func (e *env) open(p place) (io.ReadCloser, error) {
	in, err := e.openStored(p)
	if err != nil {
		return nil, err
	}
	return e.unseal(in)
}

// openStored opens an input as it is stored.
func (e *env) openStored(p place) (io.ReadCloser, error) {
	switch {
	case p.path == standardInput:
		return io.NopCloser(e.in), nil
	case p.session == "":
		f, err := openNamed("JOURNAL", p.path, "give a file that can be read, or - for standard input")
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	store, err := e.database(p.path, toRead)
	in := &stored{store: store, session: p.session}
	if err == nil {
		in.ReadCloser, err = store.Peek(context.Background(), p.session)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: p.String(), Err: err}
	}
	return in, nil
}

// stored is a journal in a database.
type stored struct {
	io.ReadCloser
	store   db
	session string
	// read is where the next byte is.
	read int64
}

func (s *stored) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.read += int64(n)
	return n, err
}

// Seek implements [io.Seeker].
func (s *stored) Seek(to int64, whence int) (int64, error) {
	seeks, can := s.ReadCloser.(io.Seeker)
	if !can {
		return 0, errors.ErrUnsupported
	}
	at, err := seeks.Seek(to, whence)
	if err == nil {
		s.read = at
	}
	return at, err
}

// goOn looks at the journal again, as it is now. It is an error if it is no longer the one that was read.
func (s *stored) goOn() error {
	in, err := s.store.Peek(context.Background(), s.session)
	if err != nil {
		return fmt.Errorf("the journal is gone while it was followed: %w", err)
	}
	read, old := s.read, s.ReadCloser
	s.ReadCloser = in
	_, err = s.Seek(read, io.SeekStart)
	if errors.Is(err, io.EOF) {
		err = errors.New("the journal was replaced by a shorter one while it was followed: show it again")
	}
	return errors.Join(err, old.Close())
}

// journalsIn lists the journals and databases of a folder.
func journalsIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if mayBeRead(path) && (strings.HasSuffix(e.Name(), ".jsonl") || isDatabase(path)) {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		return nil, misused("%s: there is no journal in it: %s", folder, journalArgs)
	}
	return found, nil
}

// mayBeRead reports whether what a folder has by a name is a file. Pipes are none: nobody may ever write to
// them. A link to nothing is read, so that it is told.
func mayBeRead(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// once reports whether an input can be read once only, as pipes and standard input are.
func (p place) once() bool { return p.path == standardInput || p.session == "" && !mayBeRead(p.path) }

// allPlaces is [places] of several names. Standard input is named once at most.
func allPlaces(
	names []string, want string, filesOf func(folder string) ([]string, error),
) (all []place, err error) {
	for _, name := range names {
		found, err := places(name, want, filesOf)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, stdinOnce(all)
}

// stdinOnce returns an error if standard input is named twice.
func stdinOnce(all []place) error {
	is := func(p place) bool { return p.path == standardInput }
	if n := slices.IndexFunc(all, is); n >= 0 && slices.ContainsFunc(all[n+1:], is) {
		return misused("- is given twice: standard input can be read once")
	}
	return nil
}

// title returns the name of an input in answers.
func title(p place) string {
	if p.path == standardInput {
		return "(standard input)"
	}
	return plain(p.String())
}

// at names a line of an input, as FILE:LINE.
func (p place) at(line int64) string { return fmt.Sprintf("%s:%d", p, line) }

// sessionIn returns the place of a session in a folder or a database; without a session that of the store. It
// opens no file: see [isDatabase].
func sessionIn(store, session string) place {
	if folder, _ := isFolder(store); session == "" || !folder {
		return place{store, session}
	}
	return place{path: filepath.Join(store, journal.FileName(session))}
}
