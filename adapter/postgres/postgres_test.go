package postgres_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/limit/limittest"
)

func TestStore(t *testing.T) {
	journaltest.Store(t, func(t *testing.T) journal.Store { return open(t, connect(t, urlOf(t))) })
}

// Who has a pooler that gives out transactions makes statements by one of these modes.
func TestAStoreThatPreparesNoStatements(t *testing.T) {
	for _, mode := range []string{"exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			url := func(t *testing.T) string { return urlOf(t) + "&default_query_exec_mode=" + mode }
			journaltest.Store(t, func(t *testing.T) journal.Store { return open(t, connect(t, url(t))) })
			limittest.Store(t, func(t *testing.T) limiter.Store {
				limits, err := postgres.NewLimits(t.Context(), connect(t, url(t)))
				require.NoError(t, err)
				return limits
			})
		})
	}
}

// A connection that has lost its prepared statements is one of a pooler that gives out transactions.
func TestAPoolerThatForgetsStatementsIsNamed(t *testing.T) {
	var l line
	pool := connectBy(t, &l)
	log, err := open(t, pool).Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	_, err = pool.Exec(t.Context(), `DEALLOCATE ALL`, pgx.QueryExecModeExec)
	require.NoError(t, err)
	require.ErrorContains(t, log.Append(t.Context(), 4, []byte("two\n"), true), "default_query_exec_mode=exec")
}

func TestASealedStore(t *testing.T) {
	key, err := sealed.AES(bytes.Repeat([]byte("k"), sealed.MinKey))
	require.NoError(t, err)
	journaltest.Store(t, func(t *testing.T) journal.Store {
		s, err := sealed.New(open(t, connect(t, urlOf(t))), key)
		require.NoError(t, err)
		return s
	})
}

func answer(key, body string) journal.Item {
	return journal.Item{Kind: journal.AnswerItem, Key: key, Body: json.RawMessage(body), By: "Ada", At: time.Unix(1e9, 0)}
}

// whole reads a journal.
func whole(t *testing.T, log journal.Log) string {
	t.Helper()
	in, err := log.Read(t.Context())
	require.NoError(t, err)
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, in.Close())
	return string(text)
}

func TestManyThatBeginAtOnceMakeTheTablesOnce(t *testing.T) {
	pool := connect(t, urlOf(t))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := postgres.New(context.Background(), pool, postgres.Settings{})
			if assert.NoError(t, err) {
				assert.NoError(t, s.Close())
			}
		})
	}
	wg.Wait()
}

func TestTheReadmeHasTheSchema(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	assert.Contains(t, string(text), "```sql\n"+postgres.Schema+"```")
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	_, err := postgres.New(t.Context(), nil, postgres.Settings{})
	require.EqualError(t, err, "postgres: the pool is nil: make one with pgxpool.New")
	url := urlOf(t)
	_, err = postgres.New(t.Context(), connect(t, url+"&synchronous_commit=off"), postgres.Settings{})
	require.ErrorContains(t, err, "synchronous_commit is off")
	_, err = postgres.New(t.Context(), connect(t, url+"&default_transaction_isolation=serializable"), postgres.Settings{})
	require.ErrorContains(t, err, "default_transaction_isolation is serializable")
	_, err = postgres.New(t.Context(), connect(t, url+"&default_transaction_read_only=on"), postgres.Settings{})
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.ErrorContains(t, err, "making the tables")
	_, err = postgres.New(t.Context(), connect(t, server.URL("search_path", "nowhere")), postgres.Settings{})
	require.ErrorContains(t, err, "the role may use no schema of its search_path")
	_, err = postgres.New(t.Context(), connect(t, url), postgres.Settings{ReadOnly: true})
	require.EqualError(t, err, "postgres: the database has no tables of a store in its search path")
	for _, d := range []time.Duration{-1, time.Millisecond, 2 * time.Hour} {
		_, err := postgres.New(t.Context(), connect(t, url), postgres.Settings{Lease: d})
		require.EqualError(t, err, fmt.Sprintf("postgres: lease: must be 1s to 1h0m0s, or 0 for 15s, not %v", d))
	}
}

// A reader sees what the owner appends, and keeps nobody out.
func TestJournalsAreReadBesideTheirOwners(t *testing.T) {
	url := urlOf(t)
	log, err := open(t, connect(t, url)).Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	reader, err := postgres.New(t.Context(), connect(t, url+"&default_transaction_read_only=on"), postgres.Settings{ReadOnly: true})
	require.NoError(t, err)
	beside, err := reader.Open(t.Context(), "order-42")
	require.NoError(t, err)
	assert.Equal(t, "one\n", whole(t, beside))
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true))
	assert.Equal(t, "one\ntwo\n", whole(t, beside))
	for _, err := range []error{
		beside.Append(t.Context(), 8, []byte("three\n"), true), beside.Replace(t.Context(), 8, nil),
		reader.Put(t.Context(), "order-42", answer("q1", "1")), reader.Remove(t.Context(), "order-42", answer("q1", "1")),
	} {
		require.ErrorIs(t, err, journal.ErrReadOnly)
	}
	require.NoError(t, beside.Close())
	require.NoError(t, reader.Close())
	require.NoError(t, log.Append(t.Context(), 8, []byte("three\n"), true), "no lease was taken")
}

