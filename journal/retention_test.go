package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// ended makes a run of a session in a store, for a request if that has an id.
func ended(t *testing.T, s journal.Store, id, requestID string) {
	t.Helper()
	j, err := journal.Open(t.Context(), s, id, journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	held, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	result, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Hello.")), held,
		loop.Input{Prompt: "Hi.", RequestID: requestID}, loop.Config{})
	require.NoError(t, err)
	assert.Zero(t, result.Recorded, "it is a run of its own")
}

// held holds the journal of a session until done is called.
func held(t *testing.T, s journal.Store, id string) (done func()) {
	t.Helper()
	log, err := s.Open(t.Context(), id)
	require.NoError(t, err)
	return func() { assert.NoError(t, log.Close()) }
}

// forgotten are the sessions that transcripts have forgotten.
type forgotten []string

func (f *forgotten) Forget(_ context.Context, session string) error {
	*f = append(*f, session)
	return nil
}

// summaries returns what a filter takes.
func summaries(t *testing.T, k journal.Keeper, f journal.Filter, now time.Time) (all []journal.Summary) {
	t.Helper()
	for s, err := range journal.Summaries(t.Context(), k, f, now) {
		require.NoError(t, err)
		all = append(all, s)
	}
	return all
}

// unfinished begins a run in a store and leaves it.
func unfinished(t *testing.T, k journal.Keeper, session string) {
	t.Helper()
	ended, err := journaltest.Drive(k, session, func(string) {})
	require.NoError(t, err)
	require.False(t, ended)
}

// Sessions are listed by how they are and how old.
func TestSessionsAreSummarised(t *testing.T) {
	k := journal.Dir(t.TempDir())
	ended(t, k, "done", "")
	unfinished(t, k, "left")
	unfinished(t, k, "runs")
	defer held(t, k, "runs")()
	now := time.Now().Add(time.Hour)
	states := map[string]journal.SessionState{}
	for _, s := range summaries(t, k, journal.Filter{}, now) {
		states[s.Session] = s.State
		assert.False(t, s.Since.IsZero())
		assert.False(t, s.Last.Before(s.Since))
		assert.Equal(t, 1, s.Turns)
	}
	assert.Equal(t, map[string]journal.SessionState{"done": journal.SessionDone,
		"left": journal.SessionInterrupted, "runs": journal.SessionRuns}, states)
	open := journal.Filter{States: []journal.SessionState{journal.SessionRuns, journal.SessionInterrupted}}
	assert.Len(t, summaries(t, k, open, now), 2)
	assert.Len(t, summaries(t, k, journal.Filter{Before: now}, now), 3)
	assert.Empty(t, summaries(t, k, journal.Filter{After: now}, now))
}

// What the calls of a run cost is summed up at the prices of its policy.
func TestASummarySaysWhatARunCost(t *testing.T) {
	k, set := journal.Dir(t.TempDir()), policy.DefaultSet()
	set.Prices = policy.Prices{"m": {Input: 3_000_000}}
	j, err := journal.Open(t.Context(), k, "priced", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	reply := message.Reply{Text: "Hello.", Model: "m", Usage: message.Usage{InputTokens: 100, APICalls: 1}}
	_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Turn{Reply: reply}), s, loop.Input{Prompt: "Hi."}, loop.Config{Policy: &set})
	require.NoError(t, err)
	all := summaries(t, k, journal.Filter{}, time.Now())
	require.Len(t, all, 1)
	assert.Equal(t, []int64{100, 300}, []int64{all[0].Tokens, all[0].Cost})
}

// prune prunes a store and returns the ids of what went. Those that should have gone are in kept.
func prune(t *testing.T, k journal.Keeper, r journal.Retention, now time.Time) (gone, kept []string) {
	t.Helper()
	require.NoError(t, journal.Prune(context.WithoutCancel(t.Context()), k, r, now, func(p journal.Pruned) bool {
		if p.Err != nil {
			kept = append(kept, p.Session)
			assert.True(t, errors.Is(p.Err, journal.ErrConflict), "%v", p.Err)
			return true
		}
		assert.Len(t, p.Hash, 32)
		gone = append(gone, p.Session)
		return true
	}))
	return gone, kept
}

// Old ends are pruned and nothing else.
func TestOldEndsArePrunedAndNothingElse(t *testing.T) {
	k := journal.Dir(t.TempDir())
	ended(t, k, "done-1", "")
	ended(t, k, "done-2", "")
	unfinished(t, k, "left")
	now := time.Now()
	gone, _ := prune(t, k, journal.Retention{Older: time.Hour}, now)
	assert.Empty(t, gone, "they are young")
	later := now.Add(2 * time.Hour)
	gone, _ = prune(t, k, journal.Retention{Older: time.Hour, Keep: []journal.SessionState{journal.SessionDone}},
		later)
	assert.Empty(t, gone, "their state is kept")
	done := held(t, k, "done-1")
	item := journal.Item{Kind: journal.AnswerItem, Key: "q1", Body: json.RawMessage("1"), At: now}
	require.NoError(t, k.Put(t.Context(), "done-2", item))
	gone, kept := prune(t, k, journal.Retention{Older: time.Hour}, later)
	assert.Empty(t, gone, "one has an item that nobody took")
	assert.Equal(t, []string{"done-1"}, kept, "a held journal is refused")
	require.NoError(t, k.Remove(t.Context(), "done-2", item))
	done()
	left := new(forgotten)
	gone, kept = prune(t, k, journal.Retention{Older: time.Hour, Transcripts: left}, later)
	assert.Equal(t, []string{"done-1", "done-2"}, gone)
	assert.Empty(t, kept)
	assert.Equal(t, gone, []string(*left), "with what was left out of them")
	all, err := k.Stats(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, "left", all[0].Session, "a run that has not ended stays")
}

// A retention drops old ends of requests when a journal is compacted.
func TestARetentionDropsOldEnds(t *testing.T) {
	s := journal.Dir(t.TempDir())
	ended(t, s, "order-42", "payment-1")
	ended(t, s, "order-42", "payment-2")
	compact := func(r journal.Retention, age time.Duration) *journal.Ended {
		t.Helper()
		require.NoError(t, journal.CompactKeeping(t.Context(), s, "order-42", nil, r, time.Now().Add(age)))
		j, err := journal.Open(t.Context(), s, "order-42", journal.Settings{})
		require.NoError(t, err)
		end, err := j.Answered("payment-1")
		require.NoError(t, err)
		require.NoError(t, j.Close())
		return end
	}
	const day = 24 * time.Hour
	assert.NotNil(t, compact(journal.Retention{Older: day}, day/2), "it is young")
	assert.NotNil(t, compact(journal.Retention{Older: day, KeepIDs: 90 * day}, 2*day), "ids are kept for longer")
	assert.NotNil(t, compact(journal.Retention{Older: day, Keep: []journal.SessionState{journal.SessionDone}},
		2*day), "its state is kept")
	assert.Nil(t, compact(journal.Retention{Older: day}, 2*day))
	require.ErrorContains(t, journal.CompactKeeping(t.Context(), s, "order-42", nil, journal.Retention{},
		time.Now()), "older: must be positive")
	ended(t, s, "order-42", "payment-1")
}
