package postgres

import "context"

// Renew renews the leases, as a store does regularly.
func (s *Store) Renew(ctx context.Context) error { return s.renew(ctx) }
