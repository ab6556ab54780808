package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // the driver

	"github.com/retake-go/retake/journal"
)

// Store is a [journal.Store] in a database. Make it with [Open]. Safe for concurrent use, by several processes too.
type Store struct{ db *sql.DB }

// schema has one row for each append: an offset is taken once.
const schema = `
CREATE TABLE IF NOT EXISTS retake_journal (
	session TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	lines   BLOB    NOT NULL,
	PRIMARY KEY (session, at)
) WITHOUT ROWID`

// Open opens the database in the file at path, and makes it where it is not there: of mode 0600, as are the files that SQLite keeps
// beside it. Close it after the last session.
func Open(ctx context.Context, path string) (*Store, error) {
	if path == "" {
		return nil, errors.New("sqlite: the path is empty: give that of a file")
	}
	// SQLite would make it readable for others.
	made, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	// Transactions take the database for themselves at their beginning: one that begins by reading could not go on to write.
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "_txlock=immediate&_pragma=busy_timeout(10000)"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	// One connection: pragmas hold for it, and SQLite has one writer at a time anyway.
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"PRAGMA journal_mode = WAL", schema} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(fmt.Errorf("sqlite: opening %s: %w", path, err), db.Close())
		}
	}
	return &Store{db}, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// List implements [journal.Store].
func (s *Store) List(ctx context.Context) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT DISTINCT session FROM retake_journal ORDER BY session`)
	if err != nil {
		return nil, fmt.Errorf("sqlite: listing sessions: %w", err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("sqlite: listing sessions: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Open implements [journal.Store]. It refuses nobody: a second writer is found by what was written.
func (s *Store) Open(_ context.Context, session string) (journal.Log, error) {
	return &log{db: s.db, session: session}, nil
}

// log is the journal of one session.
type log struct {
	db      *sql.DB
	session string
}

func (l *log) Close() error { return nil }

// Append implements [journal.Log]. A transaction is whole or not there, so that a line is torn only where a torn one was
// appended.
func (l *log) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	return l.write(ctx, durable, func(tx *sql.Tx) error {
		if err := l.makeRoom(ctx, tx, at); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO retake_journal (session, at, lines) VALUES (?, ?, ?)`, l.session, at, lines)
		return err
	})
}

// Replace implements [journal.Log].
func (l *log) Replace(ctx context.Context, at int64, lines []byte) error {
	return l.write(ctx, true, func(tx *sql.Tx) error {
		if err := l.makeRoom(ctx, tx, at); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM retake_journal WHERE session = ?`, l.session); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO retake_journal (session, at, lines) VALUES (?, 0, ?)`, l.session, lines)
		return err
	})
}

// write makes one transaction, which takes the database for itself from its beginning.
func (l *log) write(ctx context.Context, durable bool, do func(*sql.Tx) error) error {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return l.failed(err)
	}
	defer conn.Close()
	// In WAL mode FULL makes a commit outlive a loss of power, NORMAL only the death of the process.
	level := "NORMAL"
	if durable {
		level = "FULL"
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = "+level); err != nil {
		return l.failed(err)
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return l.failed(err)
	}
	if err := do(tx); err != nil {
		return errors.Join(l.failed(err), ignoreDone(tx.Rollback()))
	}
	return l.failed(tx.Commit())
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// failed names the session of an error.
func (l *log) failed(err error) error {
	if err == nil || errors.Is(err, journal.ErrConflict) {
		return err
	}
	return fmt.Errorf("sqlite: journal of session %q: %w", l.session, err)
}

// makeRoom takes away a torn line at offset at; where anything else stands there, or nothing before it, another writer has
// written.
func (l *log) makeRoom(ctx context.Context, tx *sql.Tx, at int64) error {
	var start, size int64
	var last []byte
	err := tx.QueryRowContext(ctx,
		`SELECT at, length(lines), lines FROM retake_journal WHERE session = ? ORDER BY at DESC LIMIT 1`, l.session).Scan(&start, &size, &last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	end := start + size
	if end == at {
		return nil
	}
	keep := at - start
	if at > end || keep < 0 || bytes.IndexByte(last[keep:], '\n') >= 0 {
		return &journal.ConflictError{Session: l.session, Want: at, Found: end}
	}
	if keep == 0 {
		_, err = tx.ExecContext(ctx, `DELETE FROM retake_journal WHERE session = ? AND at = ?`, l.session, start)
	} else {
		_, err = tx.ExecContext(ctx, `UPDATE retake_journal SET lines = ? WHERE session = ? AND at = ?`, last[:keep], l.session, start)
	}
	return err
}

// Read implements [journal.Log]. It holds no transaction between reads: what is appended meanwhile may be read or not.
func (l *log) Read(ctx context.Context) (io.ReadCloser, error) {
	return &reader{ctx: ctx, log: l, next: 0}, nil
}

// reader reads a journal row by row.
type reader struct {
	ctx  context.Context
	log  *log
	next int64
	rest []byte
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		var lines []byte
		err := r.log.db.QueryRowContext(r.ctx,
			`SELECT lines FROM retake_journal WHERE session = ? AND at = ?`, r.log.session, r.next).Scan(&lines)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, r.log.failed(err)
		}
		r.rest, r.next = lines, r.next+int64(len(lines))
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *reader) Close() error { return nil }
