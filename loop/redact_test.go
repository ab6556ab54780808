package loop_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// kept is a store in memory for what is left out.
type kept struct {
	mu    sync.Mutex
	texts map[string]string
}

func (k *kept) Keep(_ context.Context, session, digest string, text []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.texts[session+digest] = string(text)
	return nil
}

func (k *kept) Lookup(_ context.Context, session, digest string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, ok := k.texts[session+digest]
	if !ok {
		return nil, errors.New("it was never kept")
	}
	return []byte(text), nil
}

// redactions are ways to leave Lisbon, Porto and Faro out of the long story.
func redactions() map[string]*journal.Redaction {
	return map[string]*journal.Redaction{
		"by_pointer": {Tools: map[string]journal.ToolRedaction{"book_room": {Arguments: []string{"/city"}, Result: []string{"/number"}}}, Prompts: true},
		"whole":      {Tools: map[string]journal.ToolRedaction{"*": {Arguments: []string{""}, Result: []string{""}}}, Answer: []string{""}, Replies: true, Prompts: true},
		"by_size":    {MaxBytes: 1, Tools: map[string]journal.ToolRedaction{"book_room": {Arguments: []string{"/*"}}}},
		"keyed":      {Key: []byte("a key of many bytes"), Tools: map[string]journal.ToolRedaction{"book_room": {Arguments: []string{"/city"}, Result: []string{"/number"}}}, Prompts: true},
	}
}

func TestWhatIsLeftOutIsNowhereInTheJournalAndTheRunGoesOn(t *testing.T) {
	for name, rules := range redactions() {
		t.Run(name, func(t *testing.T) {
			whole := tellWhole(t, journal.Settings{Sync: journal.SyncNever, Redact: rules})
			for _, secret := range []string{"Lisbon", "Porto", "Faro"} {
				assert.NotContains(t, string(whole.text), secret)
			}
			plain := tellWhole(t, journal.Settings{Sync: journal.SyncNever})
			assert.Equal(t, plain.state, whole.state, "the run itself is not touched")
			assert.Equal(t, reasons(t, plain.text), reasons(t, whole.text), "the same is decided")
		})
	}
}

type payment struct {
	City string `json:"city"`
	Card string `json:"card" retake:"secret"`
}

func TestWhatATagCallsSecretIsLeftOut(t *testing.T) {
	pay := tool.New("pay", "Pay.", func(context.Context, payment) (string, error) { return "paid", nil })
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	typed, err := schema.For[payment]()
	require.NoError(t, err)
	cfg := loop.Config{Tools: tools, Output: typed.Schema()}
	rules := loop.Redact(journal.Redaction{}, cfg)
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{Redact: &rules})
	require.NoError(t, err)
	model := looptest.NewModel(
		looptest.Call(call("pay", `{"city": "Lisbon", "card": 4000123412341234}`)), looptest.Call(call("pay", `{"city": "Lisbon", "card": "4000123412341234"}`)),
		looptest.Say(`{"city": "Lisbon", "card": "4000123412341234"}`),
	)
	_, err = fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: "Pay."}, cfg)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "4000123412341234", "a number that no hash and no time holds by chance")
	assert.Contains(t, string(text), "Lisbon")
}

// reasons returns the reasons and delays of all decisions in order.
func reasons(t *testing.T, text []byte) []string {
	t.Helper()
	var all []string
	for _, rec := range recordsOf(t, text) {
		if rec.Decision == nil {
			continue
		}
		for _, e := range rec.Decision.Effects {
			if e.Decision != nil {
				all = append(all, string(e.Decision.Reason)+e.Decision.Delay.String())
			}
		}
	}
	return all
}

func TestARedactedRunIsResumedOnlyWithWhatWasLeftOut(t *testing.T) {
	every := 1
	if testing.Short() {
		every = 3
	}
	for name, rules := range redactions() {
		t.Run(name, func(t *testing.T) {
			store := &kept{texts: map[string]string{}}
			rules.Transcripts = store
			with := journal.Settings{Sync: journal.SyncNever, Redact: rules}
			whole := tellWhole(t, with)
			dir, lines := t.TempDir(), strings.SplitAfter(string(whole.text), "\n")
			for n := 0; n < len(lines); n += every {
				part := strings.Join(lines[:n], "")
				done := callsIn(recordsOf(t, []byte(part)))
				synctest.Test(t, func(t *testing.T) { whole.resumeAt(t, dir, len(part), with, done) })
			}
			half := strings.Index(string(whole.text), `"woke"`)
			half += strings.IndexByte(string(whole.text[half:]), '\n') + 1
			require.NoError(t, os.WriteFile(storyFile(dir), whole.text[:half], 0o600))
			alone := *rules
			alone.Transcripts = nil
			j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{Redact: &alone})
			require.NoError(t, err)
			defer j.Close()
			_, err = j.Past()
			require.ErrorIs(t, err, journal.ErrRedacted)
			require.ErrorContains(t, err, "give it, or use another session for new runs")
		})
	}
}

