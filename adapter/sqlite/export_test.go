package sqlite

import (
	"context"
	"time"
)

// OpenAt opens a store with a clock of its own, which renews its leases only when Renew is called.
func OpenAt(ctx context.Context, path string, s Settings, now func() time.Time) (*Store, error) {
	return open(ctx, path, s, now)
}

// Renew renews the leases, as a store does regularly.
func (s *Store) Renew(ctx context.Context) error { return s.renew(ctx) }

// Exec changes the database like another program.
func (s *Store) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.db.ExecContext(ctx, statement, args...)
	return err
}

// SetClock gives the records of a limiter another clock.
func (l *Limits) SetClock(now func() time.Time) { l.now = now }

// ForgetPlan returns how the database finds the limits to forget.
func (l *Limits) ForgetPlan(ctx context.Context) (plan string, err error) {
	var id, parent, unused int
	err = l.db.QueryRowContext(ctx, `EXPLAIN QUERY PLAN `+forget, 0).Scan(&id, &parent, &unused, &plan)
	return plan, err
}

// DropIndex makes the table what it was before it had an index.
func (l *Limits) DropIndex(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, `DROP INDEX retake_limit_used`)
	return err
}
