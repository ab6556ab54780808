package journal_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// longJournal is the journal of a run with many calls of a tool and long texts of the model.
func longJournal(t testing.TB, turns, talk int) []byte {
	set := policy.DefaultSet()
	set.MaxTurns = policy.Unlimited
	var script []looptest.Turn
	for n := range turns {
		c := call(fmt.Sprint("c", n), fmt.Sprintf(`{"city": "Lisbon", "nights": %d}`, 1+n%30))
		script = append(script, looptest.Turn{Reply: message.Reply{Text: strings.Repeat("x", talk), Calls: []message.Call{c}, Finish: message.ToolUse}})
	}
	script = append(script, looptest.Say("Booked."))
	text := story{cfg: loop.Config{Tools: toolsOf(t, nil), Policy: &set}, model: script, settings: journal.Settings{Sync: journal.SyncNever}}.record(t)
	return text
}

// BenchmarkReplay replays a run with small records: a call, its result, a call.
func BenchmarkReplay(b *testing.B) {
	text := longJournal(b, 5000, 0)
	lines := float64(bytes.Count(text, []byte("\n")))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, err := journal.Replay(bytes.NewReader(text), nil)
		require.NoError(b, err)
	}
	b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// Attempts are shown nowhere in a replay, so it must not need memory for those of a very long run.
func TestAReplayDropsAttempts(t *testing.T) {
	kept, made, err := journal.KeptAttempts(longJournal(t, 400, 30_000))
	require.NoError(t, err)
	require.Equal(t, 401, made)
	require.Less(t, kept, 200)
}
