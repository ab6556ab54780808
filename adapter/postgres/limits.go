package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/retake-go/retake/limit/limiter"
)

// Limits is a [limiter.Store] in PostgreSQL: the records of a limiter that the processes of a fleet share.
// Make it with [NewLimits]. It is safe for concurrent use.
type Limits struct{ pool *pgxpool.Pool }

// NewLimits returns the records in the database of a pool, and makes the tables if they are not there: see
// [Schema].
func NewLimits(ctx context.Context, pool *pgxpool.Pool) (*Limits, error) {
	if err := prepare(ctx, pool, false); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return &Limits{pool}, nil
}

// Load implements [limiter.Store].
func (l *Limits) Load(ctx context.Context, scope string) (r limiter.Record, err error) {
	var now time.Time
	err = l.pool.QueryRow(ctx, `SELECT clock_timestamp(), coalesce(version, 0), value FROM (VALUES (1)) AS one
		LEFT JOIN retake_limit ON scope = $1`, scope).Scan(&now, &r.Version, &r.Value)
	r.Now = now.UTC()
	return r, l.failed(scope, err)
}

// replace replaces a record. The time is that of the minute, so that an update within it need not change the
// index.
const replace = `UPDATE retake_limit SET value = $3, version = version + 1, used = date_trunc('minute', now())
	WHERE scope = $1 AND version = $2`

// add adds a record, and forgets some that nobody replaced for long. What another statement has locked is in
// use.
const add = `WITH old AS (SELECT scope FROM retake_limit WHERE used < now() - interval '2 hours'
		ORDER BY used LIMIT 10 FOR UPDATE SKIP LOCKED),
	forgotten AS (DELETE FROM retake_limit WHERE scope IN (SELECT scope FROM old))
	INSERT INTO retake_limit (scope, version, used, value) VALUES ($1, $2, date_trunc('minute', now()), $3) ON CONFLICT DO NOTHING`

// Swap implements [limiter.Store]. With a new record at most ten go that nobody replaced for two hours. Its
// version begins at random, so that it is not mistaken for one that went.
func (l *Limits) Swap(ctx context.Context, scope string, version int64, value []byte) (bool, error) {
	query := replace
	if version == 0 {
		query, version = add, 1+rand.Int64N(1<<62)
	}
	tag, err := l.pool.Exec(ctx, query, scope, version, value)
	return tag.RowsAffected() == 1, l.failed(scope, err)
}

// Limits tells how the scopes of a limiter are whose records are in the same database: see [NewLimits]. They
// are sorted by name.
func (s *Store) Limits(ctx context.Context) ([]limiter.Status, error) {
	status := func(row pgx.CollectableRow) (limiter.Status, error) {
		var scope string
		var value []byte
		if err := row.Scan(&scope, &value); err != nil {
			return limiter.Status{}, err
		}
		return limiter.Recorded(scope, value)
	}
	all, err := collect(ctx, s, status, `SELECT scope, value FROM retake_limit ORDER BY scope`)
	if err != nil {
		return nil, fmt.Errorf("postgres: limits: %w", err)
	}
	return all, nil
}

// failed adds the scope to an error.
func (l *Limits) failed(scope string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("postgres: limits of scope %q: %w", scope, err)
}
