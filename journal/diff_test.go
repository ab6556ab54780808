package journal_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

func diff(t *testing.T, a, b []byte) journal.Divergence {
	t.Helper()
	d, err := journal.Diff(bytes.NewReader(a), bytes.NewReader(b), journal.Diffing{})
	require.NoError(t, err)
	return d
}

// Two runs of the same script and seed have the same trace, whatever their times and notes.
func TestRunsOfTheSameScriptDoNotDiffer(t *testing.T) {
	a := stories(t)["parallel_tools"].record(t)
	b := stories(t)["parallel_tools"].record(t)
	older := edited(t, a, `"max_issues":20`, `"max_issues":19`)
	d := diff(t, older, b)
	assert.Nil(t, d.Step)
	assert.Len(t, d.Headers, 1, "the one has other limits")
	later := edited(t, kept(t, "corrected"), `"at":"2030-`, `"at":"2031-`)
	assert.True(t, diff(t, kept(t, "corrected"), later).Same(), "times that were observed are not compared")
}

// Two sessions that did the same differ by their ids, which follow into feedback and keys: the headers say
// it.
func TestTwoSessionsDifferByTheirIDsOnce(t *testing.T) {
	record := func(id string) []byte {
		store := &looptest.Store{}
		j, err := journal.Open(t.Context(), store, id, journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{Journal: j, Seed: "one"})
		require.NoError(t, err)
		tools := toolsOf(t, nil)
		call := func(arguments string) looptest.Turn {
			return looptest.Call(message.Call{ID: "c1", Name: tools.Names()[0], Arguments: arguments})
		}
		l, err := loop.New(looptest.NewModel(call(`{}`), call(`{"city": "Lisbon", "nights": 2}`), looptest.Say("Done.")),
			loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
		require.NoError(t, err)
		r, err := l.Run(t.Context(), s, loop.Input{Prompt: "Book."})
		looptest.AssertAnswer(t, r, err, "Done.")
		require.NotEmpty(t, s.State().Feedback())
		return store.Text(id)
	}
	d := diff(t, record("order-1"), record("order-2"))
	assert.Nil(t, d.Step)
	require.Len(t, d.Headers, 1)
	assert.Equal(t, "/session", d.Headers[0].Changes[0].Path)
}

func TestADiffSaysHowTheRunsBegan(t *testing.T) {
	d := diff(t, kept(t, "corrected"), kept(t, "exhausted"))
	require.Len(t, d.Headers, 1)
	h := d.Headers[0]
	assert.Equal(t, 1, h.Run)
	var names []string
	for _, p := range h.Policies {
		names = append(names, p.Of+" "+p.Name+": "+p.A.Value+" "+p.A.Source+" -> "+p.B.Value+" "+p.B.Source)
	}
	assert.Equal(t, []string{"answer max_attempts: 3  -> 2 policy.yaml:1:1", "answer backoff: exponential 1s ×2, jitter ±20% policy.yaml:1:1 -> constant 0s "}, names)
	var paths []string
	for _, c := range h.Changes {
		paths = append(paths, c.Path)
	}
	assert.Equal(t, []string{"/config/feedback", "/config/seed", "/config/system"}, paths)
}

// If only one side has a policy for a tool, it is compared with the resolved policy of the other side.
func TestADiffComparesPoliciesThatOneSideDoesNotName(t *testing.T) {
	st := stories(t)["user_prompts"]
	st.cfg.Tools = toolsOf(t, nil)
	a := st.record(t)
	st.cfg.Policy = policyOf(t, "tools:\n  book_room: {max_attempts: 5}\nbudgets: {run: 3}\n")
	d := diff(t, a, st.record(t))
	require.Len(t, d.Headers, 1)
	text := d.Headers[0].String()
	assert.Contains(t, text, "policy of tool book_room\n    max_attempts: 3 (default) -> 5 (tool book_room, policy.yaml:2:15)")
	assert.Contains(t, text, "policy of the run\n    budgets.run: 8 -> 3")
	assert.Nil(t, d.Step)
}

// A field of the policy that a diff does not know of would make runs that were decided by other rules look
// alike.
func TestADiffTellsEachFieldOfThePolicy(t *testing.T) {
	five := policy.Layer{MaxAttempts: new(5)}
	changed := map[string]func(*policy.Set){
		"global":         func(s *policy.Set) { s.Global = five },
		"tools":          func(s *policy.Set) { s.Tools = map[string]policy.Layer{"pay": five} },
		"answer":         func(s *policy.Set) { s.Answer = five },
		"call":           func(s *policy.Set) { s.Call = five },
		"adjusted":       func(s *policy.Set) { s.Adjusted = five },
		"transport":      func(s *policy.Set) { s.Transport = five },
		"tool_transport": func(s *policy.Set) { s.ToolTransport = map[string]policy.Layer{"pay": five} },
		"budgets":        func(s *policy.Set) { s.Budgets.Run = 1 },
		"prices":         func(s *policy.Set) { s.Prices = policy.Prices{"large": {Input: 1}} },
		"spending":       func(s *policy.Set) { s.Spending.MaxReply = new(int64(100)) },
		"context":        func(s *policy.Set) { s.Context.Keep = new(2) },
		"max_turns":      func(s *policy.Set) { s.MaxTurns = 1 },
		"max_calls":      func(s *policy.Set) { s.MaxCalls = 1 },
		"all_or_nothing": func(s *policy.Set) { s.AllOrNothing = true },
	}
	for field := range reflect.TypeFor[policy.Set]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("policy"), ",")
		require.Contains(t, changed, name)
		a, b := policy.DefaultSet(), policy.DefaultSet()
		changed[name](&b)
		d, differ := journal.DiffHeaders(journal.Header{Config: machine.Config{Policy: a}},
			journal.Header{Config: machine.Config{Policy: b}})
		assert.True(t, differ, name)
		assert.NotEmpty(t, d.Policies, name)
	}
}

