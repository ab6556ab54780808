package journal_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// A Dir without a name is no empty store: every look says what is missing.
func TestADirWithoutANameIsNamedByEveryLook(t *testing.T) {
	const want = "a Dir needs a name"
	_, err := journal.Dir("").List(t.Context())
	require.ErrorContains(t, err, want)
	_, err = journal.Dir("").Stats(t.Context())
	require.ErrorContains(t, err, want)
	_, err = journal.Dir("").Peek(t.Context(), "order-42")
	require.ErrorContains(t, err, want)
	for _, err := range journal.Summaries(t.Context(), journal.Dir(""), journal.Filter{}, time.Now()) {
		require.ErrorContains(t, err, want)
	}
}

// Nor is no store at all.
func TestNoStoreIsAnErrorAndNoPanic(t *testing.T) {
	const want = "the store is nil: give one, such as a Dir"
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	yes := machine.Response{Question: "q", Verdict: machine.Approve, At: at}
	_, err := journal.Last(t.Context(), nil, "order-42")
	require.ErrorContains(t, err, want)
	_, err = inbox.PutAnswer(t.Context(), nil, "order-42", yes)
	require.ErrorContains(t, err, want)
	require.ErrorContains(t, inbox.Answer(t.Context(), nil, "order-42", yes), want)
	require.ErrorContains(t, inbox.Say(t.Context(), nil, "order-42", session.Words{Text: "Stop.", At: at}), want)
	_, err = inbox.PendingOf(t.Context(), nil, "order-42", at)
	require.ErrorContains(t, err, want)
	errs := 0
	for _, err := range journal.Summaries(t.Context(), nil, journal.Filter{}, at) {
		require.ErrorContains(t, err, want)
		errs++
	}
	for _, err := range inbox.Pending(t.Context(), nil, at) {
		require.ErrorContains(t, err, want)
		errs++
	}
	assert.Equal(t, 2, errs)
}

// A store of one's own that forgets its log is named, too.
func TestAStoreThatReturnsNoLogIsAnError(t *testing.T) {
	_, err := journal.Open(t.Context(), forgetful{}, "order-42", journal.Settings{})
	require.EqualError(t, err, `opening the journal of session "order-42": the store returned neither a log nor an error`)
}

// So is one that forgets the text of a journal.
func TestAStoreThatReturnsNoTextIsAnError(t *testing.T) {
	const want = "the store returned neither a text nor an error"
	store := wordless{journal.Dir(t.TempDir())}
	_, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.EqualError(t, err, `opening the journal of session "order-42": `+want)
	require.ErrorContains(t, journal.Compact(t.Context(), store, "order-42", nil), want)
	_, err = journal.Last(t.Context(), store, "order-42")
	require.EqualError(t, err, `session "order-42": `+want)
}

type (
	wordless    struct{ journal.Dir }
	wordlessLog struct{ journal.Log }
)

func (w wordless) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := w.Dir.Open(ctx, session)
	return wordlessLog{log}, err
}

func (wordless) Peek(context.Context, string) (io.ReadCloser, error) { return nil, nil }

func (wordlessLog) Read(context.Context) (io.ReadCloser, error) { return nil, nil }

type forgetful struct{ journal.Store }

func (forgetful) Open(context.Context, string) (journal.Log, error) { return nil, nil }
