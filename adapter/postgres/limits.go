package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/retake-go/retake/limit/limiter"
)

// Limits is a [limiter.Store] in PostgreSQL: the records of a limiter that the processes of a fleet share. Make it
// with [NewLimits]. It is safe for concurrent use.
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

// Swap implements [limiter.Store].
func (l *Limits) Swap(ctx context.Context, scope string, version int64, value []byte) (bool, error) {
	query := `UPDATE retake_limit SET value = $3, version = version + 1 WHERE scope = $1 AND version = $2`
	if version == 0 {
		query = `INSERT INTO retake_limit (scope, version, value) VALUES ($1, $2 + 1, $3) ON CONFLICT DO NOTHING`
	}
	tag, err := l.pool.Exec(ctx, query, scope, version, value)
	return tag.RowsAffected() == 1, l.failed(scope, err)
}

// failed adds the scope to an error.
func (l *Limits) failed(scope string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("postgres: limits of scope %q: %w", scope, err)
}
