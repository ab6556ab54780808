package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// same holds the encoder to canon.
func same(t require.TestingT, d Decision) {
	want, err := canon.Marshal(Record{Decision: &d})
	require.NoError(t, err)
	var w writer
	require.NoError(t, w.decision(&d, nil))
	require.Equal(t, string(want), string(w.b))
}

func TestDecisionsOfTheCorpusAreWrittenAsCanonWritesThem(t *testing.T) {
	files, err := filepath.Glob("../testdata/journals/v1/*.jsonl")
	require.NoError(t, err)
	seen := 0
	for _, path := range files {
		if strings.Contains(path, "bad-") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		r := NewReader(bytes.NewReader(text))
		for rec, err := r.Next(); err == nil; rec, err = r.Next() {
			if rec.Decision != nil {
				same(t, *rec.Decision)
				seen++
			}
		}
	}
	assert.Greater(t, seen, 50)
}

func TestDecisionsAreWrittenAsCanonWritesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.SampledFrom([]string{"", "\"\\/\b\f\n\r\t\x00\x7f", "<&>\u2028\u2029", "ä€😀"}), rapid.String()).Draw(t, "text")
		n := rapid.IntRange(-1, 1<<30).Draw(t, "n")
		flag := rapid.Bool().Draw(t, "flag")
		at := machine.Position{Action: text, Attempt: n, MaxAttempts: -1}
		until := time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "s"), int64(n)%1e9)
		if flag {
			until = until.UTC()
		}
		if y := until.UTC().Year(); y < 1 || y > 9998 {
			until = time.Time{}
		}
		calls := []message.Call{{ID: text, Name: text, Arguments: text}, {}}
		d := Decision{Prompt: text, Said: []message.Message{
			{}, {Role: message.Role(text), Text: text, Calls: calls, CallID: text, Name: text, IsError: flag, Opaque: text},
		}, Effects: []machine.Effect{
			{}, {Kind: machine.EffectKind(text), Model: &machine.ModelCall{At: []machine.Position{at, {}}, Model: text, System: text, Turn: n}},
			{Model: &machine.ModelCall{}, Wait: &machine.Wait{Until: until, Delay: time.Duration(n), Plane: fault.Plane(text), Reason: policy.Reason(text)}},
			{Tools: []machine.ToolRun{{Index: n, ID: text, Tool: text, Key: text, Arguments: json.RawMessage(`{"a":1}`)}, {}}},
			{Decision: &machine.Decision{Position: at, Class: fault.Class(text), Retry: flag, Delay: 7, Detail: policy.Detail{Count: n, Wait: 1}}},
			{Decision: &machine.Decision{ReducerError: &fault.ReducerError{Reducer: text}}, Outcome: &machine.Outcome{OK: flag, Text: text}},
			{Exhaustion: &machine.Exhaustion{Position: at, Failure: fault.Failure{Class: "x"}}, Try: &machine.TryRun{Position: at},
				Consultation: &machine.Consultation{Position: at, Failure: fault.Failure{Class: "x"}}},
		}}
		same(t, d)
		for _, m := range d.Said {
			want, err := canon.Marshal(m)
			require.NoError(t, err)
			var w writer
			require.NoError(t, w.said(&m))
			require.Equal(t, string(want), string(w.b))
		}
	})
}

// What has no JSON form is an error here as there.
func TestTextThatIsNoUTF8IsNotWritten(t *testing.T) {
	var w writer
	require.Error(t, w.decision(&Decision{Prompt: "\xff"}, nil))
	require.Error(t, w.decision(&Decision{Effects: []machine.Effect{{Outcome: &machine.Outcome{Text: "\xff"}}}}, nil))
}
