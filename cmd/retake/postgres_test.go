package main

import (
	"encoding/json"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/adapter/postgres/postgrestest"
	"github.com/retake-go/retake/journal/journaltest"
)

// A server that takes connections and does not answer is told.
func TestADatabaseThatDoesNotAnswerIsTold(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	within := connectWithin
	defer func() { connectWithin = within }()
	connectWithin = 50 * time.Millisecond
	told := make(chan error, 1)
	go func() {
		_, err := openDatabase("postgres://u:swordfish@"+silent.Addr().String()+"/runs", toRead)
		told <- err
	}()
	select {
	case err := <-told:
		require.ErrorContains(t, err, "deadline exceeded")
		assert.NotContains(t, err.Error(), "swordfish")
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for ever")
	}
}

// A database on a server is a store like a file, and its password is shown nowhere.
func TestAPostgresDatabaseIsAStore(t *testing.T) {
	server, err := postgrestest.Start()
	if errors.Is(err, postgrestest.ErrNone) {
		t.Skip(err)
	}
	require.NoError(t, err)
	defer server.Close()
	url := server.URL("password", "swordfish")
	_, err = openDatabase(url, toWrite)
	require.ErrorContains(t, err, "no tables of a store", "the command makes none")

	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	defer pool.Close()
	store, err := postgres.New(t.Context(), pool, postgres.Settings{})
	require.NoError(t, err)
	for range 20 {
		if ended, err := journaltest.Drive(store, "order-42", func(string) {}); ended {
			require.NoError(t, err)
			break
		}
	}
	for _, name := range []string{url, url + "#order-42"} {
		out := retake(t, "show", name)
		assert.Contains(t, out, "order-42")
		assert.NotContains(t, out, "swordfish")
	}
	assert.Contains(t, retake(t, "verify", url+"#order-42"), "order-42")
	var pending struct{ Pending []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(retake(t, "pending", "-json", url)), &pending))
	assert.Empty(t, pending.Pending)
	e := &env{}
	stores, limits, err := e.openStores([]string{url})
	require.NoError(t, err)
	defer e.closeDatabases()
	assert.Empty(t, limits.Scopes(), "no limiter uses it")
	assert.Equal(t, "postgres:///postgres", stores[0].Name)
	retake(t, "compact", url+"#order-42")
	retake(t, "prune", "-older", "1d", url)
	t.Run("followed", func(t *testing.T) {
		schema := server.URL("search_path", "followed")
		_, err := pool.Exec(t.Context(), "CREATE SCHEMA followed")
		require.NoError(t, err)
		apart, err := pgxpool.New(t.Context(), schema)
		require.NoError(t, err)
		defer apart.Close()
		store, err := postgres.New(t.Context(), apart, postgres.Settings{})
		require.NoError(t, err)
		defer func() { assert.NoError(t, store.Close()) }()
		isFollowed(t, store, schema)
	})
	require.NoError(t, store.Close())
	ids, err := store.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"order-42"}, ids, "it is younger than that")
}

// A password may have the mark that stands before a session, and no part of it is shown.
func TestAMarkInAPasswordBeginsNoSession(t *testing.T) {
	for name, want := range map[string][2]string{
		"postgres://h/x#order-42":        {"postgres://h/x", "order-42"},
		"postgres://h/x#ann@here#1":      {"postgres://h/x", "ann@here#1"},
		"postgres://u:s3c#ret@h/x#order": {"postgres://u:s3c#ret@h/x", "order"},
		"postgres://u:s3c#ret@h/x":       {},
	} {
		path, session, found := splitSession(name)
		assert.Equal(t, want, [2]string{path, session}, name)
		assert.Equal(t, want[0] != "", found, name)
	}
	_, err := places("postgres://u:s3c#ret@h:port/x", "", nil)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "s3c")
}
