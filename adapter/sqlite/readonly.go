package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"syscall"

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

// openToRead opens a read-only database; why is the reason. A database that was closed is a single file:
// SQLite is told that it does not change, because it would need files beside it otherwise. One that was
// not closed has changes in its log, which must not be ignored.
func openToRead(ctx context.Context, path string, why error) (*sql.DB, error) {
	const look = `SELECT 1 FROM retake_journal LIMIT 0`
	log, err := os.Stat(path + "-wal")
	if err == nil {
		db, err := openDB(ctx, path, "mode=ro&_pragma=busy_timeout(10000)", look)
		if err == nil {
			return db, nil
		}
		if log.Size() > 0 {
			return nil, fmt.Errorf("%s-wal has changes that are not yet in the database; open the database once where it can be written: %w", path, why)
		}
	}
	db, err := openDB(ctx, path, "mode=ro&immutable=1", look)
	if err != nil {
		return nil, fmt.Errorf("%w; and it cannot be read: %w", why, err)
	}
	return db, nil
}

// find replaces a lease in a read-only database: the journal must exist.
func (l *log) find(ctx context.Context) error {
	var there int
	err := l.db.QueryRowContext(ctx, `SELECT 1 FROM retake_journal WHERE session = ? LIMIT 1`, l.session).Scan(&there)
	if errors.Is(err, sql.ErrNoRows) {
		return l.failed(fmt.Errorf("does not exist and cannot be created: %w", l.store.readOnly))
	}
	return l.failed(err)
}
