package journal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// foreign is a journal of another package.
type foreign struct{}

func (foreign) Session() string { return "order-42" }

func TestAJournalBelongsToItsSession(t *testing.T) {
	j, err := journal.Open(t.Context(), &looptest.Store{}, "order-42", journal.Settings{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, j.Close()) }()
	s, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	assert.Equal(t, "order-42", s.ID())
	of, err := journal.Of(s)
	require.NoError(t, err)
	assert.Same(t, j, of)

	_, err = session.New(session.Config{ID: "order-43", Journal: j})
	require.ErrorContains(t, err, `journal: must be that of session "order-43"; it belongs to session "order-42"`)
	other, err := session.New(session.Config{ID: "order-43"})
	require.NoError(t, err)
	snapshot, err := other.Snapshot()
	require.NoError(t, err)
	_, err = session.Restore(session.Config{Journal: j}, snapshot)
	require.ErrorContains(t, err, "id: must be empty or the id of the state")
	_, err = session.New(session.Config{Journal: (*journal.Journal)(nil)})
	require.ErrorContains(t, err, "journal: must be a journal that was opened, or left out")
}

// What records nothing is an error: a run would be lost without a word.
func TestAJournalOfAnotherPackageIsRefused(t *testing.T) {
	s, err := session.New(session.Config{Journal: foreign{}})
	require.NoError(t, err)
	l, err := loop.New(looptest.NewModel(), loop.Config{})
	require.NoError(t, err)
	for name, run := range map[string]func() error{
		"run":    func() error { _, err := l.Run(t.Context(), s, loop.Input{Prompt: "Hi."}); return err },
		"resume": func() error { _, err := l.Resume(t.Context(), s); return err },
		"tries":  func() error { return tries(t, s) },
	} {
		require.EqualError(t, run(), "journal: that of the session is a journal_test.foreign: open one with journal.Open", name)
	}
}

func tries(t *testing.T, s *session.Session) error {
	t.Helper()
	all := loop.Attempts(t.Context(), s, loop.ToolCall("pay"))
	for range all.All() {
		t.Error("it was tried")
	}
	return all.Err()
}

func TestARunIsResumedFromAJournal(t *testing.T) {
	s, err := session.New(session.Config{})
	require.NoError(t, err)
	l, err := loop.New(looptest.NewModel(), loop.Config{})
	require.NoError(t, err)
	_, err = l.Resume(t.Context(), s)
	require.EqualError(t, err, "loop: there is no journal to resume from: make the session with one (session.Config.Journal)")
	_, err = l.Resume(t.Context(), nil)
	require.EqualError(t, err, "the session is nil: make one with session.New")
	require.NoError(t, session.DriverOf(s).Acquire(), "it is free")
}

// A program that opens a session again and changes it before the next run keeps what the journal has: its
// slices, and with them what counts across runs, such as spending and caps.
func TestANewSessionHasTheStateOfItsJournal(t *testing.T) {
	store := &looptest.Store{}
	cart := session.LogSlice[string]("cart")
	added := session.On(cart, "added", "cart.added", reducer.Appending[string]())
	l, err := loop.New(loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		return message.Reply{Text: "Fine."}, nil
	}), loop.Config{})
	require.NoError(t, err)
	seen := func(s *session.Session) (items []string) {
		for _, item := range session.View(s.State(), cart).All() {
			items = append(items, item)
		}
		return items
	}
	for day, want := range [][]string{{"lamp"}, {"lamp", "chair"}, {"lamp", "chair", "table"}} {
		j, err := journal.Open(t.Context(), store, "cart-7", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{Journal: j, Slices: []session.Declared{cart}, Reducers: []session.Reducer{added}})
		require.NoError(t, err)
		assert.ElementsMatch(t, want[:day], seen(s), "before the run of day %d", day)
		assert.Len(t, s.State().Attempts(), day)
		e, err := session.NewEvent("added", want[day])
		require.NoError(t, err)
		require.NoError(t, s.Dispatch(e))
		_, err = l.Run(t.Context(), s, loop.Input{Prompt: "Go on."})
		require.NoError(t, err)
		assert.Equal(t, want, seen(s), "after the run of day %d", day)
		require.NoError(t, j.Close())
	}

	j, err := journal.Open(t.Context(), store, "cart-7", journal.Settings{})
	require.NoError(t, err)
	_, err = session.New(session.Config{Journal: j})
	require.EqualError(t, err, `session config: slices: declare those of the journal: slice "cart": unknown slice`)
	require.NoError(t, j.Close())
}

// A run that waits for days goes on with its own state. A change in between would be lost.
func TestNothingIsChangedBesideARunThatWasLeft(t *testing.T) {
	store, cart := &looptest.Store{}, session.StateSlice[string]("cart")
	open := func() (*journal.Journal, *session.Session) {
		j, err := journal.Open(t.Context(), store, "cart-7", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{Journal: j, Slices: []session.Declared{cart},
			Reducers: []session.Reducer{session.On(cart, "added", "cart.added", reducer.Latest[string]())}})
		require.NoError(t, err)
		return j, s
	}
	ctx, leave := context.WithCancelCause(t.Context())
	l, err := loop.New(loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		leave(loop.ErrSuspended)
		return message.Reply{Text: "Fine."}, nil
	}), loop.Config{})
	require.NoError(t, err)
	j, s := open()
	_, err = l.Run(ctx, s, loop.Input{Prompt: "Go on."})
	require.ErrorIs(t, err, loop.ErrSuspended)
	require.NoError(t, j.Close())

	j, s = open()
	lamp, err := session.NewEvent("added", "lamp")
	require.NoError(t, err)
	snapshot, err := s.Snapshot()
	require.NoError(t, err)
	for _, err := range []error{s.Dispatch(lamp), s.RestoreSlices(snapshot)} {
		require.EqualError(t, err, "session: a run of its journal was left to be resumed, and goes on with its own state: finish it first, with Loop.Resume or the same call")
	}
	_, err = l.Resume(t.Context(), s)
	require.NoError(t, err)
	require.NoError(t, s.Dispatch(lamp))
	require.NoError(t, s.RestoreSlices(snapshot))
	require.NoError(t, j.Close())
}
