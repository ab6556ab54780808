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

// What SQLite says of files that it may not write, or not make.
const (
	readOnlyFile = 8
	cannotOpen   = 14
)

// isReadOnly reports whether a database could not be opened because it, its folder or the disk is not to be
// written to.
func isReadOnly(err error) bool {
	var failed *driver.Error
	if errors.As(err, &failed) {
		return failed.Code()&0xff == readOnlyFile || failed.Code()&0xff == cannotOpen
	}
	return errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// openToRead opens a database that cannot be written to, for why. A database that was closed is one file, of
// which SQLite is told that nobody changes it: otherwise it would want files beside it. One that was not has
// changes in its log, which must not be passed over.
func openToRead(ctx context.Context, path string, why error) (*sql.DB, error) {
	const look = `SELECT 1 FROM retake_journal LIMIT 0`
	log, err := os.Stat(path + "-wal")
	if err == nil {
		db, err := openDB(ctx, path, "mode=ro&_pragma=busy_timeout(10000)", look)
		if err == nil {
			return db, nil
		}
		if log.Size() > 0 {
			return nil, fmt.Errorf("%s-wal has changes that are not in the database: open it once where it can be written to: %w", path, why)
		}
	}
	db, err := openDB(ctx, path, "mode=ro&immutable=1", look)
	if err != nil {
		return nil, fmt.Errorf("%w; and it cannot be read: %w", why, err)
	}
	return db, nil
}

// find takes the place of a lease where nothing can be written: the journal must be there.
func (l *log) find(ctx context.Context) error {
	var there int
	err := l.db.QueryRowContext(ctx, `SELECT 1 FROM retake_journal WHERE session = ? LIMIT 1`, l.session).Scan(&there)
	if errors.Is(err, sql.ErrNoRows) {
		return l.failed(fmt.Errorf("there is none, and none can be made: %w", l.store.readOnly))
	}
	return l.failed(err)
}
