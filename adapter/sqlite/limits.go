package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/limit/limiter"
)

// limits has a row for each scope of a limiter. used is when it was replaced, in nanoseconds since 1970.
const limits = `
CREATE TABLE IF NOT EXISTS retake_limit (
	scope   TEXT    PRIMARY KEY,
	version INTEGER NOT NULL,
	used    INTEGER NOT NULL,
	value   BLOB    NOT NULL
) WITHOUT ROWID`

// limitsByUse finds those that nobody replaced for long.
const limitsByUse = `CREATE INDEX IF NOT EXISTS retake_limit_used ON retake_limit (used)`

// forget deletes the limits that were not replaced since a time.
const forget = `DELETE FROM retake_limit WHERE used < ?`

// Limits is a [limiter.Store] in a database: the records of a limiter that the processes of one machine
// share. Make it with [OpenLimits]. It is safe for concurrent use.
type Limits struct {
	db  *sql.DB
	now func() time.Time
}

// OpenLimits opens the database in the file at path, and creates it if it does not exist, with mode 0600. It
// may be that of a [Store]. What was written last may be lost with the machine's power, and is then learned
// again. Close it after the last call.
func OpenLimits(ctx context.Context, path string) (*Limits, error) {
	if path == "" {
		return nil, errors.New("sqlite: the path is empty; give the path of a file")
	}
	db, err := openToWrite(ctx, path, "&_pragma=synchronous(NORMAL)", limits, limitsByUse)
	if err != nil {
		return nil, fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	return &Limits{db, time.Now}, nil
}

// Close closes the database.
func (l *Limits) Close() error { return l.db.Close() }

// Load implements [limiter.Store]. The clock is the machine's.
func (l *Limits) Load(ctx context.Context, scope string) (r limiter.Record, err error) {
	err = l.db.QueryRowContext(ctx, `SELECT version, value FROM retake_limit WHERE scope = ?`, scope).Scan(&r.Version, &r.Value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	r.Now = l.now().UTC()
	return r, failedLimits(scope, err)
}

// Swap implements [limiter.Store]. With a new record those go that nobody replaced for an hour. Its version
// is the time, so that it is not mistaken for one that went.
func (l *Limits) Swap(ctx context.Context, scope string, version int64, value []byte) (bool, error) {
	now := l.now()
	query := `UPDATE retake_limit SET version = version + 1, used = ?1, value = ?2 WHERE scope = ?3 AND version = ?4`
	if version == 0 {
		query = `INSERT OR IGNORE INTO retake_limit (version, used, value, scope) VALUES (?1, ?1, ?2, ?3)`
		if _, err := l.db.ExecContext(ctx, forget, now.Add(-time.Hour).UnixNano()); err != nil {
			return false, failedLimits(scope, err)
		}
	}
	done, err := l.db.ExecContext(ctx, query, now.UnixNano(), value, scope, version)
	if err != nil {
		return false, failedLimits(scope, err)
	}
	rows, err := done.RowsAffected()
	return rows == 1, failedLimits(scope, err)
}

// Limits tells how the scopes of a limiter are whose records are in the same database: see [OpenLimits]. They
// are sorted by name.
func (s *Store) Limits(ctx context.Context) (all []limiter.Status, err error) {
	err = s.readingTable(ctx, "retake_limit", func(db *sql.DB) error {
		all = nil
		return eachRow(ctx, db, func(rows *sql.Rows) error {
			var scope string
			var value []byte
			if err := rows.Scan(&scope, &value); err != nil {
				return err
			}
			status, err := limiter.Recorded(scope, value)
			all = append(all, status)
			return err
		}, `SELECT scope, value FROM retake_limit ORDER BY scope`)
	})
	if err != nil {
		return nil, fmt.Errorf("sqlite: limits: %w", err)
	}
	return all, nil
}

// failedLimits adds the scope to an error.
func failedLimits(scope string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sqlite: limits of scope %q: %w", scope, err)
}
