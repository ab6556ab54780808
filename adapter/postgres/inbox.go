package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/retake-go/retake/journal"
)

// columns are those of an item.
const columns = `kind, key, body, by, at`

// Put implements [journal.Inbox]. It is one statement, unless the item is refused.
func (s *Store) Put(ctx context.Context, session string, item journal.Item) error {
	if err := item.Check(session); err != nil {
		return err
	}
	if s.readOnly {
		return failedInbox(session, journal.ErrReadOnly)
	}
	return failedInbox(session, s.patiently(ctx, func(ctx context.Context, again bool) error {
		if again { // it may have been put before the connection broke
			if has, err := s.has(ctx, session, item); has || err != nil {
				return err
			}
		}
		return s.put(ctx, session, item)
	}))
}

// put inserts an item, unless there is one of its key or the inbox is full.
func (s *Store) put(ctx context.Context, session string, item journal.Item) error {
	for {
		tag, err := s.pool.Exec(ctx, `INSERT INTO retake_item (session, `+columns+`)
			SELECT $1, $2, $3, $4, $5, $6 WHERE (SELECT count(*) FROM retake_item WHERE session = $1) < $7
			ON CONFLICT DO NOTHING`, session, item.Kind, item.Key, []byte(item.Body), item.By, item.At.UnixNano(), journal.MaxItems)
		if err != nil || tag.RowsAffected() == 1 {
			return err
		}
		rows, err := s.pool.Query(ctx, `SELECT `+columns+` FROM retake_item WHERE session = $1`, session)
		if err != nil {
			return err
		}
		items, err := pgx.CollectRows(rows, itemOf)
		if err != nil {
			return err
		}
		for _, first := range items {
			if first.Kind == item.Kind && first.Key == item.Key {
				return &journal.AnsweredError{Session: session, First: first}
			}
		}
		if len(items) >= journal.MaxItems {
			return journal.ErrInboxFull
		}
		// The one that was in the way has been taken meanwhile.
	}
}

// has reports whether the inbox has this item. It writes, as that of a log does.
func (s *Store) has(ctx context.Context, session string, item journal.Item) (bool, error) {
	tag, err := s.pool.Exec(ctx, `UPDATE retake_item SET at = at WHERE session = $1 AND kind = $2 AND key = $3
		AND body = $4 AND by = $5 AND at = $6`, session, item.Kind, item.Key, []byte(item.Body), item.By, item.At.UnixNano())
	return tag.RowsAffected() == 1, err
}

// itemOf reads the columns of an item.
func itemOf(row pgx.CollectableRow) (i journal.Item, err error) {
	var at int64
	var body []byte
	err = row.Scan(&i.Kind, &i.Key, &body, &i.By, &at)
	i.Body, i.At = body, time.Unix(0, at).UTC()
	return i, err
}

// Items implements [journal.Inbox].
func (s *Store) Items(ctx context.Context, session string) (items []journal.Item, err error) {
	all, err := collect(ctx, s, itemOf, `SELECT `+columns+` FROM retake_item WHERE session = $1`, session)
	faults := []error{err}
	for _, i := range all {
		if err := i.Check(session); err != nil {
			faults = append(faults, err)
		} else {
			items = append(items, i)
		}
	}
	journal.SortItems(items)
	return items, failedInbox(session, errors.Join(faults...))
}

// Remove implements [journal.Inbox].
func (s *Store) Remove(ctx context.Context, session string, item journal.Item) error {
	if s.readOnly {
		return failedInbox(session, journal.ErrReadOnly)
	}
	return failedInbox(session, s.patiently(ctx, func(ctx context.Context, _ bool) error {
		_, err := s.pool.Exec(ctx, `DELETE FROM retake_item WHERE session = $1 AND kind = $2 AND key = $3`, session, item.Kind, item.Key)
		return err
	}))
}

// WithItems implements [journal.Inbox].
func (s *Store) WithItems(ctx context.Context) ([]string, error) {
	ids, err := collect(ctx, s, pgx.RowTo[string], `SELECT DISTINCT session FROM retake_item ORDER BY session`)
	if err != nil {
		return nil, fmt.Errorf("postgres: sessions with items in their inbox: %w", err)
	}
	return ids, nil
}

// failedInbox adds the session to an error.
func failedInbox(session string, err error) error {
	if err == nil || errors.Is(err, journal.ErrAnswered) {
		return err
	}
	return fmt.Errorf("postgres: inbox of session %q: %w", session, refused(err))
}
