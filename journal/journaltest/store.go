package journaltest

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// Store tests stores, also as a [journal.Inbox] and a [journal.Keeper] those that are one. Each call of fresh
// returns a new, empty store.
func Store(t *testing.T, fresh func(t *testing.T) journal.Store) {
	t.Helper()
	each(t, fresh, map[string]func(*testing.T, journal.Store){
		"nothing_is_there_before_the_first_append": testEmpty,
		"what_is_appended_is_read":                 testAppend,
		"a_second_writer_is_refused_by_name":       testSecondWriter,
		"of_many_that_resume_one_does_each_effect": testRace,
		"a_torn_line_is_replaced":                  testTorn,
		"a_journal_is_replaced_whole":              testReplace,
		"sessions_are_listed_in_order":             testList,
		"runs_go_on_in_one_journal":                testRuns,
	})
	if _, has := fresh(t).(journal.Inbox); has {
		t.Run("inbox", func(t *testing.T) { testInbox(t, fresh) })
	}
	if _, has := fresh(t).(journal.Keeper); has {
		t.Run("keeper", func(t *testing.T) { testKeeper(t, fresh) })
	}
}

func open(t *testing.T, s journal.Store, session string) journal.Log {
	t.Helper()
	log, err := s.Open(t.Context(), session)
	require.NoError(t, err)
	t.Cleanup(func() { log.Close() })
	return log
}

func read(t *testing.T, log journal.Log) string {
	t.Helper()
	in, err := log.Read(t.Context())
	return textOf(t, in, err)
}

// textOf returns all that a journal has.
func textOf(t *testing.T, in io.ReadCloser, err error) string {
	t.Helper()
	require.NoError(t, err)
	defer in.Close()
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	return string(text)
}

// each runs tests, each with a new store, which is of a kind.
func each[S any](t *testing.T, fresh func(t *testing.T) journal.Store, tests map[string]func(*testing.T, S)) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := fresh(t)
			require.Implements(t, (*S)(nil), s)
			test(t, s.(S))
		})
	}
}

func testEmpty(t *testing.T, s journal.Store) {
	ids, err := s.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, ids)
	assert.Empty(t, read(t, open(t, s, "order-42")))
}

func testAppend(t *testing.T, s journal.Store) {
	log := open(t, s, "order-42")
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), false))
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\nthree\n"), true))
	assert.Equal(t, "one\ntwo\nthree\n", read(t, log))
	require.NoError(t, log.Close())
	assert.Equal(t, "one\ntwo\nthree\n", read(t, open(t, s, "order-42")),
		"another writer reads it after the first has closed")
}

func testSecondWriter(t *testing.T, s journal.Store) {
	first := open(t, s, "order-42")
	refused := func() {
		t.Helper()
		_, err := s.Open(t.Context(), "order-42")
		require.ErrorIs(t, err, journal.ErrConflict)
		require.ErrorContains(t, err, `"order-42"`)
		require.ErrorIs(t, journal.Compact(t.Context(), s, "order-42", nil), journal.ErrConflict)
	}
	refused()
	require.NoError(t, first.Append(t.Context(), 0, []byte("one\n"), false))
	refused()
	open(t, s, "order-43")
	require.NoError(t, first.Append(t.Context(), 4, []byte("two\n"), false),
		"those that were refused change nothing")
	require.NoError(t, first.Close())
	second := open(t, s, "order-42")
	assert.Equal(t, "one\ntwo\n", read(t, second))
	require.NoError(t, second.Append(t.Context(), 8, []byte("three\n"), false))
}

func testTorn(t *testing.T, s journal.Store) {
	log := open(t, s, "order-42")
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\ntorn off and long"), false))
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), false))
	assert.Equal(t, "one\ntwo\n", read(t, log))
	require.ErrorIs(t, log.Append(t.Context(), 4, []byte("2\n"), false), journal.ErrConflict,
		"a whole line is never replaced")
	require.ErrorIs(t, log.Append(t.Context(), 9, []byte("2\n"), false), journal.ErrConflict,
		"nothing is left out")
	assert.Equal(t, "one\ntwo\n", read(t, log))
}

func testReplace(t *testing.T, s journal.Store) {
	log := open(t, s, "order-42")
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\ntwo\n"), false))
	require.ErrorIs(t, log.Replace(t.Context(), 4, []byte("short\n")), journal.ErrConflict)
	require.NoError(t, log.Replace(t.Context(), 8, []byte("short\n")))
	assert.Equal(t, "short\n", read(t, log))
	require.NoError(t, log.Append(t.Context(), 6, []byte("more\n"), true))
	require.NoError(t, log.Close())
	assert.Equal(t, "short\nmore\n", read(t, open(t, s, "order-42")))
}

// run runs a session in a store.
func run(t *testing.T, s journal.Store, id, say string) {
	t.Helper()
	j, err := journal.Open(t.Context(), s, id, journal.Settings{Sync: journal.SyncRecords})
	require.NoError(t, err)
	defer j.Close()
	held, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	l, err := loop.New(looptest.NewModel(looptest.Say(say)), loop.Config{})
	require.NoError(t, err)
	result, err := l.Run(context.WithoutCancel(t.Context()), held, loop.Input{Prompt: "Hi."})
	require.NoError(t, err)
	assert.Equal(t, say, result.Text)
	assert.Empty(t, result.Warnings)
}

func testList(t *testing.T, s journal.Store) {
	for _, id := range []string{"b", "a/../x", "Ä 1", ".", "order-42"} {
		run(t, s, id, "Hello.")
	}
	ids, err := s.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{".", "a/../x", "b", "order-42", "Ä 1"}, ids)
}

func testRuns(t *testing.T, s journal.Store) {
	for n := range 3 {
		run(t, s, "order-42", fmt.Sprint("Hello ", n))
	}
	require.NoError(t, journal.Compact(t.Context(), s, "order-42", nil))
	run(t, s, "order-42", "Hello again.")
	j, err := journal.Open(t.Context(), s, "order-42", journal.Settings{})
	require.NoError(t, err)
	past, err := j.Past()
	require.NoError(t, err)
	require.NoError(t, j.Close())
	assert.Equal(t, 4, past.State.Session.AttemptCount(), "the session has the attempts of all runs")
}
