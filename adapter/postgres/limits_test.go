package postgres_test

import (
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
