package redis_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	client "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/redis"
	"github.com/retake-go/retake/adapter/redis/redistest"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/limit/limittest"
)

// server is the server of all tests; nil if none is installed.
var server *redistest.Server

func TestMain(m *testing.M) {
	if limittest.Works() {
		if err := work(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(withServer(m))
}

func withServer(m *testing.M) int {
	var err error
	if server, err = redistest.Start(); err != nil && !errors.Is(err, redistest.ErrNone) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := m.Run()
	if server != nil {
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return status
}

// connect returns a client of the server, which is empty.
func connect(t *testing.T) *client.Client {
	t.Helper()
	if server == nil {
		require.Empty(t, os.Getenv("RETAKE_FLEET"), redistest.ErrNone.Error())
		t.Skip(redistest.ErrNone)
	}
	db := client.NewClient(&client.Options{Network: "unix", Addr: server.Socket()})
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, db.FlushAll(t.Context()).Err())
	return db
}

func open(t *testing.T, db *client.Client) *redis.Limits {
	t.Helper()
	limits, err := redis.NewLimits(db)
	require.NoError(t, err)
	return limits
}

func TestLimits(t *testing.T) {
	limittest.Store(t, func(t *testing.T) limiter.Store { return open(t, connect(t)) })
}

func TestASwapThatIsRepeatedCountsOnce(t *testing.T) {
	db := connect(t)
	limits := open(t, db)
	swapped, err := limits.Swap(t.Context(), "a", 0, []byte("one"))
	require.NoError(t, err)
	require.True(t, swapped)
	one, err := limits.Load(t.Context(), "a")
	require.NoError(t, err)
	again, err := redis.SwapTo(t.Context(), limits, "a", 0, one.Version, "one")
	require.NoError(t, err)
	assert.True(t, again, "its answer was lost, and the client sent it again")
	left, err := db.TTL(t.Context(), redis.Prefix+"a").Result()
	require.NoError(t, err)
	assert.Greater(t, left.Minutes(), 60.0, "a record that nobody uses goes, and not before an hour")
}

func TestARecordThatWasLostIsNotMistakenForTheNext(t *testing.T) {
	db := connect(t)
	limits := open(t, db)
	_, err := limits.Swap(t.Context(), "a", 0, []byte("one"))
	require.NoError(t, err)
	old, err := limits.Load(t.Context(), "a")
	require.NoError(t, err)
	require.NoError(t, db.FlushAll(t.Context()).Err())
	_, err = limits.Swap(t.Context(), "a", 0, []byte("another"))
	require.NoError(t, err)
	swapped, err := limits.Swap(t.Context(), "a", old.Version, []byte("late"))
	require.NoError(t, err)
	assert.False(t, swapped)
}

func TestWhatCannotBeUsedIsNamed(t *testing.T) {
	_, err := redis.NewLimits(nil)
	require.ErrorContains(t, err, "the client is nil")
	var none *client.Client
	_, err = redis.NewLimits(none)
	require.ErrorContains(t, err, "the client is nil")
	gone := client.NewClient(&client.Options{Network: "unix", Addr: t.TempDir() + "/none", MaxRetries: -1})
	defer gone.Close()
	_, err = open(t, gone).Load(t.Context(), "a")
	require.ErrorContains(t, err, `redis: limits of scope "a"`)
}