func TestACompactedRunGoesOnAsIfNothingHadBeenDone(t *testing.T) {
	whole := tellWhole(t, plainSettings)
	dir := t.TempDir()
	lines := strings.SplitAfter(string(whole.text), "\n")
	for n := 3; n <= len(lines)-1; n++ {
		cut := len(strings.Join(lines[:n], ""))
		require.NoError(t, os.WriteFile(storyFile(dir), whole.text[:cut], 0o600))
		done := callsIn(recordsOf(t, whole.text[:cut]))
		require.NoError(t, journal.Compact(t.Context(), journal.Dir(dir), "order-42", nil))
		compact, err := os.ReadFile(storyFile(dir))
		require.NoError(t, err)
		require.Equal(t, 2, strings.Count(string(compact), "\n"))
		synctest.Test(t, func(t *testing.T) {
			hotel := newBookings()
			hotel.remember(done, whole.keys)
			got, s := tellFrom(t, dir, hotel, plainSettings, askedIn(recordsOf(t, whole.text[:cut])))
			state, err := s.Snapshot()
			require.NoError(t, err)
			require.Equal(t, whole.value, string(got.Value), "after line %d", n)
			require.Equal(t, whole.state, string(state), "after line %d", n)
		})
		j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
		require.NoError(t, err, "what came after the snapshot replays")
		require.NoError(t, j.Close())
	}
}

func TestARequestIsNamedInAJournalWithoutItsTexts(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	run := func(id string, turns ...looptest.Turn) (loop.Result, error) {
		j, err := journal.Open(t.Context(), dir, "order-42", journal.Settings{Redact: &journal.Redaction{Replies: true, Prompts: true}})
		require.NoError(t, err)
		defer j.Close()
		in := loop.Input{Prompt: "Go on.", RequestID: id, NewConversation: true}
		return fixture.Run(t.Context(), looptest.NewModel(turns...), fixture.In(newSession(t), j), in, loop.Config{})
	}
	for _, id := range []string{"r-1", "r-2"} {
		r, err := run(id, looptest.Say("Done."))
		require.NoError(t, err)
		assert.Equal(t, "Done.", r.Text)
	}
	for _, id := range []string{"r-1", "r-2"} {
		_, err := run(id)
		require.ErrorIs(t, err, journal.ErrRedacted, "it was answered, and is not made again")
	}
}

// A run that a crash cut off anywhere, and whose texts are gone, is abandoned. Calls that began are in doubt,
// and the session goes on with another run.
func TestARedactedRunThatNobodyCanContinueIsAbandoned(t *testing.T) {
	for name, rules := range redactions() {
		t.Run(name, func(t *testing.T) {
			with, dir, doubts := plainSettings, t.TempDir(), 0
			with.Redact = rules
			lines := strings.SplitAfter(string(tellWhole(t, with).text), "\n")
			abandon := func() error {
				return journal.Abandon(t.Context(), journal.Dir(dir), "order-42", rules.Key, time.Time{})
			}
			for n := 3; n < len(lines)-2; n++ {
				require.NoError(t, os.WriteFile(storyFile(dir), []byte(strings.Join(lines[:n], "")), 0o600))
				require.NoError(t, abandon(), "after line %d", n)
				last, err := journal.Last(t.Context(), journal.Dir(dir), "order-42")
				require.NoError(t, err)
				require.Equal(t, policy.ReasonBroken, last.State.Outcome.Reason)
				doubts += len(last.State.Outcome.InDoubt)

				j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", with)
				require.NoError(t, err)
				in := loop.Input{Prompt: "Anew.", NewConversation: true}
				r, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Done.")), fixture.In(storySession(t), j), in, loop.Config{})
				require.NoError(t, err)
				require.Equal(t, "Done.", r.Text)
				require.NoError(t, j.Close())
				text, err := os.ReadFile(storyFile(dir))
				require.NoError(t, err)
				_, err = journal.Replay(bytes.NewReader(text), rules.Key)
				require.NoError(t, err, "after line %d", n)
				require.ErrorIs(t, abandon(), journal.ErrNoRun)
			}
			assert.Positive(t, doubts)
		})
	}
}

