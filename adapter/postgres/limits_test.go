package postgres_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/limit/limittest"
)

func TestLimits(t *testing.T) {
	limittest.Store(t, func(t *testing.T) limiter.Store {
		limits, err := postgres.NewLimits(t.Context(), connect(t, urlOf(t)))
		require.NoError(t, err)
		return limits
	})
}

func TestACallOfTheLimitsIsOneRoundTrip(t *testing.T) {
	var l line
	limits, err := postgres.NewLimits(t.Context(), connectBy(t, &l))
	require.NoError(t, err)
	for version := range int64(4) {
		before := l.sent.Load()
		r, err := limits.Load(t.Context(), "a")
		require.NoError(t, err)
		swapped, err := limits.Swap(t.Context(), "a", r.Version, []byte("one"))
		require.NoError(t, err)
		assert.True(t, swapped)
		if version > 1 { // the connection has learned the statements
			assert.Equal(t, before+2, l.sent.Load())
		}
	}
	_, err = limits.Load(t.Context(), "a\x00b")
	require.ErrorContains(t, err, `postgres: limits of scope "a\x00b"`)
}

// A store tells of the limits in its database.
func TestAStoreTellsOfTheLimits(t *testing.T) {
	pool := connect(t, urlOf(t))
	store, err := postgres.New(t.Context(), pool, postgres.Settings{})
	require.NoError(t, err)
	defer store.Close()
	limits, err := postgres.NewLimits(t.Context(), pool)
	require.NoError(t, err)
	limittest.Lister(t, limits, "postgres", store.Limits)
}

// A scope that nobody uses any more is forgotten, ten with each new one. What was replaced within the hour
// stays.
func TestOldLimitsAreForgotten(t *testing.T) {
	pool := connect(t, urlOf(t))
	limits, err := postgres.NewLimits(t.Context(), pool)
	require.NoError(t, err)
	swap := func(scope string, version int64) bool {
		swapped, err := limits.Swap(t.Context(), scope, version, []byte("one"))
		require.NoError(t, err)
		return swapped
	}
	load := func(scope string) int64 {
		r, err := limits.Load(t.Context(), scope)
		require.NoError(t, err)
		return r.Version
	}
	scopes := func() (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM retake_limit`).Scan(&n))
		return n
	}
	for n := range 12 {
		require.True(t, swap(fmt.Sprint("old", n), 0))
	}
	require.True(t, swap("young", 0))
	require.True(t, swap("again", 0))
	old := load("old0")
	exec(t, pool, `UPDATE retake_limit SET used = used - CASE WHEN scope = 'young' THEN interval '1 hour' ELSE interval '3 hours' END`)
	require.True(t, swap("again", load("again")))
	assert.Equal(t, 14, scopes(), "only a new record forgets")
	require.True(t, swap("new1", 0))
	assert.Equal(t, 5, scopes())
	require.True(t, swap("new2", 0))
	assert.Equal(t, 4, scopes())
	for _, scope := range []string{"young", "again", "new1", "new2"} {
		assert.NotZero(t, load(scope), scope)
	}
	assert.False(t, swap("old0", old), "it is not there")
	require.True(t, swap("old0", 0))
	assert.False(t, swap("old0", old), "it is another one")
}
