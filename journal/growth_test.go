package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// converse makes several runs of one conversation and returns the journal's text. The history of each run
// is the conversation before it. With fresh, each run is a new process: the journal is opened again, the
// session is new, and the history is a copy.
func converse(t testing.TB, turns int, fresh bool, redact *journal.Redaction) string {
	t.Helper()
	dir := journal.Dir(t.TempDir())
	open := func() *journal.Journal {
		j, err := journal.Open(t.Context(), dir, "chat", journal.Settings{Sync: journal.SyncNever, Redact: redact})
		require.NoError(t, err)
		return j
	}
	newSession := func() *session.Session {
		s, err := session.New(session.Config{ID: "chat"})
		require.NoError(t, err)
		return s
	}
	j, s := open(), newSession()
	var history []message.Message
	for range turns {
		if fresh {
			require.NoError(t, j.Close())
			j, s = open(), newSession()
			history = slices.Clone(history)
		}
		model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
			assert.Equal(t, len(history)+1, len(req.Messages), "the model sees the whole conversation")
			return message.Reply{Text: strings.Repeat("a", 350)}, nil
		})
		in := loop.Input{Prompt: strings.Repeat("q", 350)}
		if fresh {
			in.History = history
		}
		r, err := fixture.Run(t.Context(), model, fixture.In(s, j), in, loop.Config{}, loop.WithClock(looptest.NewClock()))
		require.NoError(t, err)
		history = r.Transcript
	}
	require.NoError(t, j.Close())
	files, err := filepath.Glob(filepath.Join(string(dir), "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	return string(text)
}

func TestAJournalGrowsWithItsConversation(t *testing.T) {
	for name, c := range map[string]struct {
		fresh  bool
		redact *journal.Redaction
	}{
		"one process": {}, "a process each": {fresh: true},
		"redacted": {redact: &journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Result: []string{""}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			once, twice := converse(t, 20, c.fresh, c.redact), converse(t, 40, c.fresh, c.redact)
			assert.Less(t, float64(len(twice)), 2.1*float64(len(once)), "twice the turns, twice the bytes")
			report, err := journal.Replay(strings.NewReader(twice), nil)
			require.NoError(t, err)
			assert.EqualValues(t, 40, report.Runs)
			assert.Equal(t, 39, strings.Count(twice, `"held":`))
		})
	}
}

// BenchmarkGrowth measures conversations of more and more runs, and replies of more and more calls. Time
// and size of each run or call stay the same.
func BenchmarkGrowth(b *testing.B) {
	secret := &journal.Redaction{Tools: map[string]journal.ToolRedaction{"*": {Arguments: []string{"/city"}, Result: []string{""}}}}
	for _, what := range []struct {
		name  string
		write func(b *testing.B, n int) int
	}{
		{"turns", func(b *testing.B, n int) int { return len(converse(b, n, false, nil)) }},
		{"turns_redacted", func(b *testing.B, n int) int { return len(converse(b, n, false, secret)) }},
		{"calls", func(b *testing.B, n int) int { return len(manyCalls(b, n, nil)) }},
		{"calls_redacted", func(b *testing.B, n int) int { return len(manyCalls(b, n, secret)) }},
	} {
		for _, n := range []int{100, 200, 400} {
			b.Run(fmt.Sprintf("%s/%d", what.name, n), func(b *testing.B) {
				size := 0
				for b.Loop() {
					size = what.write(b, n)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/each")
				b.ReportMetric(float64(size)/float64(n), "B/each")
			})
		}
	}
}

// manyCalls is the journal of a run with many calls in one reply.
func manyCalls(t testing.TB, n int, redact *journal.Redaction) []byte {
	set := policy.DefaultSet()
	set.MaxCalls = policy.Unlimited
	calls := make([]message.Call, n)
	for at := range calls {
		calls[at] = call(fmt.Sprint("c", at), fmt.Sprintf(`{"city": "Lisbon", "nights": %d}`, 1+at%30))
	}
	return story{
		cfg: loop.Config{Tools: toolsOf(t, nil), Policy: &set}, model: []looptest.Turn{looptest.Call(calls...), looptest.Say("Booked.")},
		settings: journal.Settings{Sync: journal.SyncNever, Redact: redact},
	}.record(t)
}

// A history that differs from the journal's conversation is recorded as a whole.
func TestAnotherHistoryIsRecordedWhole(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	j, err := journal.Open(t.Context(), dir, "chat", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "chat"})
	require.NoError(t, err)
	var seen []int
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		seen = append(seen, len(req.Messages))
		return message.Reply{Text: "yes"}, nil
	})
	run := func(history []message.Message) []message.Message {
		r, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "and?", History: history, NewConversation: true}, loop.Config{})
		require.NoError(t, err)
		return r.Transcript
	}
	first := run(nil)
	second := run(first)
	run(first) // goes back to what was said before
	run(nil)   // begins anew
	run(append(second, message.Message{Role: message.User, Text: "more"}))
	assert.Equal(t, []int{1, 3, 3, 1, 6}, seen)
	require.NoError(t, j.Close())
	again, err := journal.Open(t.Context(), dir, "chat", journal.Settings{})
	require.NoError(t, err)
	past, err := again.Past()
	require.NoError(t, err)
	assert.Equal(t, 7, past.State.TranscriptLen())
	require.NoError(t, again.Close())
	require.NoError(t, journal.Compact(t.Context(), dir, "chat", nil))
}

// A run under another policy must not copy what the session had before it.
func TestWhatIfTakesTheMemoryOfEachRun(t *testing.T) {
	allocated := func(runs int) float64 {
		dir := journal.Dir(t.TempDir())
		j, err := journal.Open(t.Context(), dir, theSession, journal.Settings{Sync: journal.SyncNever})
		require.NoError(t, err)
		s, err := session.New(session.Config{Journal: j})
		require.NoError(t, err)
		said := []looptest.Turn{looptest.Call(call("c1", `{"city": "Lisbon"}`)), looptest.Say("Booked.")}
		for range runs {
			played(t, looptest.NewModel(said...), s, "Two nights?", loop.Config{Tools: toolsOf(t, nil)}, nil)
		}
		require.NoError(t, j.Close())
		text, err := os.ReadFile(filepath.Join(string(dir), journal.FileName(theSession)))
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o, err := journal.WhatIf{Policy: new(policy.DefaultSet())}.Run(bytes.NewReader(text))
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Len(t, o.Runs, runs)
		require.Equal(t, o.Recorded, o.WhatIf)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	assert.Less(t, allocated(800), 2.2*allocated(400), "twice the runs, twice the memory")
}
