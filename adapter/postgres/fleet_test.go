package postgres_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/limit/limittest"
)

// envLimits is where a process of a fleet that shares limits finds the database.
const envLimits = "RETAKE_TEST_POSTGRES_LIMITS"

// workAsFleet is what this test binary does as one of the processes of such a fleet.
func workAsFleet() error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv(envLimits))
	if err != nil {
		return err
	}
	defer pool.Close()
	limits, err := postgres.NewLimits(ctx, pool)
	if err != nil {
		return err
	}
	return limittest.Work(limits)
}

func TestARunThatIsKilledBetweenAskAndGrantAndCallGoesOn(t *testing.T) {
	url := urlOf(t)
	limits, err := postgres.NewLimits(t.Context(), connect(t, url))
	require.NoError(t, err)
	limittest.Killed(t, limits, envLimits+"="+url)
}

// The server has its records again when it is back.
func TestAFleetThatSharesLimitsOutlivesKilledProcessesAndAKilledServer(t *testing.T) {
	url := urlOf(t)
	limittest.Fleet(t, server, envLimits+"="+url)
}
