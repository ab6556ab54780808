package postgres_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/journal"
)

// line is the way to the server. It counts what is sent, and can break when the server has answered.
type line struct {
	sent   atomic.Int64
	breaks atomic.Bool
	// down is set while no answer comes, and silent while nothing comes at all.
	down, silent atomic.Bool
}

type wire struct {
	net.Conn
	line *line
}

func (w wire) Write(p []byte) (int, error) {
	w.line.sent.Add(1)
	return w.Conn.Write(p)
}

func (w wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	for err == nil && w.line.silent.Load() {
		n, err = w.Conn.Read(p) // what came is lost, until the deadline
	}
	if err == nil && (w.line.breaks.Swap(false) || w.line.down.Load()) {
		return 0, io.ErrUnexpectedEOF // the statement was done, and its answer is lost
	}
	return n, err
}

// connectBy connects to an empty database over a line, with one connection.
func connectBy(t *testing.T, l *line) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(urlOf(t))
	require.NoError(t, err)
	cfg.MaxConns = 1
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return wire{conn, l}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func TestAnAppendIsOneRoundTrip(t *testing.T) {
	var l line
	log, err := open(t, connectBy(t, &l)).Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true), "the connection learns the statement")
	before := l.sent.Load()
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true))
	require.NoError(t, log.Append(t.Context(), 8, []byte("three\n"), false))
	assert.Equal(t, before+2, l.sent.Load())
}

// When a connection breaks after a statement was sent, nobody says whether it was done.
func TestWhatIsDoneAndNotAnsweredIsDoneOnce(t *testing.T) {
	var l line
	store := open(t, connectBy(t, &l))
	l.breaks.Store(true)
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err, "the lease is its own")
	l.breaks.Store(true)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true))
	assert.Equal(t, "one\ntwo\n", whole(t, log))
	require.ErrorIs(t, log.Append(t.Context(), 4, []byte("two\n"), true), journal.ErrConflict, "asked for a second time, it is another one")

	l.breaks.Store(true)
	require.NoError(t, store.Put(t.Context(), "order-42", answer("q1", "1")))
	require.ErrorIs(t, store.Put(t.Context(), "order-42", answer("q1", "1")), journal.ErrAnswered)
	l.breaks.Store(true)
	items, err := store.Items(t.Context(), "order-42")
	require.NoError(t, err)
	assert.Len(t, items, 1)
	l.breaks.Store(true)
	require.NoError(t, log.Close())
	log, err = store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Close())
}

// A server that is away for long may have given a lease to a session that could not be opened, and has not
// heard of the end of another. Neither is renewed for ever.
func TestAJournalThatIsHeldForNobodyIsLetGo(t *testing.T) {
	var l line
	pool := connectBy(t, &l)
	store, err := postgres.New(t.Context(), pool, postgres.Settings{Lease: time.Second})
	require.NoError(t, err)
	defer store.Close()
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	l.down.Store(true)
	require.Error(t, log.Close())
	_, err = store.Open(t.Context(), "order-43")
	require.Error(t, err)
	l.down.Store(false)
	require.Eventually(t, func() bool { return store.Renew(t.Context()) == nil }, 10*time.Second, time.Millisecond, "the connection is made anew")
	require.NoError(t, store.Renew(t.Context()))
	var held int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM retake_session WHERE holder IS NOT NULL`).Scan(&held))
	assert.Zero(t, held)
	log, err = store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Close())
}

// What a store says of a journal that was closed may be refused, or be lost with a server whose standby takes
// over without it. The journal is held for nobody then, and is let go.
func TestAJournalThatIsHeldAgainForNobodyIsLetGo(t *testing.T) {
	var l line
	pool := connectBy(t, &l) // it has one connection
	store := open(t, pool)
	held := func() (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM retake_session WHERE holder IS NOT NULL`).Scan(&n))
		return n
	}
	for name, closes := range map[string]func(*testing.T, journal.Log){
		"refused": func(t *testing.T, log journal.Log) {
			exec(t, pool, `SET default_transaction_read_only = on`)
			require.ErrorIs(t, log.Close(), journal.ErrReadOnly)
			exec(t, pool, `SET default_transaction_read_only = off`)
		},
		"lost": func(t *testing.T, log journal.Log) {
			exec(t, pool, `CREATE TABLE before AS SELECT * FROM retake_session`)
			require.NoError(t, log.Close())
			exec(t, pool, `DELETE FROM retake_session`)
			exec(t, pool, `INSERT INTO retake_session SELECT * FROM before`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := store.Open(t.Context(), name)
			require.NoError(t, err)
			require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
			closes(t, log)
			require.Equal(t, 1, held())
			require.NoError(t, store.Renew(t.Context()))
			assert.Zero(t, held())
		})
	}
}

