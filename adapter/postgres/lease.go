package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/retake-go/retake/journal"
)

// renewals is how often a lease is renewed during its length.
const renewals = 3

// take makes the log the holder of the journal unless another one's lease lasts. A lease that ends later than
// its length from now was written by a clock that was ahead: it is cut, and its holder, if it lives, renews
// it.
func (l *log) take(ctx context.Context) error {
	l.holder = rand.Text()
	var mine bool
	var until time.Time
	const free = `coalesce(s.until, '-infinity') <= now()`
	const query = `INSERT INTO retake_session AS s (session, holder, owner, until, lease)
		VALUES ($1, $2, $3, now() + $4::interval, $4::interval)
		ON CONFLICT (session) DO UPDATE SET
			holder = CASE WHEN ` + free + ` THEN excluded.holder ELSE s.holder END,
			owner  = CASE WHEN ` + free + ` THEN excluded.owner  ELSE s.owner  END,
			lease  = CASE WHEN ` + free + ` THEN excluded.lease  ELSE s.lease  END,
			until  = CASE WHEN ` + free + ` THEN excluded.until  ELSE least(s.until, now() + s.lease) END
		RETURNING holder = $2, until`
	err := l.store.patiently(ctx, func(ctx context.Context, _ bool) error {
		return l.store.pool.QueryRow(ctx, query, l.session, l.holder, l.store.owner, l.store.lease).Scan(&mine, &until)
	})
	if err == nil && !mine {
		return &journal.ConflictError{Session: l.session, Until: until.UTC()}
	}
	if broke(err) || ctx.Err() != nil { // the server may have given the lease
		l.store.lose(l)
	}
	return err
}

// release lets go of journals: a condition follows.
const release = `UPDATE retake_session SET holder = NULL, owner = NULL, until = NULL, lease = NULL`

// Close implements [journal.Log]: it releases the journal, if this owner still holds it. Nothing is left of
// one that was never written.
func (l *log) Close() error {
	s := l.store
	if s.readOnly {
		return nil
	}
	ctx := context.WithoutCancel(s.closing)
	err := s.patiently(ctx, func(ctx context.Context, _ bool) error { return l.release(ctx) })
	switch {
	case err == nil || s.closing.Err() != nil:
		return nil // the store has let it go
	case broke(err):
		s.lose(l)
	}
	return l.failed(err)
}

func (l *log) release(ctx context.Context) error {
	const mine = ` WHERE session = $1 AND holder = $2 AND size`
	_, err := l.store.pool.Exec(ctx, `WITH gone AS (DELETE FROM retake_session`+mine+` = 0) `+release+mine+` > 0`, l.session, l.holder)
	return err
}

// lose remembers logs to let go of when the server can be reached.
func (s *Store) lose(logs ...*log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = append(s.lost, logs...)
}

// renew renews the leases of the store, and lets go of the journals that are held for nobody.
func (s *Store) renew(ctx context.Context) error { return within(ctx, s.patience, s.renewAll) }

func (s *Store) renewAll(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `UPDATE retake_session SET until = now() + lease WHERE owner = $1`, s.owner); err != nil {
		return err
	}
	s.mu.Lock()
	lost := s.lost
	s.lost = nil
	s.mu.Unlock()
	var failed []error
	for _, l := range lost {
		if err := l.release(ctx); err != nil {
			failed = append(failed, err)
			s.lose(l)
		}
	}
	return errors.Join(failed...)
}

// keep renews the leases in time until the store is closed. If it fails, it tries again the next time. If
// another owner was faster, the next append fails.
func (s *Store) keep(tick *time.Ticker) {
	defer tick.Stop()
	for {
		select {
		case <-s.closing.Done():
			return
		case <-tick.C:
			_ = s.renew(s.closing)
		}
	}
}
