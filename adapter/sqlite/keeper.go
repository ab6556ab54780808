package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/retake-go/retake/journal"
)

// stats has a row for each session: the start and length of its last lines, the end and length of its lease.
// A database that was made for reading alone has no leases.
const stats = `
SELECT j.session, j.at + length(j.lines), coalesce(l.until, 0), coalesce(l.length, 0) FROM retake_journal j
LEFT JOIN retake_lease l ON l.session = j.session
WHERE j.at = (SELECT max(at) FROM retake_journal WHERE session = j.session)
ORDER BY j.session`

// Stats implements [journal.Keeper]. A database does not know when a journal was written. A journal is held
// until its lease ends, also by a process that has died.
func (s *Store) Stats(ctx context.Context, _ ...journal.Stat) (all []journal.Stat, err error) {
	now := s.now().UnixNano()
	err = s.readingTable(ctx, "retake_journal", func(db *sql.DB) error {
		all = nil
		return eachRow(ctx, db, func(rows *sql.Rows) error {
			var stat journal.Stat
			var until, length int64
			err := rows.Scan(&stat.Session, &stat.Bytes, &until, &length)
			// A lease that is longer was written under a clock that was ahead. An owner that lives renews it.
			stat.Held = now < until && until <= now+length
			all = append(all, stat)
			return err
		}, stats)
	})
	if err == nil && s.is != nil {
		err = s.inPlace()
	}
	if err != nil {
		return nil, fmt.Errorf("sqlite: listing sessions: %w", err)
	}
	return all, nil
}

// Peek implements [journal.Keeper].
func (s *Store) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	l := &log{store: s, db: s.db, session: session}
	if err := l.find(ctx); errors.Is(err, errNotThere) {
		return nil, journal.ErrNoRun
	} else if err != nil {
		return nil, err
	}
	return l.Read(ctx)
}
