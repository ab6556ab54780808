package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// kept returns a journal of testdata.
func kept(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(v1, name+".jsonl"))
	require.NoError(t, err)
	return text
}

func replay(text []byte) (journal.Report, error) {
	return journal.Replay(bytes.NewReader(text), nil)
}

// differenceIn returns the difference that a replay finds.
func differenceIn(t *testing.T, text []byte) *journal.DifferenceError {
	t.Helper()
	_, err := replay(text)
	d, ok := errors.AsType[*journal.DifferenceError](err)
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, err, journal.ErrDiffers)
	return d
}

// A difference names each member that is another, in the order of their paths.
func TestADifferenceNamesWhatIsAnother(t *testing.T) {
	for name, tt := range map[string]struct{ from, old, with, path string }{
		"a limit": {"exhausted", `"max_attempts":2,"origins"`, `"max_attempts":3,"origins"`,
			"/effects/0/model/at/0/max_attempts"},
		"a stop that was a retry": {"exhausted", `"retry":false,"delay_ns":0,"reason":"attempts_exhausted"`,
			`"retry":true,"delay_ns":0,"reason":"immediate"`, "/effects/0/decision/reason"},
		"a delay": {"corrected", `"retry":true,"delay_ns":1150280746`, `"retry":true,"delay_ns":1150280747`,
			"/effects/0/decision/delay_ns"},
		"a seed": {"corrected", `"seed":"7"`, `"seed":"8"`, "/effects/0/decision/delay_ns"},
		"a server's wait": {"transport_wait", `"reason":"retry_after"`, `"reason":"backoff"`,
			"/effects/0/decision/reason"},
		"a limit of a tool's tries": {"parallel_tools", `"budgets":`,
			`"tool_transport":{"book_room":{"max_attempts":1}},"budgets":`, "/effects/0/decision/retry"},
		"a system prompt": {"corrected", `"system":"{{with feedback}}{{.}}{{end}}"`,
			`"system":"{{with feedback}}{{.}}{{end}}."`, "/effects/0/model/system"},
		"feedback that was not given": {"exhausted", `"budgets":`,
			`"answer":{"emit_feedback":true},"tools":{"book_room":{"emit_feedback":false}},"budgets":`,
			"/effects/0/decision/feedback"},
	} {
		t.Run(name, func(t *testing.T) {
			d := differenceIn(t, edited(t, kept(t, tt.from), tt.old, tt.with))
			var paths []string
			for _, c := range d.Changes {
				paths = append(paths, c.Path)
			}
			assert.Contains(t, paths, tt.path)
			assert.IsIncreasing(t, paths)
			assert.Contains(t, d.Explain(), tt.path)
		})
	}
}

func TestADifferenceSaysWhereItIs(t *testing.T) {
	d := differenceIn(t, kept(t, "bad-decision-changed"))
	assert.Equal(t, int64(5), d.Line)
	assert.Equal(t, int64(2), d.Event)
	assert.Equal(t, machine.Replied, d.Kind)
	assert.Equal(t, machine.Position{Action: "book_room", Attempt: 1, MaxAttempts: 3}, d.Position)
	assert.Equal(t, fault.Correction, d.Plane)
}

// A long text is shown from a little before the first difference.
func TestALongTextIsShownWhereItDiffers(t *testing.T) {
	same := strings.Repeat("ä", 500)
	c := journal.Change{Path: "/said/0/text", Was: `"` + same + "one" + same + `"`, Now: `"` + same + "two" + same + `"`}
	text := c.String()
	assert.Less(t, len(text), 400)
	assert.Contains(t, text, "äone")
	assert.Contains(t, text, "ätwo")
	assert.True(t, strings.ToValidUTF8(text, "") == text, "no character is cut in two")
}

