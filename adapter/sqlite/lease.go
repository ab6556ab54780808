package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/journal"
)

// Settings say how a database is held. The zero value is ready for use.
type Settings struct {
	// Lease is how long a journal stays its owner's after the owner was last heard of: 1 second to 1 hour, 15
	// seconds where it is 0. An owner renews its leases with each append and three times in that time. The
	// journal of a process that died is free after it; a process that is stopped for longer may lose its
	// journals, and is then refused at its next append. The clocks are those of the machine.
	Lease time.Duration
}

// The lease of settings that do not say, and its bounds.
const (
	usualLease    = 15 * time.Second
	shortestLease = time.Second
	longestLease  = time.Hour
)

// Validate says what is wrong with the settings; nil when nothing is.
func (s Settings) Validate() error {
	if s.Lease != 0 && (s.Lease < shortestLease || s.Lease > longestLease) {
		return fmt.Errorf("lease: %v: give %v to %v, or 0 for %v", s.Lease, shortestLease, longestLease, usualLease)
	}
	return nil
}

// leases has one row for each session that was ever opened: the number of its last owner, which store that
// was, and until when it holds the journal, in nanoseconds of Unix time; 0 once it has let it go. A number is
// given once.
const leases = `
CREATE TABLE IF NOT EXISTS retake_lease (
	session TEXT    NOT NULL PRIMARY KEY,
	fence   INTEGER NOT NULL,
	owner   TEXT    NOT NULL,
	until   INTEGER NOT NULL
) WITHOUT ROWID`

// newOwner names a store among all that have the database open.
func newOwner() string { return rand.Text() }

// end is when a lease ends that is given or renewed now.
func (s *Store) end() int64 { return s.now().Add(s.lease).UnixNano() }

// take gives the log the next number, unless another owner holds the journal.
func (l *log) take(ctx context.Context) error {
	return l.write(ctx, false, func(tx *sql.Tx) error {
		var fence, until int64
		err := tx.QueryRowContext(ctx, `SELECT fence, until FROM retake_lease WHERE session = ?`, l.session).Scan(&fence, &until)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if until > l.store.now().UnixNano() {
			return &journal.ConflictError{Session: l.session, Until: time.Unix(0, until).UTC()}
		}
		l.fence = fence + 1
		_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO retake_lease (session, fence, owner, until) VALUES (?, ?, ?, ?)`,
			l.session, l.fence, l.store.owner, l.store.end())
		return err
	})
}

// hold renews the lease within a transaction that writes; where the journal has another owner by now, it is
// refused.
func (l *log) hold(ctx context.Context, tx *sql.Tx) error {
	done, err := tx.ExecContext(ctx, `UPDATE retake_lease SET until = ? WHERE session = ? AND fence = ?`, l.store.end(), l.session, l.fence)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return &journal.ConflictError{Session: l.session}
}

// renew renews the leases of all journals that the store has open.
func (s *Store) renew(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `UPDATE retake_lease SET until = ? WHERE owner = ? AND until > 0`, s.end(), s.owner)
	return err
}

// keep renews the leases whenever it is time, until the store is closed. One that could not be renewed is
// renewed the next time, unless another owner was quicker: the next append finds that.
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
