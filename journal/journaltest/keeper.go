package journaltest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// testKeeper tests stores that are a [journal.Keeper], and whose journals can be deleted. Each call of fresh
// returns a new, empty store.
func testKeeper(t *testing.T, fresh func(t *testing.T) journal.Store) {
	t.Helper()
	each(t, fresh, map[string]func(*testing.T, journal.Keeper){
		"journals_are_listed_and_read_beside_their_writers": testPeek,
		"a_deleted_journal_is_gone":                         testDelete,
		"what_is_left_of_a_session_is_deleted":              testDeleteRest,
		"a_held_journal_is_not_deleted":                     testDeleteHeld,
		"what_a_pool_has_ended_is_held_by_nobody":           testPoolEnds,
	})
}

func stats(t *testing.T, k journal.Keeper) []journal.Stat {
	t.Helper()
	all, err := k.Stats(t.Context())
	require.NoError(t, err)
	return all
}

func peek(t *testing.T, k journal.Keeper, session string) string {
	t.Helper()
	in, err := k.Peek(t.Context(), session)
	return textOf(t, in, err)
}

// seek returns a journal from an offset on, if the store can say that; else the whole without what is before.
func seek(t *testing.T, k journal.Keeper, session string, from int) string {
	t.Helper()
	in, err := k.Peek(t.Context(), session)
	require.NoError(t, err)
	if s, can := in.(io.Seeker); can {
		at, err := s.Seek(int64(from), io.SeekStart)
		require.NoError(t, err)
		require.EqualValues(t, from, at)
		from = 0
	}
	return textOf(t, in, nil)[from:]
}

func testPeek(t *testing.T, k journal.Keeper) {
	assert.Empty(t, stats(t, k))
	_, err := k.Peek(t.Context(), "order-42")
	require.ErrorIs(t, err, journal.ErrNoRun)
	run(t, k, "order-43", "Hello.")
	run(t, k, "order-42", "Hello.")
	whole := peek(t, k, "order-42")
	log := open(t, k, "order-42")
	for range 2 {
		all := stats(t, k)
		require.Len(t, all, 2)
		assert.Equal(t, "order-42", all[0].Session)
		assert.Positive(t, all[0].Bytes)
		assert.True(t, all[0].Held)
		assert.False(t, all[1].Held, "looking holds nothing")
	}
	before := stats(t, k)
	require.NoError(t, log.Append(t.Context(), int64(len(whole)), []byte("more\n"), false))
	now := stats(t, k)
	assert.Greater(t, now[0].Bytes, before[0].Bytes, "as it is stored, which need not be as it is read")
	since, err := k.Stats(t.Context(), append(before, journal.Stat{Session: "gone", Bytes: 1})...)
	require.NoError(t, err)
	assert.Equal(t, now, since, "what is known hides no change")
	assert.Equal(t, whole+"more\n", peek(t, k, "order-42"))
	for _, from := range []int{0, 10, strings.Index(whole, "\n") + 1, len(whole), len(whole) + 5} {
		assert.Equal(t, (whole + "more\n")[from:], seek(t, k, "order-42", from))
	}
	require.NoError(t, log.Close())
	assert.False(t, stats(t, k)[0].Held)
	require.NoError(t, open(t, k, "order-43").Close(), "nobody was kept out")
}

// forgets are transcripts that forget sessions, unless they cannot.
type forgets struct {
	err  error
	gone []string
}

func (f *forgets) Forget(_ context.Context, session string) error {
	if f.err == nil {
		f.gone = append(f.gone, session)
	}
	return f.err
}

func testDelete(t *testing.T, k journal.Keeper) {
	run(t, k, "order-42", "Hello.")
	run(t, k, "order-43", "Hello.")
	kept := peek(t, k, "order-43")
	left := &forgets{err: errors.New("the disk is read-only")}
	require.ErrorContains(t, journal.Delete(t.Context(), k, "order-42", left),
		"left out of it: the disk is read-only")
	assert.Len(t, stats(t, k), 2, "what is left of a session can be found by its journal")
	left.err = nil
	require.NoError(t, journal.Delete(t.Context(), k, "order-42", left))
	assert.Equal(t, []string{"order-42"}, left.gone)
	assert.Len(t, stats(t, k), 1)
	require.ErrorIs(t, journal.Delete(t.Context(), k, "order-42"), journal.ErrNoRun)
	assert.Equal(t, kept, peek(t, k, "order-43"))
	run(t, k, "order-42", "Hello again.")
	assert.Contains(t, peek(t, k, "order-42"), "Hello again.")
	if inbox, has := k.(journal.Inbox); has {
		put(t, inbox, "order-42", answer("q1", "1"))
		require.NoError(t, journal.Delete(t.Context(), k, "order-42"))
		assert.Empty(t, withItems(t, inbox))
	}
}

