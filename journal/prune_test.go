package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

func TestARetentionSaysWhatIsWrongWithIt(t *testing.T) {
	err := journal.Retention{KeepIDs: -1, Keep: []journal.SessionState{"ended"}}.Validate()
	require.ErrorContains(t, err, "older: must be positive")
	require.ErrorContains(t, err, "keep_ids: must not be negative")
	require.ErrorContains(t, err, `keep: "ended" is no state of a session: give one of [running waiting`)
	require.ErrorContains(t, journal.Prune(t.Context(), journal.Dir(t.TempDir()), journal.Retention{}, time.Now(), nil), "older")
}

// What a process left that died while it compacted a journal has the journal's contents.
func TestADeletedJournalLeavesNothingInItsFolder(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	st, j := tried(t, dir)
	ev := startedNow()
	_, effects := stepOf(t, st, ev)
	require.NoError(t, j.Step(ev, effects, st))
	require.NoError(t, j.Close())
	left := filepath.Join(string(dir), journal.FileName(theSession)+".new")
	require.NoError(t, os.WriteFile(left, []byte("contents"), 0o600))
	require.NoError(t, journal.Delete(t.Context(), dir, theSession))
	files, err := os.ReadDir(string(dir))
	require.NoError(t, err)
	assert.Empty(t, files)
}

func TestAJournalThatCannotBeReadHidesNoOther(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	require.NoError(t, os.WriteFile(filepath.Join(string(dir), "a.jsonl"), []byte("no journal\n"), 0o600))
	st, j := tried(t, dir)
	ev := startedNow()
	_, effects := stepOf(t, st, ev)
	require.NoError(t, j.Step(ev, effects, st))
	require.NoError(t, j.Close())
	text, err := os.ReadFile(filepath.Join(string(dir), journal.FileName(theSession)))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(string(dir), "b.jsonl"), text, 0o600))
	var ids, errs []string
	for s, err := range journal.Summaries(t.Context(), dir, journal.Filter{}, atNoon) {
		if err != nil {
			errs = append(errs, err.Error())
		} else {
			ids = append(ids, s.Session)
		}
	}
	require.NotEmpty(t, errs)
	assert.Contains(t, errs[0], "a.jsonl: ")
	assert.Contains(t, errs[0], "b.jsonl: it is the journal of session")
	assert.Equal(t, []string{theSession}, ids)
}

// Who prunes hears of a journal that cannot be read, also if the context ends before all others were looked
// at.
func TestPruneTellsEveryErrorOfItsStore(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	st, j := tried(t, dir)
	ev := startedNow()
	_, effects := stepOf(t, st, ev)
	require.NoError(t, j.Step(ev, effects, st))
	require.NoError(t, j.Close())
	require.NoError(t, os.WriteFile(filepath.Join(string(dir), "a.jsonl"), []byte("no journal\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	err := journal.Prune(ctx, endsAfterStats{dir, cancel}, journal.Retention{Older: time.Hour}, time.Now(), nil)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "a.jsonl: ")
}

// endsAfterStats cancels a context once a store has told of its journals.
type endsAfterStats struct {
	journal.Dir
	cancel context.CancelFunc
}

func (e endsAfterStats) Stats(ctx context.Context, known ...journal.Stat) ([]journal.Stat, error) {
	defer e.cancel()
	return e.Dir.Stats(ctx, known...)
}

// A payment that may have been made is kept although later requests went well, with an ID or without one, and
// although the journal was compacted: it must not be made again.
func TestASessionStaysWhoseEarlierRequestLeftACallInDoubt(t *testing.T) {
	reset := errors.New("connection reset")
	for _, c := range []struct {
		outcome       error
		id, compacted bool
		gone          int
	}{
		{gone: 1}, {id: true, gone: 1}, {compacted: true, gone: 1}, {id: true, compacted: true, gone: 1},
		{outcome: reset}, {outcome: reset, id: true}, {outcome: reset, compacted: true}, {outcome: reset, id: true, compacted: true},
	} {
		dir := journal.Dir(t.TempDir())
		j, err := journal.Open(t.Context(), dir, theSession, journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{ID: theSession, Journal: j})
		require.NoError(t, err)
		pay := func(context.Context, struct{}) (string, error) { return "paid", c.outcome }
		tools, err := tool.NewSet(tool.New("pay", "Pays.", pay))
		require.NoError(t, err)
		model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: "{}"}),
			looptest.Say("Done."), looptest.Say("Good night."))
		for n, prompt := range []string{"Pay.", "Good night."} {
			in := loop.Input{Prompt: prompt}
			if c.id {
				in.RequestID = fmt.Sprint("request-", n)
			}
			_, err = fixture.Run(t.Context(), model, s, in, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
		}
		require.NoError(t, j.Close())
		if c.compacted {
			require.NoError(t, journal.Compact(t.Context(), dir, theSession, nil))
		}
		gone := 0
		old := looptest.Epoch.Add(1000 * time.Hour)
		require.NoError(t, journal.Prune(t.Context(), dir, journal.Retention{Older: time.Hour}, old, func(p journal.Pruned) bool {
			require.NoError(t, p.Err)
			gone++
			return true
		}))
		assert.Equal(t, c.gone, gone, "%+v", c)
	}
}

// BenchmarkSummarise reads, verifies and folds a journal of 2,000 small steps on one core.
func BenchmarkSummarise(b *testing.B) {
	text := manySteps(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var f journal.Follower
		if err := f.Read(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
		run, err := f.Last()
		if err != nil {
			b.Fatal(err)
		}
		run.Summary(false, atNoon)
	}
}

func TestAnEndInDoubtIsNeverDropped(t *testing.T) {
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	end := journal.Ended{ID: "payment-1", At: now.Add(-48 * time.Hour)}
	r := journal.Retention{Older: time.Hour}
	assert.True(t, r.Drops(&end, now))
	end.Outcome.InDoubt = []machine.CallRef{{}}
	assert.False(t, r.Drops(&end, now))
}