// What a tool's rules leave out is left out, too, where the program ran the call and hands its result over.
func TestResultsThatAreHandedOverAreRedacted(t *testing.T) {
	for name, reply := range map[string]looptest.Turn{
		"a native call":  looptest.Call(call("book_room", lisbon)),
		"a call in text": looptest.Say("<tool_call>\n{\"name\": \"book_room\", \"arguments\": " + lisbon + "}\n</tool_call>"),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			with := plainSettings
			with.Redact = &journal.Redaction{Transcripts: &kept{texts: map[string]string{}},
				Tools: map[string]journal.ToolRedaction{"book_room": {Result: []string{""}}}}
			j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", with)
			require.NoError(t, err)
			model, s := looptest.NewModel(reply, looptest.Say("Booked.")), newSessionNamed(t, "order-42")
			cfg := loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true}
			asked, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Book."}, cfg)
			require.NoError(t, err)
			require.NoError(t, s.Answer(results(asked.Calls)...))
			cfg.CallsOnly = false
			_, err = fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Well?"}, cfg)
			require.NoError(t, err)
			require.NoError(t, j.Close())
			text, err := os.ReadFile(filepath.Join(dir, "order-42.jsonl"))
			require.NoError(t, err)
			assert.NotContains(t, string(text), "R-1")
			assert.Contains(t, string(text), "Well?")
		})
	}
}

// With replies left out, the name of a tool that does not exist is left out, too: also where the text of its
// call has it.
func TestTheTextOfACallDoesNotNameWhatIsLeftOut(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	j, err := journal.Open(t.Context(), dir, "order-42", journal.Settings{Redact: &journal.Redaction{Replies: true}})
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Say(`<function=send to ACME>{"do":1}</function>`), looptest.Say("Done."))
	tools, err := tool.NewSet(tool.New("send", "Sends.", func(context.Context, struct{}) (string, error) { return "", nil }))
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: "Send it."}, loop.Config{Tools: tools})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	text, err := os.ReadFile(filepath.Join(string(dir), "order-42.jsonl"))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"class":"unknown_tool"`)
	assert.NotContains(t, string(text), "ACME")
}

// What counts across the runs of a session holds nothing that is left out, so the next process has it: caps,
// and the number of the run, by which the sessions of agents and the keys of calls are named.
func TestARedactedJournalKeepsWhatCountsAcrossRuns(t *testing.T) {
	dir, paid := t.TempDir(), 0
	scout, err := agent.AsTool("scout", "Finds out.", loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		return message.Reply{Text: "report of " + req.Session}, nil
	}), loop.Config{})
	require.NoError(t, err)
	tools, err := tool.NewSet(scout, tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) {
		paid++
		return "paid", nil
	}, tool.WithPolicy(policy.Layer{MaxSessionSuccesses: new(1)})))
	require.NoError(t, err)
	for _, want := range []string{"report of order-42.1.1.1", "report of order-42.2.1.1"} {
		j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{Redact: &journal.Redaction{Replies: true}})
		require.NoError(t, err)
		s, err := session.New(session.Config{Journal: j})
		require.NoError(t, err)
		model := looptest.NewModel(looptest.Call(
			message.Call{ID: "c1", Name: "scout", Arguments: `{"task": "` + want + `"}`},
			message.Call{ID: "c2", Name: "pay", Arguments: "{}"},
		), looptest.Say("Done."))
		result, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Go.", NewConversation: true}, loop.Config{Tools: tools})
		require.NoError(t, err)
		assert.Equal(t, want, result.Transcript[2].Text)
		assert.Equal(t, 1, paid)
		require.NoError(t, j.Close())
	}
}

// A template reads members of a slice, in whose place the journal has marks. So the journal has none of it
// either, replays all the same, and goes on where what was left out is kept.
func TestATemplateMayReadSlicesOfARedactedJournal(t *testing.T) {
	type item struct {
		Name string `json:"name"`
	}
	cart := session.LogSlice[item]("cart")
	tools, err := tool.NewSet(tool.New("add", "Adds.", func(ctx context.Context, i item) (string, error) {
		return "added", tool.Emit(ctx, "added", i)
	}))
	require.NoError(t, err)
	dir, store := t.TempDir(), &kept{texts: map[string]string{}}
	for day, want := range []string{"", "lamp "} {
		rules := &journal.Redaction{Tools: map[string]journal.ToolRedaction{"add": {Arguments: []string{"/name"}}}, Transcripts: store}
		j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{Redact: rules})
		require.NoError(t, err)
		s, err := session.New(session.Config{Journal: j, Slices: []session.Declared{cart},
			Reducers: []session.Reducer{session.On(cart, "added", "cart.add", reducer.Appending[item]())}})
		require.NoError(t, err)
		model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "add", Arguments: `{"name": "lamp"}`}), looptest.Say("Done."))
		_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Go."}, loop.Config{
			Tools: tools, System: `{{range values "cart"}}{{.name}} {{end}}`,
		})
		require.NoError(t, err)
		assert.Equal(t, want, model.Requests()[0].System)
		assert.Equal(t, day+1, session.View(s.State(), cart).Len())
		require.NoError(t, j.Close())
	}
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "lamp")
	report, err := journal.Replay(strings.NewReader(string(text)), nil)
	require.NoError(t, err)
	assert.Positive(t, report.Prompts)
}
