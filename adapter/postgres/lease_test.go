package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
)

func TestLeases(t *testing.T) {
	journaltest.Leases(t, func(t *testing.T) (journal.Store, func()) {
		pool := connect(t, urlOf(t))
		return open(t, pool), func() { exec(t, pool, `UPDATE retake_session SET until = now() - interval '1 s'`) }
	})
}

// left is how long the lease of a session lasts, in seconds; -1 if there is none.
func left(t *testing.T, pool *pgxpool.Pool, session string) (seconds float64) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT coalesce(extract(epoch FROM until - now()), -1)::float8 FROM retake_session
		WHERE session = $1`, session).Scan(&seconds))
	return seconds
}

func TestALeaseIsRenewedWhileTheStoreIsOpen(t *testing.T) {
	pool := connect(t, urlOf(t))
	mine, others := open(t, pool), open(t, pool)
	for _, id := range []string{"order-42", "order-43"} {
		log, err := mine.Open(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
		if id == "order-43" {
			require.NoError(t, log.Close())
		}
	}
	exec(t, pool, `UPDATE retake_session SET until = now() + interval '3 s' WHERE holder IS NOT NULL`)
	require.NoError(t, others.Renew(t.Context()))
	assert.LessOrEqual(t, left(t, pool, "order-42"), 3.0, "that of another store renews nothing here")
	require.NoError(t, mine.Renew(t.Context()))
	assert.Greater(t, left(t, pool, "order-42"), 10.0)
	assert.Equal(t, -1.0, left(t, pool, "order-43"), "what was closed is not renewed")
	_, err := others.Open(t.Context(), "order-42")
	var held *journal.ConflictError
	require.ErrorAs(t, err, &held)
	assert.WithinDuration(t, time.Now(), held.Until, 15*time.Second)
	require.ErrorContains(t, err, `"order-42" is held by another writer`)
}

// A clock that was years ahead when a lease was written locks nobody out for years.
func TestALeaseIsNeverLongerThanWasAskedFor(t *testing.T) {
	pool := connect(t, urlOf(t))
	mine, others := open(t, pool), open(t, pool)
	_, err := mine.Open(t.Context(), "order-42")
	require.NoError(t, err)
	exec(t, pool, `UPDATE retake_session SET until = now() + interval '5 years'`)
	_, err = others.Open(t.Context(), "order-42")
	require.ErrorIs(t, err, journal.ErrConflict, "its owner may live: it has its time to renew")
	assert.InDelta(t, 15, left(t, pool, "order-42"), 15)
}

func TestAStoreThatIsClosedLetsAllGo(t *testing.T) {
	pool := connect(t, urlOf(t))
	mine, others := open(t, pool), open(t, pool)
	log, err := mine.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, mine.Close())
	require.NoError(t, mine.Close())
	require.NoError(t, log.Close())
	log, err = others.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Close())
}

// An owner that was superseded before its journal was deleted does not own the next one of that id.
func TestAnOwnerOfADeletedJournalOwnsNoOther(t *testing.T) {
	store := open(t, connect(t, urlOf(t)))
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	require.NoError(t, log.Replace(t.Context(), 4, nil))
	again, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.ErrorIs(t, log.Append(t.Context(), 0, []byte("one\n"), true), journal.ErrConflict)
	require.NoError(t, log.Close())
	require.NoError(t, again.Append(t.Context(), 0, []byte("two\n"), true))
}

// A session that was opened and never written leaves nothing.
func TestAJournalThatWasNeverWrittenLeavesNoRow(t *testing.T) {
	pool := connect(t, urlOf(t))
	log, err := open(t, pool).Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Close())
	var rows int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM retake_session`).Scan(&rows))
	assert.Zero(t, rows)
}

// A journal that is compacted for long is locked meanwhile. The leases of the others are renewed.
func TestALeaseIsRenewedWhileAnotherJournalIsLocked(t *testing.T) {
	pool := connect(t, urlOf(t))
	store := open(t, pool)
	for _, id := range []string{"order-42", "order-43"} {
		_, err := store.Open(t.Context(), id)
		require.NoError(t, err)
	}
	exec(t, pool, `UPDATE retake_session SET until = now() + interval '3 s'`)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), `SELECT FROM retake_session WHERE session = 'order-42' FOR UPDATE`)
	require.NoError(t, err)
	store.SetPatience(10 * time.Second)
	require.NoError(t, store.Renew(t.Context()))
	assert.Greater(t, left(t, pool, "order-43"), 10.0)
}

// To replace a journal may take longer than a lease. Its lease begins when that is done.
func TestALeaseIsRenewedWhenAJournalHasBeenReplaced(t *testing.T) {
	pool := connect(t, urlOf(t))
	log, err := open(t, pool).Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context())
	_, err = tx.Exec(t.Context(), `LOCK TABLE retake_line`)
	require.NoError(t, err)
	replaced := make(chan error, 1)
	go func() { replaced <- log.Replace(t.Context(), 4, []byte("two\n")) }()
	require.Eventually(t, func() (waits bool) {
		const query = `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'retake_line'::regclass)`
		return pool.QueryRow(t.Context(), query).Scan(&waits) == nil && waits
	}, 10*time.Second, time.Millisecond)
	var then time.Time
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT clock_timestamp()`).Scan(&then))
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-replaced)
	var begun time.Time
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT until - lease FROM retake_session`).Scan(&begun))
	assert.True(t, begun.After(then), "it began at %v, before %v", begun, then)
}