// testDeleteRest tests what is left of a session without a journal: an item that came too late, and the
// beginning of a first line.
func testDeleteRest(t *testing.T, k journal.Keeper) {
	log := open(t, k, "order-42")
	require.NoError(t, log.Append(t.Context(), 0, []byte("a secret that is torn"), false))
	require.NoError(t, log.Close())
	inbox, has := k.(journal.Inbox)
	if has {
		put(t, inbox, "order-42", answer("q1", "1"))
	}
	left := &forgets{}
	require.ErrorIs(t, journal.Delete(t.Context(), k, "order-42", left), journal.ErrNoRun)
	assert.Equal(t, []string{"order-42"}, left.gone)
	assert.Empty(t, read(t, open(t, k, "order-42")))
	if has {
		assert.Empty(t, withItems(t, inbox))
	}
}

func testDeleteHeld(t *testing.T, k journal.Keeper) {
	run(t, k, "order-42", "Hello.")
	whole := peek(t, k, "order-42")
	log := open(t, k, "order-42")
	require.ErrorIs(t, journal.Delete(t.Context(), k, "order-42"), journal.ErrConflict)
	require.ErrorIs(t, log.Replace(t.Context(), 1, nil), journal.ErrConflict,
		"another writer wrote what is deleted")
	assert.Equal(t, whole, peek(t, k, "order-42"))
	require.NoError(t, log.Replace(t.Context(), int64(len(whole)), nil))
	require.Error(t, log.Append(t.Context(), 0, []byte("one\n"), false), "only Close may follow")
	require.NoError(t, log.Close())
	assert.Empty(t, stats(t, k))
}

// testPoolEnds tests that a pool holds no journal of a session whose run has ended, although the journal is
// open for the next run.
func testPoolEnds(t *testing.T, k journal.Keeper) {
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		return message.Reply{Text: "Hello.", Finish: message.Stop}, nil
	})
	var ends []error
	p, err := loop.NewPool(loop.PoolConfig{Model: model,
		Done: func(_ *session.Session, _ loop.Result, err error) { ends = append(ends, err) }})
	require.NoError(t, err)
	next := func(s *session.Session, say string) error {
		if _, err := p.Add(s, loop.Input{Prompt: say}); err != nil {
			return err
		}
		require.NoError(t, p.Run(t.Context(), 1))
		return ends[len(ends)-1]
	}
	sessions := map[string]*session.Session{}
	for _, id := range []string{"goes", "stays", "compacted", "other"} {
		j, err := journal.Open(t.Context(), k, id, journal.Settings{})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, j.Close()) })
		sessions[id], err = session.New(session.Config{ID: id, Journal: j})
		require.NoError(t, err)
		require.NoError(t, next(sessions[id], "Hello."))
	}
	for _, s := range stats(t, k) {
		assert.False(t, s.Held, s.Session)
	}
	now := time.Now()
	retention := journal.Retention{Older: time.Nanosecond}
	require.NoError(t, journal.Prune(t.Context(), k, retention, now.Add(time.Hour), func(p journal.Pruned) bool {
		require.NoError(t, p.Err)
		return p.Session == "goes"
	}))
	_, err = k.Peek(t.Context(), "goes")
	require.ErrorIs(t, err, journal.ErrNoRun)
	require.NoError(t, journal.Compact(t.Context(), k, "compacted", nil))
	run(t, k, "other", "Hello?")

	require.NoError(t, next(sessions["stays"], "And now?"), "a look changes nothing")
	require.NoError(t, next(sessions["compacted"], "And now?"), "it goes on after its snapshot")
	for _, id := range []string{"goes", "other"} {
		require.ErrorIs(t, next(sessions[id], "And now?"), journal.ErrConflict, id)
	}
	_, err = k.Peek(t.Context(), "goes")
	require.ErrorIs(t, err, journal.ErrNoRun, "it does not come back")
	assert.Len(t, stats(t, k), 3)
}
