package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/retake-go/retake/journal"
)

// Store is a [journal.Store] in PostgreSQL, a [journal.Inbox] and a [journal.Keeper]. Make it with [New]. It
// is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	// owner is the name of the store in its leases; lease is their length.
	owner string
	lease time.Duration
	// patience is how long the server may take to answer a statement.
	patience time.Duration
	readOnly bool
	// closing ends the renewal of leases.
	closing context.Context
	close   context.CancelFunc
	closed  sync.Once
	keeping sync.WaitGroup

	mu sync.Mutex
	// open are the holders of the logs that are open. What others of this store hold is let go.
	open map[string]bool
}

// Settings configure a store. The zero value is ready for use.
type Settings struct {
	// Lease is how long a journal belongs to its owner after the owner's last sign of life: 1 second to 1
	// hour; 0 means 15 seconds. An owner renews its leases with each append, and three times in that
	// period. After it, the journal of a process that died is free. A process that is stopped for longer
	// may lose its journals: its next append then fails. The clock is the server's.
	Lease time.Duration
	// ReadOnly opens journals for reading, also while others write them. No table is made and no lease taken,
	// so nobody is kept out, and [journal.ErrReadOnly] is returned for what would be written. It suits a
	// standby.
	ReadOnly bool
}

// The default lease and its bounds.
const (
	usualLease    = 15 * time.Second
	shortestLease = time.Second
	longestLease  = time.Hour
)

// Validate returns an error for invalid settings.
func (s Settings) Validate() error {
	if s.Lease != 0 && (s.Lease < shortestLease || s.Lease > longestLease) {
		return fmt.Errorf("lease: must be %v to %v, or 0 for %v, not %v", shortestLease, longestLease, usualLease, s.Lease)
	}
	return nil
}

// New returns the store in the database of a pool, and makes its tables if they are not there: see [Schema].
// Close it after the last session; the pool stays open. What the server does not answer within half a minute
// is an error, whatever the context of a call says; to replace or delete a journal may take it ten.
func New(ctx context.Context, pool *pgxpool.Pool, settings Settings) (*Store, error) {
	if err := settings.Validate(); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	err := within(ctx, patience, func(ctx context.Context) error { return prepare(ctx, pool, settings.ReadOnly) })
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s := &Store{pool: pool, owner: rand.Text(), lease: cmp.Or(settings.Lease, usualLease), patience: patience,
		readOnly: settings.ReadOnly, open: map[string]bool{}}
	s.closing, s.close = context.WithCancel(context.WithoutCancel(ctx))
	if !s.readOnly {
		s.keeping.Go(func() { s.keep(time.NewTicker(s.lease / renewals)) })
	}
	return s, nil
}

// Close releases all open journals. A second call does nothing.
func (s *Store) Close() (err error) {
	s.closed.Do(func() {
		s.close()
		s.keeping.Wait()
		if !s.readOnly {
			err = within(context.WithoutCancel(s.closing), s.patience, func(ctx context.Context) error {
				_, err := s.pool.Exec(ctx, release+` WHERE owner = $1`, s.owner)
				return refused(err)
			})
		}
	})
	return err
}

// List implements [journal.Store].
func (s *Store) List(ctx context.Context) ([]string, error) {
	ids, err := collect(ctx, s, pgx.RowTo[string], `SELECT session FROM retake_session WHERE size > 0 ORDER BY session`)
	if err != nil {
		return nil, fmt.Errorf("postgres: listing sessions: %w", err)
	}
	return ids, nil
}

// collect returns what the rows of a query say.
func collect[T any](
	ctx context.Context, s *Store, row pgx.RowToFunc[T], query string, args ...any,
) (all []T, err error) {
	err = s.patiently(ctx, func(ctx context.Context, _ bool) error {
		rows, err := s.pool.Query(ctx, query, args...)
		if err == nil {
			all, err = pgx.CollectRows(rows, row)
		}
		return err
	})
	return all, err
}

// Open implements [journal.Store]. It fails for a journal that has an owner, until the owner closes it or its
// lease ends.
func (s *Store) Open(ctx context.Context, session string) (journal.Log, error) {
	l := &log{store: s, session: session}
	if s.readOnly {
		return l, nil
	}
	if err := l.take(ctx); err != nil {
		return nil, l.failed(err)
	}
	return l, nil
}

// The pauses between the repetitions of a statement whose connection broke.
const (
	shortestPause = 10 * time.Millisecond
	longestPause  = 500 * time.Millisecond
)

// patience is how long a server may take to answer a statement, and slowly to replace a journal: one that is
// connected and stops answering would else be waited for by those who have no deadline, as runs do.
const (
	patience = 30 * time.Second
	slowly   = 20
)

// within ends what is done when the server has taken too long.
func within(ctx context.Context, patience time.Duration, do func(context.Context) error) error {
	bounded, stop := context.WithTimeout(ctx, patience)
	defer stop()
	err := do(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("the server did not answer within %v: %w", patience, err)
	}
	return err
}

// patiently repeats do while connections break, until a third of a lease has passed: a server that is
// restarted ends no session. again says that what do did before may have been done or not.
func (s *Store) patiently(ctx context.Context, do func(ctx context.Context, again bool) error) error {
	begun := time.Now()
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		err := within(ctx, s.patience, func(ctx context.Context) error { return do(ctx, pause > shortestPause) })
		if !broke(err) || ctx.Err() != nil || time.Since(begun) > s.lease/renewals {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-s.closing.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// broke reports whether an error is that of a connection, and not the server's answer to a statement.
func broke(err error) bool {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok { // it is shut down, starts, or has no place
		return strings.HasPrefix(said.Code, "57P") || strings.HasPrefix(said.Code, "08") || said.Code == "53300"
	}
	_, unreached := errors.AsType[*pgconn.ConnectError](err)
	_, lost := errors.AsType[net.Error](err)
	return unreached || lost || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// errPooler: a connection does not know what was prepared. errNoSchema: no schema of the search path is
// there, or none may be used.
var (
	errPooler = errors.New("a pooler gives out another connection of the server than before: " +
		"set default_query_exec_mode=exec in the connection string")
	errNoSchema = errors.New("the role may use no schema of its search_path: make one, or grant it USAGE")
)

// reasons are what codes of the server mean: those of a standby or a transaction that only reads, of a
// missing right, of a prepared statement that is not there or is there already, and of a missing schema.
var reasons = map[string]error{
	"25006": journal.ErrReadOnly, "42501": journal.ErrReadOnly,
	"26000": errPooler, "42P05": errPooler, "3F000": errNoSchema,
}

// refused adds the reason to the error of a server, if it is known.
func refused(err error) error {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok && reasons[said.Code] != nil {
		return fmt.Errorf("%w: %w", reasons[said.Code], err)
	}
	return err
}