// A role that may only read gets the error of a journal that can only be read.
func TestAServerThatLetsNothingBeWrittenSaysSo(t *testing.T) {
	url := urlOf(t)
	open(t, connect(t, url))
	s, err := postgres.New(t.Context(), connect(t, url+"&default_transaction_read_only=on"), postgres.Settings{})
	require.NoError(t, err)
	_, err = s.Open(t.Context(), "order-42")
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.ErrorContains(t, err, `session "order-42"`)
	require.ErrorIs(t, s.Put(t.Context(), "order-42", answer("q1", "1")), journal.ErrReadOnly)
	require.ErrorIs(t, s.Close(), journal.ErrReadOnly)
}

// filled has a journal that is read in several chunks.
func filled(t *testing.T, pool *pgxpool.Pool) (log journal.Log, text string) {
	t.Helper()
	log, err := open(t, pool).Open(t.Context(), "order-42")
	require.NoError(t, err)
	for n := range 5 {
		line := strings.Repeat(fmt.Sprint(n), 700_000) + "\n"
		require.NoError(t, log.Append(t.Context(), int64(len(text)), []byte(line), false))
		text += line
	}
	return log, text
}

func TestALongJournalIsReadInChunks(t *testing.T) {
	log, text := filled(t, connect(t, urlOf(t)))
	assert.True(t, text == whole(t, log))
}

// Who follows a journal goes on where it stopped, and does not read what is between.
func TestAJournalIsReadFromAnOffset(t *testing.T) {
	pool := connect(t, urlOf(t))
	_, text := filled(t, pool)
	in, err := open(t, pool).Peek(t.Context(), "order-42")
	require.NoError(t, err)
	exec(t, pool, `DELETE FROM retake_line WHERE at = 700001 OR at = 2 * 700001`)
	seeker, can := in.(io.ReadSeeker)
	require.True(t, can)
	for _, from := range []int{4*700_001 + 3, len(text), 3 * 700_001} {
		at, err := seeker.Seek(int64(from), io.SeekStart)
		require.NoError(t, err)
		assert.EqualValues(t, from, at)
		rest, err := io.ReadAll(in)
		require.NoError(t, err)
		assert.True(t, text[from:] == string(rest), "from %d", from)
	}
	_, err = seeker.Seek(2*700_001, io.SeekStart)
	require.ErrorIs(t, err, journal.ErrCorrupt)
	_, err = seeker.Seek(-1, io.SeekEnd)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = seeker.Seek(int64(len(text))+1, io.SeekStart)
	require.ErrorIs(t, err, io.EOF)
}

func TestARowThatIsMissingIsCorruption(t *testing.T) {
	for change, at := range map[string]int64{
		`DELETE FROM retake_line WHERE at = 0`:                                          2 * 700_001,
		`DELETE FROM retake_line WHERE at = 700001`:                                     1,
		`DELETE FROM retake_line WHERE at = 4 * 700001`:                                 4,
		`UPDATE retake_line SET lines = substr(lines, 1, 700000) WHERE at = 2 * 700001`: 3,
	} {
		pool := connect(t, urlOf(t))
		log, _ := filled(t, pool)
		exec(t, pool, change)
		in, err := log.Read(t.Context())
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		var corrupt *journal.CorruptError
		require.ErrorAs(t, err, &corrupt, "%d", at)
		assert.Len(t, text, int(corrupt.Offset))
		assert.Equal(t, int64(strings.Count(string(text), "\n"))+1, corrupt.Line)
		assert.Contains(t, corrupt.Why, "missing or was changed")
		require.ErrorContains(t, err, `session "order-42"`)
	}
}

// Sessions are found by their state, and by when they are due.
func TestSessionsAreListedByStateAndDueTime(t *testing.T) {
	store := open(t, connect(t, urlOf(t)))
	for n, steps := range []int{20, 1, 2} {
		for range steps {
			if ended, err := journaltest.Drive(store, fmt.Sprint("order-", n), func(string) {}); ended {
				require.NoError(t, err)
				break
			}
		}
	}
	states := func(f journal.Filter) (ids []string) {
		for s, err := range journal.Summaries(t.Context(), store, f, time.Now()) {
			require.NoError(t, err)
			ids = append(ids, s.Session)
		}
		return ids
	}
	assert.Equal(t, []string{"order-1", "order-2"}, states(journal.Filter{States: []journal.SessionState{journal.SessionInterrupted}}))
	assert.Equal(t, []string{"order-0"}, states(journal.Filter{States: []journal.SessionState{journal.SessionDone}}))
	assert.Empty(t, states(journal.Filter{After: time.Now().Add(time.Hour)}))
}
