package dbos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres/postgrestest"
)

// server is the PostgreSQL server of the tests; nil if none is installed.
var server *postgrestest.Server

func TestMain(m *testing.M) {
	if url := os.Getenv(envWorker); url != "" {
		if err := work(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var err error
	if server, err = postgrestest.Start(); err != nil && !errors.Is(err, postgrestest.ErrNone) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if server != nil {
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// database returns the address of the server, or skips the test if there is none.
func database(t *testing.T) string {
	if server == nil {
		require.Empty(t, os.Getenv("RETAKE_FLEET"), postgrestest.ErrNone.Error())
		t.Skip(postgrestest.ErrNone)
	}
	return server.URL()
}

// contextOf returns a context of DBOS that is not launched, with tables of its own.
func contextOf(t *testing.T, schema string) sdk.Context {
	c, err := newContext(database(t), schema)
	require.NoError(t, err)
	t.Cleanup(func() { _ = sdk.Shutdown(c, 10*time.Second) })
	return c
}

func newContext(url, schema string) (sdk.Context, error) {
	pool, err := Pool(context.Background(), url)
	if err != nil {
		return nil, err
	}
	return sdk.NewContext(context.Background(), sdk.Config{
		AppName: "retake", SystemDBPool: pool, DatabaseSchema: schema, ApplicationVersion: "test",
		ExecutorID: "test", Logger: slog.New(slog.DiscardHandler),
	})
}
