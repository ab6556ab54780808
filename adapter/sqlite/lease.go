package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/retake-go/retake/journal"
)

// Settings configure a store. The zero value is ready for use.
type Settings struct {
	// Lease is how long a journal belongs to its owner after the owner's last sign of life: 1 second to 1
	// hour; 0 means 15 seconds. An owner renews its leases with each append, and three times in that
	// period. After it, the journal of a process that died is free. A process that is stopped for longer
	// may lose its journals: its next append then fails. The clocks are those of the machine.
	Lease time.Duration
	// ReadOnly opens a database that exists for reading, also while others write to it. No lease is taken, so
	// nobody is kept out, and [journal.ErrReadOnly] is returned for what would be written. Nothing is written
	// to the database. While others have it open, or died without closing it, SQLite may write the index of
	// their changes in a file beside it (-shm).
	ReadOnly bool
}

// The default lease and its bounds.
const (
	usualLease    = 15 * time.Second
	shortestLease = time.Second
	longestLease  = time.Hour
)

// Validate returns an error for invalid settings.
func (s Settings) Validate() error {
	if s.Lease != 0 && (s.Lease < shortestLease || s.Lease > longestLease) {
		return fmt.Errorf("lease: must be %v to %v, or 0 for %v, not %v", shortestLease, longestLease, usualLease, s.Lease)
	}
	return nil
}

// leases has one row for each session that was ever opened: the number of its last owner, the store of
// that owner, the end of the lease in nanoseconds of Unix time, or 0 once the owner has released it, and its
// length. Numbers are unique.
const leases = `
CREATE TABLE IF NOT EXISTS retake_lease (
	session TEXT    NOT NULL PRIMARY KEY,
	fence   INTEGER NOT NULL,
	owner   TEXT    NOT NULL,
	until   INTEGER NOT NULL,
	length  INTEGER NOT NULL
) WITHOUT ROWID`

// newOwner returns a unique name of a store.
func newOwner() string { return rand.Text() }

// end returns the end of a lease that begins now.
func (s *Store) end() int64 { return s.now().Add(s.lease).UnixNano() }

// take gives the log the next number, unless another owner holds the journal.
func (l *log) take(ctx context.Context) error {
	var held *journal.ConflictError
	err := l.write(ctx, false, func(tx *sql.Tx) error {
		var fence, until, length int64
		err := tx.QueryRowContext(ctx, `SELECT fence, until, length FROM retake_lease WHERE session = ?`, l.session).
			Scan(&fence, &until, &length)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		now := l.store.now().UnixNano()
		if until <= now {
			if l.fence = fence + 1; err != nil {
				// The first number is random: a journal of that id may have been deleted, whose owners had
				// others.
				l.fence = 1 + mathrand.Int64N(1<<62)
			}
			_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO retake_lease (session, fence, owner, until, length) VALUES (?, ?, ?, ?, ?)`,
				l.session, l.fence, l.store.owner, l.store.end(), l.store.lease.Nanoseconds())
			return err
		}
		if until > now+length {
			// The clock was ahead when the lease was written. An owner that lives renews it by today's.
			until = now + length
			_, err = tx.ExecContext(ctx, `UPDATE retake_lease SET until = ? WHERE session = ?`, until, l.session)
		}
		held = &journal.ConflictError{Session: l.session, Until: time.Unix(0, until).UTC()}
		return err
	})
	if err == nil && held != nil {
		return held
	}
	return err
}

// renewWithin renews the lease within a transaction that writes. It fails if the journal has another owner.
func (l *log) renewWithin(ctx context.Context, tx *sql.Tx) error {
	done, err := tx.ExecContext(ctx, `UPDATE retake_lease SET until = ? WHERE session = ? AND fence = ?`, l.store.end(), l.session, l.fence)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return &journal.ConflictError{Session: l.session}
}

// lose remembers logs to let go of.
func (s *Store) lose(logs ...*log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, logs...)
}

// renew lets go of the journals that are held for nobody, and renews the leases of all others of the store.
func (s *Store) renew(ctx context.Context) error {
	s.mu.Lock()
	lost := s.lost
	s.lost = nil
	s.mu.Unlock()
	for n, l := range lost {
		if err := l.release(ctx); err != nil {
			s.lose(lost[n:]...)
			return err
		}
	}
	_, err := s.db.ExecContext(ctx, `UPDATE retake_lease SET until = ? WHERE owner = ? AND until > 0`, s.end(), s.owner)
	return err
}

// keep renews the leases in time until the store is closed. If it fails, it tries again the next time. If
// another owner was faster, the next append fails.
func (s *Store) keep(tick *time.Ticker) {
	defer tick.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-tick.C:
			_ = s.renew(context.Background())
		}
	}
}
