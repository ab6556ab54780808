package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/retake-go/retake/journal"
)

// log is the journal of one session.
type log struct {
	store   *Store
	session string
	// holder is unique. Once the session has another one, writes fail.
	holder string
}

// failed adds the session to an error.
func (l *log) failed(err error) error {
	if err == nil || errors.Is(err, journal.ErrConflict) {
		return err
	}
	return fmt.Errorf("postgres: journal of session %q: %w", l.session, refused(err))
}

// Append implements [journal.Log]. It is one statement, which renews the lease, too. Every append is as
// durable as the server's commits are.
func (l *log) Append(ctx context.Context, at int64, lines []byte, _ bool) error {
	if l.store.readOnly {
		return l.failed(journal.ErrReadOnly)
	}
	var done bool
	err := l.store.patiently(ctx, func(ctx context.Context, again bool) (err error) {
		if done, err = l.append(ctx, at, lines); err == nil && !done && again {
			done, err = l.has(ctx, at, lines)
		}
		return err
	})
	if err == nil && !done {
		err = l.change(ctx, at, func(ctx context.Context, tx pgx.Tx) error { return l.put(ctx, tx, at, lines) })
	}
	return l.failed(err)
}

// append adds lines at the end of the journal. It does nothing if the journal ends elsewhere, or has another
// owner.
func (l *log) append(ctx context.Context, at int64, lines []byte) (done bool, err error) {
	tag, err := l.store.pool.Exec(ctx, `
		WITH mine AS (
			UPDATE retake_session SET size = $3 + octet_length($4::bytea), changed = now(), until = now() + lease
			WHERE session = $1 AND holder = $2 AND size = $3
			RETURNING session)
		INSERT INTO retake_line (session, at, lines) SELECT session, $3, $4 FROM mine`, l.session, l.holder, at, lines)
	return tag.RowsAffected() == 1, err
}

// has reports whether this owner wrote the lines there. It writes, and so returns only once every synchronous
// standby has them: others see a commit that was cut off while it waited for a standby.
func (l *log) has(ctx context.Context, at int64, lines []byte) (bool, error) {
	tag, err := l.store.pool.Exec(ctx, `UPDATE retake_session SET until = now() + lease WHERE session = $1 AND holder = $2
		AND EXISTS (SELECT FROM retake_line WHERE session = $1 AND at = $3 AND lines = $4)`, l.session, l.holder, at, lines)
	return tag.RowsAffected() == 1, err
}

// Replace implements [journal.Log]. What was deleted is in the server's files until it is vacuumed and its
// log is recycled.
func (l *log) Replace(ctx context.Context, at int64, lines []byte) error {
	if l.store.readOnly {
		return l.failed(journal.ErrReadOnly)
	}
	return l.failed(l.change(ctx, at, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM retake_line WHERE session = $1`, l.session); err != nil {
			return err
		}
		if len(lines) == 0 {
			_, err := tx.Exec(ctx, `DELETE FROM retake_session WHERE session = $1`, l.session)
			return err
		}
		return l.put(ctx, tx, 0, lines)
	}))
}

// put writes lines at the end of the journal. The transaction may have begun long ago, which is now().
func (l *log) put(ctx context.Context, tx pgx.Tx, at int64, lines []byte) error {
	if _, err := tx.Exec(ctx, `INSERT INTO retake_line (session, at, lines) VALUES ($1, $2, $3)`, l.session, at, lines); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE retake_session SET size = $2, changed = now(), until = clock_timestamp() + lease WHERE session = $1`,
		l.session, at+int64(len(lines)))
	return err
}

// change runs a transaction for a journal that this owner holds and that ends at at. A torn line there goes.
func (l *log) change(ctx context.Context, at int64, do func(context.Context, pgx.Tx) error) error {
	return within(ctx, slowly*l.store.patience, func(ctx context.Context) error { return l.transact(ctx, at, do) })
}

func (l *log) transact(ctx context.Context, at int64, do func(context.Context, pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, l.store.pool, func(tx pgx.Tx) error {
		var end int64
		err := tx.QueryRow(ctx, `SELECT size FROM retake_session WHERE session = $1 AND holder = $2 FOR UPDATE`, l.session, l.holder).Scan(&end)
		if errors.Is(err, pgx.ErrNoRows) {
			return &journal.ConflictError{Session: l.session}
		}
		if err == nil && end != at {
			err = l.cut(ctx, tx, at, end)
		}
		if err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// cut removes a torn line at offset at of a journal that ends at end. If anything else is there, or nothing
// before it, another writer has written. A line is only torn if a torn one was appended.
func (l *log) cut(ctx context.Context, tx pgx.Tx, at, end int64) error {
	var start int64
	var last []byte
	err := tx.QueryRow(ctx, `SELECT at, lines FROM retake_line WHERE session = $1 ORDER BY at DESC LIMIT 1`, l.session).Scan(&start, &last)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	keep := at - start
	if keep < 0 || keep > int64(len(last)) || bytes.IndexByte(last[keep:], '\n') >= 0 {
		return &journal.ConflictError{Session: l.session, Want: at, Found: end}
	}
	if keep == 0 {
		_, err = tx.Exec(ctx, `DELETE FROM retake_line WHERE session = $1 AND at = $2`, l.session, start)
	} else {
		_, err = tx.Exec(ctx, `UPDATE retake_line SET lines = $3 WHERE session = $1 AND at = $2`, l.session, start, last[:keep])
	}
	return err
}