func TestADiffNamesToolsThatAreNotTheSame(t *testing.T) {
	st := stories(t)["user_prompts"]
	a := st.record(t)
	st.cfg = loop.Config{Tools: toolsOf(t, nil)}
	b := st.record(t)
	there, gone := diff(t, a, b).Headers[0].Tools[0], diff(t, b, a).Headers[0].Tools[0]
	assert.Equal(t, [3]string{"book_room"}, [3]string{there.Name, there.A})
	assert.Equal(t, [3]string{"book_room", there.B}, [3]string{gone.Name, gone.A, gone.B})
	assert.NotEmpty(t, there.B)
	changed := edited(t, b, there.B, "0123456789abcdef0123456789abcdef")
	other := diff(t, b, changed).Headers[0].Tools[0]
	assert.Equal(t, [3]string{"book_room", there.B, "0123456789abcdef0123456789abcdef"}, [3]string{other.Name, other.A, other.B})
}

func TestADiffFindsTheFirstStepThatIsAnother(t *testing.T) {
	good := kept(t, "corrected")
	d := diff(t, good, kept(t, "bad-decision-changed"))
	assert.Equal(t, int64(1), d.Steps)
	require.NotNil(t, d.Step)
	assert.True(t, d.Step.SameEvent)
	assert.Equal(t, int64(2), d.Step.Number)
	assert.Equal(t, []journal.Change{{Path: "/effects/0/decision/reason", Was: `"backoff"`, Now: `"immediate"`}}, d.Step.Changes)

	const told = "the model called book_room (tool_validation)\n" +
		"    tell the model: nights: expected integer (at least 1, at most 30), got string\n    wait 1.150280746s (backoff)\n"
	assert.Equal(t, "event 2 is the first that differs: the same happened, and was decided differently\n"+
		"  a, line 4: "+told+"  b, line 4: "+told+"  /effects/0/decision/reason  \"backoff\" -> \"immediate\"\n", d.Explain("a", "b"))

	d = diff(t, good, edited(t, good, "Two nights in Lisbon, please.", "Three."))
	assert.False(t, d.Step.SameEvent)
	assert.Contains(t, d.Explain("a", "b"), "event 1 is the first that differs\n")

	d = diff(t, good, kept(t, "bad-torn"))
	assert.Equal(t, int64(7), d.Steps)
	assert.Zero(t, d.Step.B)
	assert.Contains(t, d.Explain("a", "b"), "b ends here")

	runs := kept(t, "two_runs")
	one := journal.Chain(recordsOf(t, runs)[:14]...)
	d = diff(t, one, runs)
	assert.Contains(t, d.Explain("a", "b"), "a ends here\n  b, line 15: another run begins")
}

