package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	driver "modernc.org/sqlite"
)

// SQLite's codes for files that it cannot write or create.
const (
	readOnlyFile = 8
	cannotOpen   = 14
)

// isReadOnly reports whether a database could not be opened because it, its folder or the disk is
// read-only.
func isReadOnly(err error) bool {
	var failed *driver.Error
	if errors.As(err, &failed) {
		return failed.Code()&0xff == readOnlyFile || failed.Code()&0xff == cannotOpen
	}
	return errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// openToRead opens a database for reading. A database that was closed is a single file: SQLite is told that
// it does not change, because it would make files beside it otherwise. Then frozen is the file as it was
// before. A database that is open, or was not closed, has changes in its log, which must not be ignored.
// One that is just being made is waited for.
func openToRead(ctx context.Context, path string) (db *sql.DB, frozen os.FileInfo, err error) {
	for tries := time.Duration(0); ; tries++ {
		if db, frozen, err = openAsItIs(ctx, path); err != nil {
			return nil, nil, err
		}
		tables, err := column(ctx, db, `SELECT name FROM sqlite_master WHERE type = 'table'`)
		if err == nil && slices.ContainsFunc(tables, isOurs) {
			return db, frozen, nil
		}
		if err = errors.Join(err, db.Close()); err == nil && (len(tables) > 0 || tries*busyPause >= madeWithin) {
			err = errors.New("it has no tables of a store: give a database that a store has made")
		}
		if err != nil {
			return nil, nil, err
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// madeWithin is how long a database without any table is waited for.
const madeWithin = time.Second

// isOurs reports whether a table is one of a store or of limits.
func isOurs(table string) bool { return strings.HasPrefix(table, "retake_") }

// openAsItIs opens a database for reading, whatever its tables are.
func openAsItIs(ctx context.Context, path string) (db *sql.DB, frozen os.FileInfo, err error) {
	const look = `SELECT 1 FROM sqlite_master LIMIT 0`
	if frozen, err = os.Stat(path); err != nil {
		return nil, nil, err
	}
	waitForMaker()
	if log, err := os.Stat(logOf(path)); err == nil {
		db, err := openDB(ctx, path, "mode=ro&_pragma=busy_timeout(10000)", look)
		switch {
		case err == nil:
			return db, nil, nil
		case log.Size() > 0 && isReadOnly(err):
			return nil, nil, fmt.Errorf("%s has changes that are not yet in the database; open the database once where it can be written: %w", logOf(path), err)
		case log.Size() > 0:
			return nil, nil, err
		}
	}
	db, err = openDB(ctx, path, "mode=ro&immutable=1", look)
	return db, frozen, err
}

// logOf is the file of SQLite's changes that are not yet in a database.
func logOf(path string) string { return path + "-wal" }

// reading calls query with the database. If the database is read as a file that does not change, and was
// written to all the same, it is opened again and the query made again: what it read may be half of a change.
func (s *Store) reading(ctx context.Context, query func(*sql.DB) error) error {
	for {
		s.reopening.RLock()
		db, frozen := s.db, s.frozen
		err := query(db)
		s.reopening.RUnlock()
		if frozen == nil || s.isAsIt(frozen) {
			return err
		}
		if err := s.reopen(ctx, db); err != nil {
			return err
		}
	}
}

// isAsIt reports whether the file of the database was not changed.
func (s *Store) isAsIt(was os.FileInfo) bool {
	now, err := os.Stat(s.path)
	if err != nil || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) {
		return false
	}
	log, err := os.Stat(logOf(s.path))
	return err != nil || log.Size() == 0
}

// reopen opens the database again, unless another reader was faster.
func (s *Store) reopen(ctx context.Context, old *sql.DB) error {
	s.reopening.Lock()
	defer s.reopening.Unlock()
	if s.db != old {
		return nil
	}
	db, frozen, err := openToRead(ctx, s.path)
	if err != nil {
		return err
	}
	s.db, s.frozen = db, frozen
	return old.Close()
}

// errNotThere: a session has no journal.
var errNotThere = errors.New("does not exist")

// find looks for a journal that must exist.
func (l *log) find(ctx context.Context) error {
	var there int
	err := l.store.readingTable(ctx, "retake_journal", func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT 1 FROM retake_journal WHERE session = ? LIMIT 1`, l.session).Scan(&there)
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && there == 0 {
		return l.failed(errNotThere)
	}
	return l.failed(err)
}
