package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/adapter/postgres/postgrestest"
	"github.com/retake-go/retake/limit/limittest"
)

// server is the server of all tests; nil if none is installed.
var server *postgrestest.Server

func TestMain(m *testing.M) {
	switch url := os.Getenv(envURL); {
	case url != "":
		exit(driveAll(url))
	case limittest.Works():
		exit(workAsFleet())
	}
	os.Exit(withServer(m))
}

// exit ends a process that the tests have started.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func withServer(m *testing.M) int {
	var err error
	if server, err = postgrestest.Start(); err != nil && !errors.Is(err, postgrestest.ErrNone) {
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

// schemas numbers the databases of the tests.
var schemas atomic.Int64

// urlOf returns the connection string of an empty database.
func urlOf(t *testing.T) string {
	t.Helper()
	if server == nil {
		require.Empty(t, os.Getenv("RETAKE_FLEET"), postgrestest.ErrNone.Error())
		t.Skip(postgrestest.ErrNone)
	}
	schema := fmt.Sprint("test", schemas.Add(1))
	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	return server.URL("search_path", schema)
}

func connect(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// open opens a store whose leases end only when a test says so.
func open(t *testing.T, pool *pgxpool.Pool) *postgres.Store {
	t.Helper()
	s, err := postgres.New(t.Context(), pool, postgres.Settings{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// exec changes the database like another program.
func exec(t *testing.T, pool *pgxpool.Pool, statement string, args ...any) {
	t.Helper()
	_, err := pool.Exec(context.WithoutCancel(t.Context()), statement, args...)
	require.NoError(t, err)
}