func TestADiffSaysWhichJournalCannotBeRead(t *testing.T) {
	good, bad := kept(t, "corrected"), kept(t, "bad-hash-changed")
	_, err := journal.Diff(bytes.NewReader(good), bytes.NewReader(bad), journal.Diffing{})
	require.ErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, "the second journal: journal: line 4")
	_, err = journal.Diff(bytes.NewReader(bad), bytes.NewReader(good), journal.Diffing{})
	require.ErrorContains(t, err, "the first journal: ")
	records := recordsOf(t, good)
	for _, odd := range [][]byte{journal.Chain(records[1:]...), journal.Chain(records[0], records[2]), journal.Chain(records[0], records[1], records[0])} {
		_, err = journal.Diff(bytes.NewReader(odd), bytes.NewReader(odd), journal.Diffing{})
		require.ErrorIs(t, err, journal.ErrCorrupt)
	}
}

// A header has the layers with the places of their values. What they resolve to is made when it is shown.
func TestAHeaderHasTheOriginsOfAPolicyAndNoResolvedRows(t *testing.T) {
	header := string(recordsOf(t, kept(t, "exhausted"))[0])
	assert.Contains(t, header, `"global":{"max_attempts":2,"origins":{"max_attempts":"policy.yaml:1:1"}}`)
	assert.NotContains(t, header, "retry_after", "a field that nobody wrote")
	assert.Less(t, len(header), 1000)
}

// Whoever reads a journal says in the same words which of its lines is out of place.
func TestEveryReaderSaysWhichLineIsOutOfPlace(t *testing.T) {
	records := recordsOf(t, kept(t, "corrected"))
	for line, odd := range map[int64][]byte{
		1: journal.Chain(records[1:]...), 2: journal.Chain(records[0], records[2]), 3: journal.Chain(records[0], records[1], records[0]),
	} {
		_, replayed := journal.Replay(bytes.NewReader(odd), nil)
		_, opened := journal.Open(t.Context(), &memory{text: odd}, theSession, journal.Settings{})
		compacted := journal.Compact(t.Context(), &memory{text: odd}, theSession, nil)
		for _, err := range []error{replayed, opened, compacted} {
			var corrupt *journal.CorruptError
			require.ErrorAs(t, err, &corrupt)
			assert.Equal(t, line, corrupt.Line)
			assert.Equal(t, replayed, error(corrupt))
		}
	}
}

// Of a long text that differs in two places both are shown, and what is between them is left out.
func TestADiffShowsTheFirstAndTheLastDifferenceOfALongText(t *testing.T) {
	rest := strings.Repeat("This is said in both. ", 40)
	said := func(begin, end string) journal.Header {
		return journal.Header{Config: machine.Config{System: begin + rest + end + rest}}
	}
	h, differ := journal.DiffHeaders(said("Be brief. ", "Never pay twice. "), said("Be polite. ", "Never pay. "))
	require.True(t, differ)
	assert.Regexp(t, `^  /config/system  "Be brief\..*….*Never pay twice\..* -> "Be polite\..*….*Never pay\. `, h.String())
}
