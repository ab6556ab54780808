package main

import (
	"context"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit/limiter"
)

// db is a store that is no folder: a SQLite database by its file, or a PostgreSQL one by its address.
type db interface {
	journal.Keeper
	journal.Inbox
	Limits(context.Context) ([]limiter.Status, error)
	Close() error
}

// databases are open ones with their names.
type databases []namedDB

type namedDB struct {
	name string
	db
}

// limitsWithin is how long a database is asked for its limits.
const limitsWithin = 2 * time.Second

// Scopes implements [console.Limits] by the limits that processes share in the databases. One that cannot be
// read is a scope whose store is lost.
func (d databases) Scopes() (all []limiter.Status) {
	ctx, stop := context.WithTimeout(context.Background(), limitsWithin)
	defer stop()
	for _, from := range d {
		scopes, err := from.Limits(ctx)
		if err != nil {
			scopes = []limiter.Status{{Scope: from.name, StoreLost: true}}
		}
		all = append(all, scopes...)
	}
	return all
}

func (d databases) close() {
	for _, one := range d {
		_ = one.Close() // it was read alone
	}
}

// openDatabase opens a database, or for reading alone.
func openDatabase(name string, toRead bool) (db, error) {
	ctx := context.Background()
	if !isAddress(name) {
		return sqlite.OpenWith(ctx, name, sqlite.Settings{ReadOnly: toRead})
	}
	pool, err := pgxpool.New(ctx, name)
	if err != nil {
		return nil, err
	}
	store, err := postgres.New(ctx, pool, postgres.Settings{ReadOnly: true}) // it makes no tables
	if err == nil && !toRead {
		store, err = postgres.New(ctx, pool, postgres.Settings{})
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return pooled{store, pool}, nil
}

// pooled is a store with a pool of its own.
type pooled struct {
	*postgres.Store
	pool *pgxpool.Pool
}

func (p pooled) Close() error {
	defer p.pool.Close()
	return p.Store.Close()
}

// isAddress reports whether a name is that of a PostgreSQL database.
func isAddress(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// shown is a name without a password.
func shown(name string) string {
	if !isAddress(name) {
		return name
	}
	address, err := url.Parse(name)
	if err != nil {
		return "postgres://"
	}
	address.RawQuery = "" // it may hold one, too
	return address.Redacted()
}

// isFolder reports whether a name is that of a folder. An address is none.
func isFolder(name string) (bool, error) {
	if isAddress(name) {
		return false, nil
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir(), err
}

// kindOf is the kind of a database.
func kindOf(name string) string {
	if isAddress(name) {
		return "PostgreSQL"
	}
	return "SQLite"
}
