package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/retake-go/retake/journal"
)

// renewals is how often a lease is renewed during its length.
const renewals = 3

// take makes the log the holder of the journal unless another one's lease lasts. A lease that ends later than
// its length from now was written by a clock that was ahead: it is cut, and its holder, if it lives, renews
// it.
func (l *log) take(ctx context.Context) error {
	l.holder = rand.Text()
	l.store.setOpen(l.holder, true)
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
		err = &journal.ConflictError{Session: l.session, Until: until.UTC()}
	}
	if err != nil {
		l.store.setOpen(l.holder, false)
	}
	return err
}

// setOpen notes which logs are open. One is noted before it may have a row, so that a row of any other is
// held for nobody.
func (s *Store) setOpen(holder string, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open {
		s.open[holder] = true
	} else {
		delete(s.open, holder)
	}
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
	s.setOpen(l.holder, false)
	ctx := context.WithoutCancel(s.closing)
	err := s.patiently(ctx, func(ctx context.Context, _ bool) error { return l.release(ctx) })
	if s.closing.Err() != nil {
		return nil // the store has let it go
	}
	return l.failed(err)
}

func (l *log) release(ctx context.Context) error {
	const mine = ` WHERE session = $1 AND holder = $2 AND size`
	_, err := l.store.pool.Exec(ctx, `WITH gone AS (DELETE FROM retake_session`+mine+` = 0) `+release+mine+` > 0`, l.session, l.holder)
	return err
}

// renew renews the leases of the store, and lets go of journals that it holds for nobody: the server could
// not be told that they were closed, or it has forgotten. Whoever has locked a row writes that journal, and
// renews its lease by that.
func (s *Store) renew(ctx context.Context) error { return within(ctx, s.patience, s.renewAll) }

func (s *Store) renewAll(ctx context.Context) error {
	rows, err := s.pool.Query(ctx, `UPDATE retake_session SET until = now() + lease WHERE session IN (SELECT session
		FROM retake_session WHERE owner = $1 FOR UPDATE SKIP LOCKED) RETURNING session, holder`, s.owner)
	if err != nil {
		return err
	}
	one := log{store: s}
	var closed []log
	_, err = pgx.ForEachRow(rows, []any{&one.session, &one.holder}, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.open[one.holder] {
			closed = append(closed, one)
		}
		return nil
	})
	for _, l := range closed {
		err = errors.Join(err, l.release(ctx))
	}
	return err
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