// A standby that takes over may lack what its primary said was written. Its writer does not go on.
func TestAWriterWhoseLastLinesAreLostIsToldSo(t *testing.T) {
	pool := connect(t, urlOf(t))
	log, err := open(t, pool).Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true))
	exec(t, pool, `DELETE FROM retake_line WHERE at = 4`)
	exec(t, pool, `UPDATE retake_session SET size = 4`)
	err = log.Append(t.Context(), 8, []byte("three\n"), true)
	require.ErrorIs(t, err, journal.ErrConflict)
	require.ErrorContains(t, err, "its end is lost")
	require.NoError(t, log.Close())
}

// A journal that the server refuses to let go of, here for its id, keeps no lease of another from being
// renewed.
func TestALeaseIsRenewedWhateverCannotBeLetGo(t *testing.T) {
	pool := connect(t, urlOf(t))
	store := open(t, pool)
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = store.Open(ctx, "order\x00-43")
	require.Error(t, err, "it may have the journal or not")
	exec(t, pool, `UPDATE retake_session SET until = '-infinity'`)
	require.NoError(t, store.Renew(t.Context()), "it has no row, so there is nothing to let go")
	var held bool
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT until > now() FROM retake_session`).Scan(&held))
	assert.True(t, held)
	require.NoError(t, log.Close())
}

// An owner does not notice that the server was restarted. One whose server stays away gets the error.
func TestASessionOutlivesARestartOfItsServer(t *testing.T) {
	pool := connect(t, urlOf(t))
	log, err := open(t, pool).Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	require.NoError(t, server.Kill())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, log.Append(ctx, 4, []byte("no\n"), true))
	restarted := make(chan error, 1)
	go func() { restarted <- server.Restart() }()
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true))
	require.NoError(t, <-restarted)
	assert.Equal(t, "one\ntwo\n", whole(t, log))
	require.NoError(t, log.Close())
}

// A server that is connected and stops answering is not waited for, even by a run, whose context has no
// deadline.
func TestAServerThatStopsAnsweringIsNotWaitedFor(t *testing.T) {
	var l line
	store, err := postgres.New(t.Context(), connectBy(t, &l), postgres.Settings{Lease: time.Second})
	require.NoError(t, err)
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	store.SetPatience(100 * time.Millisecond)
	l.silent.Store(true)
	ended := make(chan error)
	ctx := context.WithoutCancel(t.Context())
	for n, does := range []func() error{
		func() error { return log.Append(ctx, 4, []byte("two\n"), true) },
		func() error { return log.Replace(ctx, 4, []byte("two\n")) },
		func() error { _, err := store.List(ctx); return err },
		func() error { _, err := store.Open(ctx, "order-43"); return err },
		func() error { return store.Put(ctx, "order-42", answer("q1", "1")) },
		store.Close,
	} {
		go func() { ended <- does() }()
		select {
		case err := <-ended:
			require.ErrorContains(t, err, "the server did not answer within ", n)
		case <-time.After(20 * time.Second):
			t.Fatal("it waits for ever: ", n)
		}
	}
	l.silent.Store(false)
}

// A server whose connections are all taken is one that is away: a place is free again after a moment.
func TestAServerThatIsFullIsWaitedFor(t *testing.T) {
	all := connect(t, urlOf(t))
	open(t, all) // it makes the tables
	exec(t, all, `CREATE ROLE crowd LOGIN CONNECTION LIMIT 1 IN ROLE pg_read_all_data, pg_write_all_data`)
	t.Cleanup(func() { exec(t, all, `DROP OWNED BY crowd; DROP ROLE crowd`) })
	exec(t, all, `GRANT USAGE ON SCHEMA `+all.Config().ConnConfig.RuntimeParams["search_path"]+` TO crowd`)
	cfg := all.Config()
	cfg.ConnConfig.User = "crowd"
	dials, dial := make(chan bool, 100), cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials <- true
		return dial(ctx, network, address)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	log, err := open(t, pool).Open(t.Context(), "order-42")
	require.NoError(t, err)
	pool.Reset()
	var other *pgx.Conn
	require.Eventually(t, func() bool {
		other, err = pgx.ConnectConfig(t.Context(), cfg.ConnConfig)
		return err == nil
	}, 10*time.Second, time.Millisecond, "it takes the only place")
	for range len(dials) {
		<-dials
	}
	appended := make(chan error, 1)
	go func() { appended <- log.Append(t.Context(), 0, []byte("one\n"), true) }()
	for range 3 {
		select {
		case <-dials:
		case err := <-appended:
			t.Fatal("it is not waited for: ", err)
		}
	}
	require.NoError(t, other.Close(t.Context()))
	require.NoError(t, <-appended)
	require.NoError(t, log.Close())
}

// untilHeld returns once commits wait for a standby: the server heeds a new setting after a while.
func untilHeld(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = pool.Exec(t.Context(), `SELECT pg_logical_emit_message(true, 'retake', '')`)
		}()
		for committed := false; !committed; {
			select {
			case <-done:
				committed = true
			default:
			}
			const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
			held, err := pool.Exec(t.Context(), end)
			require.NoError(t, err)
			if held.RowsAffected() > 0 {
				<-done
				return
			}
		}
	}
}

// A commit that waits for a standby is seen before the standby has it. One that was cut off waits on.
func TestWhatNoStandbyHasYetIsNotSaidToBeWritten(t *testing.T) {
	pool := connect(t, urlOf(t))
	store := open(t, pool)
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	setStandbys := func(names string) {
		exec(t, pool, `ALTER SYSTEM SET synchronous_standby_names = '`+names+`'`)
		exec(t, pool, `SELECT pg_reload_conf()`)
	}
	t.Cleanup(func() { setStandbys("") })
	for _, write := range []func() error{
		func() error { return log.Append(t.Context(), 0, []byte("one\n"), true) },
		func() error { return store.Put(t.Context(), "order-42", answer("q1", "1")) },
	} {
		setStandbys("away")
		untilHeld(t, pool)
		written := make(chan error, 1)
		go func() { written <- write() }()
		var pid int32
		waits := func() bool {
			const query = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> $1 LIMIT 1`
			return len(written) > 0 || pool.QueryRow(t.Context(), query, pid).Scan(&pid) == nil
		}
		require.Eventually(t, waits, 10*time.Second, time.Millisecond)
		exec(t, pool, `SELECT pg_terminate_backend($1)`, pid)
		require.Eventually(t, waits, 10*time.Second, time.Millisecond)
		require.Empty(t, written)
		setStandbys("")
		require.NoError(t, <-written)
	}
	assert.Equal(t, "one\n", whole(t, log))
	items, err := store.Items(t.Context(), "order-42")
	require.NoError(t, err)
	assert.Len(t, items, 1)
	require.NoError(t, log.Close())
}
