package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/mail"
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
	_, err = mail.PutAnswer(t.Context(), nil, "order-42", yes)
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
