package journal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
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
