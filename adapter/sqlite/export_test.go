package sqlite

import (
	"context"
	"time"
)

// OpenAt opens a store that renews its leases only where Renew says so, by a clock of its own.
func OpenAt(ctx context.Context, path string, s Settings, now func() time.Time) (*Store, error) {
	return open(ctx, path, s, now)
}

// Renew is what a store does from time to time.
func (s *Store) Renew(ctx context.Context) error { return s.renew(ctx) }

// Exec changes the database as others may.
func (s *Store) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.db.ExecContext(ctx, statement, args...)
	return err
}