func TestAnEventThatDoesNotFitAnyMoreIsADifference(t *testing.T) {
	_, err := replay(kept(t, "bad-event-misfit"))
	require.ErrorIs(t, err, journal.ErrDiffers)
	assert.ErrorContains(t, err, "line 6")
	_, ok := errors.AsType[*machine.EventError](err)
	assert.True(t, ok, "the reason is there")

	_, err = replay(edited(t, kept(t, "corrected"), `"max_turns":100`, `"max_turns":0`))
	require.ErrorIs(t, err, journal.ErrDiffers)
	assert.ErrorContains(t, err, "line 1: the header is refused now: config: policy: max_turns")
}

// A record that no writer makes is corrupt and named with its line.
func TestRecordsInAnOrderThatCannotBeAreCorrupt(t *testing.T) {
	all := recordsOf(t, kept(t, "corrected"))
	for name, tt := range map[string]struct {
		records [][]byte
		want    string
	}{
		"no header":     {all[1:], "line 1 (offset 0): a journal begins with a header"},
		"two decisions": {[][]byte{all[0], all[1], all[2], all[2]}, "line 4"},
		"two events":    {[][]byte{all[0], all[1], all[1]}, "line 3"},
		"another run":   {[][]byte{all[0], all[1], all[2], all[0]}, "a run begins before the previous one has ended"},
		"two kinds":     {[][]byte{[]byte(`{"event":{},"note":{}}`)}, "exactly one|must have one of"},
		"an empty one":  {[][]byte{[]byte(`{}`)}, "must have one of"},
		"a bare effect": {
			[][]byte{all[0], all[1], []byte(`{"decision":{"effects":[{"kind":"decided"},{"kind":"stop"}]}}`)}, `line 3 .*effect 1 .* without its payload`,
		},
		"another effect": {[][]byte{all[0], all[1], []byte(`{"decision":{"effects":[{"kind":"x"}]}}`)}, `line 3 .*effect 1 .*"x"`},
		"another member": {[][]byte{[]byte(`{"note":{"kind":"torn","why":1}}`)}, "/note/why is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := replay(journal.Chain(tt.records...))
			require.ErrorIs(t, err, journal.ErrCorrupt)
			assert.Regexp(t, strings.NewReplacer("(", `\(`, ")", `\)`).Replace(tt.want), err.Error())
		})
	}
}

func TestARedactedJournalIsComparedByItsKey(t *testing.T) {
	text := kept(t, "redacted_keyed")
	report, err := journal.Replay(bytes.NewReader(text), theKey)
	require.NoError(t, err)
	assert.Equal(t, int64(4), report.Prompts)
	assert.Zero(t, report.Unkeyed)
	_, err = journal.Replay(bytes.NewReader(text), []byte("another sixteen bytes"))
	require.ErrorIs(t, err, journal.ErrRedacted)
}

// The replay of a long journal drops messages on the way. The decisions are the same.
func TestALongJournalIsReplayed(t *testing.T) {
	long := longJournal(t, 400, 32<<10)
	report, err := journal.Replay(bytes.NewReader(long), nil)
	require.NoError(t, err)
	assert.Equal(t, int64(len(long)), report.Bytes)
	assert.True(t, report.Ended)
	assert.Greater(t, len(long), 16<<20, "long enough for messages to be dropped")
}

func TestWhatAReaderGivesIsGivenOn(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := journal.Replay(iotest.ErrReader(broken), nil)
	require.ErrorIs(t, err, broken)
	report, err := replay(nil)
	require.NoError(t, err, "an empty journal is a journal")
	assert.Zero(t, report)
}

func TestADigestOfAConversationThatIsNoneIsRefused(t *testing.T) {
	records := recordsOf(t, kept(t, "compacted"))
	for n, raw := range records {
		if at := bytes.LastIndex(raw, []byte(`"said":"`)); bytes.HasPrefix(raw, []byte(`{"snapshot":`)) {
			records[n] = append(raw[:at:at], `"said":"beef"`+string(raw[at+len(`"said":""`)+32:])...)
		}
	}
	_, err := replay(journal.Chain(records...))
	require.ErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, `snapshot: said: "beef" is not a digest of 32 hexadecimal digits`)
}
