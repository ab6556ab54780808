package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/journal"
)

// inboxes has one row for each item of an inbox.
const inboxes = `
CREATE TABLE IF NOT EXISTS retake_inbox (
	session TEXT    NOT NULL,
	kind    TEXT    NOT NULL,
	key     TEXT    NOT NULL,
	body    BLOB    NOT NULL,
	by      TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (session, kind, key)
) WITHOUT ROWID`

// columns are those of an item.
const columns = `kind, key, body, by, at`

// Put implements [journal.Inbox].
func (s *Store) Put(ctx context.Context, session string, item journal.Item) error {
	if err := item.Check(session); err != nil {
		return err
	}
	return failedInbox(session, s.write(ctx, true, func(tx *sql.Tx) error { return put(ctx, tx, session, item) }))
}

// put inserts an item unless there is one of its key.
func put(ctx context.Context, tx *sql.Tx, session string, item journal.Item) error {
	first, err := scanItem(tx.QueryRowContext(ctx,
		`SELECT `+columns+` FROM retake_inbox WHERE session = ? AND kind = ? AND key = ?`, session, item.Kind, item.Key))
	if err == nil {
		return &journal.AnsweredError{Session: session, First: first}
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var there int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM retake_inbox WHERE session = ?`, session).Scan(&there); err != nil {
		return err
	}
	if there >= journal.MaxItems {
		return journal.ErrInboxFull
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO retake_inbox (session, `+columns+`) VALUES (?, ?, ?, ?, ?, ?)`,
		session, item.Kind, item.Key, []byte(item.Body), item.By, item.At.UnixNano())
	return err
}

// scanItem reads the columns of an item.
func scanItem(row interface{ Scan(to ...any) error }) (i journal.Item, err error) {
	var at int64
	err = row.Scan(&i.Kind, &i.Key, &i.Body, &i.By, &at)
	i.At = time.Unix(0, at).UTC()
	return i, err
}

// Items implements [journal.Inbox].
func (s *Store) Items(ctx context.Context, session string) (items []journal.Item, err error) {
	var bad []error
	err = s.readingTable(ctx, "retake_inbox", func(db *sql.DB) error {
		items, bad = nil, nil
		return eachRow(ctx, db, func(rows *sql.Rows) error {
			i, err := scanItem(rows)
			if err != nil {
				return err
			}
			if err := i.Check(session); err != nil {
				bad = append(bad, err)
			} else {
				items = append(items, i)
			}
			return nil
		}, `SELECT `+columns+` FROM retake_inbox WHERE session = ?`, session)
	})
	journal.SortItems(items)
	return items, failedInbox(session, errors.Join(append(bad, err)...))
}

// Remove implements [journal.Inbox].
func (s *Store) Remove(ctx context.Context, session string, item journal.Item) error {
	return failedInbox(session, s.write(ctx, false, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM retake_inbox WHERE session = ? AND kind = ? AND key = ?`, session, item.Kind, item.Key)
		return err
	}))
}

// WithItems implements [journal.Inbox].
func (s *Store) WithItems(ctx context.Context) ([]string, error) {
	ids, err := s.sessionsIn(ctx, "retake_inbox")
	if err != nil {
		return nil, fmt.Errorf("sqlite: sessions with items in their inbox: %w", err)
	}
	return ids, nil
}

// eachRow calls use for every row of a query.
func eachRow(ctx context.Context, db *sql.DB, use func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := use(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// column returns the texts of a query with one column.
func column(ctx context.Context, db *sql.DB, query string) (all []string, err error) {
	err = eachRow(ctx, db, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		all = append(all, text)
		return err
	}, query)
	return all, err
}

// readingTable calls query unless the database has no such table: nobody used it, or the database was made by
// an earlier version and is only read.
func (s *Store) readingTable(ctx context.Context, table string, query func(*sql.DB) error) error {
	return s.reading(ctx, func(db *sql.DB) error {
		var there int
		err := db.QueryRowContext(ctx, `SELECT 1 FROM sqlite_master WHERE name = ?`, table).Scan(&there)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return query(db)
	})
}

// failedInbox adds the session to an error.
func failedInbox(session string, err error) error {
	if err == nil || errors.Is(err, journal.ErrAnswered) {
		return err
	}
	return fmt.Errorf("sqlite: inbox of session %q: %w", session, err)
}
