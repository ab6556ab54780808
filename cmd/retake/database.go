package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
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

// access says what a database is opened for.
type access bool

// What a database is opened for. Opening one for reading makes no tables in it.
const (
	toRead  access = false
	toWrite access = true
)

// openDatabase opens a database that is there.
func openDatabase(name string, to access) (db, error) {
	ctx := context.Background()
	if !isAddress(name) {
		store, err := sqlite.OpenWith(ctx, name, sqlite.Settings{ReadOnly: true}) // it makes no tables
		if err == nil && to == toWrite {
			if err = store.Close(); err == nil {
				store, err = sqlite.Open(ctx, name)
			}
		}
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	pool, err := newPool(ctx, name)
	if err != nil {
		return nil, err
	}
	store, err := postgres.New(ctx, pool, postgres.Settings{ReadOnly: true}) // it makes no tables
	if err == nil && to == toWrite {
		store, err = postgres.New(ctx, pool, postgres.Settings{})
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return pooled{store, pool}, nil
}

// connectWithin is how long a server may take to answer. An address or PGCONNECT_TIMEOUT may say another
// time.
var connectWithin = 10 * time.Second

func newPool(ctx context.Context, address string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectWithin)
	return pgxpool.NewWithConfig(ctx, config)
}

// stores are the stores that a command is given.
type stores struct {
	unsealing
	names []string
}

const storeArgs = "STORE is a folder of journals, a SQLite database or an address postgres://…"

func (s *stores) take(args []string) error {
	if len(args) == 0 {
		return misused("a store is missing: %s", storeArgs)
	}
	s.names = args
	return areStores(args...)
}

// areStores returns an error for what is no store.
func areStores(names ...string) error {
	for n, name := range names {
		if is := func(other string) bool { return isSame(name, other) }; slices.ContainsFunc(names[:n], is) {
			return misused("%s is given twice: give each store once", shown(name))
		}
		if folder, err := isFolder(name); err != nil {
			return misused("%v: %s", err, storeArgs)
		} else if !folder && !isDatabase(name) {
			what := "neither a folder nor a database"
			if info, err := os.Stat(name); err == nil && info.Size() == 0 {
				what = "empty, so no database, or one that is just being made"
			}
			return misused("%s: it is %s: %s", name, what, storeArgs)
		}
	}
	return nil
}

// isSame reports whether two names are those of one file or folder, or equal addresses.
func isSame(name, other string) bool {
	one, err := os.Stat(name)
	two, missing := os.Stat(other)
	return name == other || err == nil && missing == nil && os.SameFile(one, two)
}

// opened names a database, and says what it was opened for.
type opened struct {
	name string
	to   access
}

// database opens a database, once for each access. It stays open until the end.
func (e *env) database(name string, to access) (store db, err error) {
	way := opened{name, to}
	if store = e.databases[way]; store != nil {
		return store, nil
	}
	if store, err = openDatabase(name, to); err != nil {
		return nil, err
	}
	if e.databases == nil {
		e.databases = map[opened]db{}
	}
	e.databases[way] = store
	return store, nil
}

// closeDatabases closes the databases that were opened.
func (e *env) closeDatabases() (err error) {
	for _, store := range e.databases {
		err = errors.Join(err, store.Close())
	}
	return err
}

// openInbox opens a store with the words for its runs.
func (e *env) openInbox(name string, to access) (inbox.Store, error) {
	if !isDatabase(name) {
		return e.sealing(journal.Dir(name))
	}
	store, err := e.database(name, to)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be opened", shown(name)), err)
	}
	return e.sealing(store)
}

// pooled is a store with a pool of its own.
type pooled struct {
	*postgres.Store
	pool *pgxpool.Pool
}

func (p pooled) Close() error {
	err := p.Store.Close()
	closed := make(chan struct{})
	go func() { p.pool.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(time.Second): // a connection that does not answer ends with the process
	}
	return err
}

// isAddress reports whether a name is that of a PostgreSQL database.
func isAddress(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// shown returns a name without a password.
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

// unreadableDatabase returns the error for a database that cannot be opened.
func unreadableDatabase(name string, err error) error {
	kind := "SQLite"
	if isAddress(name) {
		kind = "PostgreSQL"
	}
	return misused("%s: it is a %s database whose journals cannot be read: %w", shown(name), kind, err)
}
