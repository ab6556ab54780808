package postgres

import (
	"context"
	"time"
)

// Renew renews the leases, as a store does regularly.
func (s *Store) Renew(ctx context.Context) error { return s.renew(ctx) }

// SetPatience sets how long the server may take to answer.
func (s *Store) SetPatience(patience time.Duration) { s.patience = patience }
