package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"time"
)

// Stored is a journal in a database, for those that watch it while others write.
type Stored struct {
	Session string
	// Size is its length in bytes.
	Size int64
	// HeldUntil is when the lease of its writer ends; zero or in the past if nobody has it.
	HeldUntil time.Time
}

// Watch lists all journals, in the order of their sessions. It takes no lease and reads no lines.
func (s *Store) Watch(ctx context.Context) (all []Stored, err error) {
	err = s.reading(ctx, func(db *sql.DB) error {
		all, err = watch(ctx, db)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sqlite: watching sessions: %w", err)
	}
	return all, nil
}

func watch(ctx context.Context, db *sql.DB) (all []Stored, err error) {
	const sizes = `SELECT j.session, j.at + length(j.lines), COALESCE(l.until, 0)
		FROM (SELECT session, MAX(at) AS last FROM retake_journal GROUP BY session) AS e
		JOIN retake_journal AS j ON j.session = e.session AND j.at = e.last
		LEFT JOIN retake_lease AS l ON l.session = e.session
		ORDER BY j.session`
	rows, err := db.QueryContext(ctx, sizes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one Stored
		var until int64
		if err := rows.Scan(&one.Session, &one.Size, &until); err != nil {
			return nil, err
		}
		if until > 0 {
			one.HeldUntil = time.Unix(0, until).UTC()
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// ReadFrom returns the lines of a journal from an offset on, as they are now. The offset is the end of lines that
// were read before.
func (s *Store) ReadFrom(ctx context.Context, session string, from int64) (io.Reader, error) {
	var text bytes.Buffer
	err := s.reading(ctx, func(db *sql.DB) error {
		text.Reset()
		rows, err := db.QueryContext(ctx, `SELECT lines FROM retake_journal WHERE session = ? AND at >= ? ORDER BY at`, session, from)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var lines []byte
			if err := rows.Scan(&lines); err != nil {
				return err
			}
			text.Write(lines)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("sqlite: reading session %q: %w", session, err)
	}
	return &text, nil
}
