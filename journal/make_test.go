package journal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

const theSession = "order-42"

var theKey = []byte("sixteen bytes or more")

type booking struct {
	City   string `json:"city"   validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

type receipt struct {
	Number string `json:"number"`
}

// story is a recorded run.
type story struct {
	cfg      loop.Config
	session  session.Config
	model    []looptest.Turn
	options  []loop.Option
	settings journal.Settings
	// again is the prompt of a second run; empty for none.
	again string
	// act makes the story if it is not the run of a model.
	act func(*testing.T, *session.Session, *journal.Journal)
	// cut is the number of lines to keep before the journal is compacted; 0 for all lines without
	// compaction.
	cut int
}

// record plays a story in its own session and returns its journal.
func (st story) record(t testing.TB) []byte {
	t.Helper()
	dir := journal.Dir(t.TempDir())
	j, err := journal.Open(context.Background(), dir, theSession, st.settings)
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(st.session)
	require.NoError(t, err)
	s = fixture.In(s, j)
	options := append([]loop.Option{loop.WithClock(looptest.NewClock())}, st.options...)
	model := looptest.NewModel(st.model...)
	switch {
	case st.act != nil:
		st.act(t.(*testing.T), s, j)
	default:
		played(t, model, s, "Two nights in Lisbon, please.", st.cfg, options)
		if st.again != "" {
			played(t, model, s, st.again, st.cfg, options)
		}
	}
	path := filepath.Join(string(dir), journal.FileName(theSession))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if st.cut == 0 {
		return text
	}
	require.NoError(t, j.Close())
	return st.compacted(t, dir, path, text)
}

// compacted is the journal of a run that was compacted in the middle and then continued.
func (st story) compacted(t testing.TB, dir journal.Dir, path string, text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	require.NoError(t, os.WriteFile(path, bytes.Join(lines[:st.cut], nil), 0o600))
	require.NoError(t, journal.Compact(context.Background(), dir, theSession, nil))
	j, err := journal.Open(context.Background(), dir, theSession, st.settings)
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(st.session)
	require.NoError(t, err)
	past, err := j.Past()
	require.NoError(t, err)
	model := looptest.NewModel(st.model[past.State.Turn-1:]...)
	_, err = fixture.Resume(context.Background(), model, fixture.In(s, j), st.cfg, append(st.options, loop.WithClock(looptest.NewClock()))...)
	require.NoError(t, err)
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	return text
}

// played makes one run. It may end without an answer.
func played(t testing.TB, model loop.Model, s *session.Session, prompt string, cfg loop.Config, options []loop.Option) {
	_, err := fixture.Run(context.Background(), model, s, loop.Input{Prompt: prompt}, cfg, options...)
	if exhausted := (*loop.RetryExhaustedError)(nil); err != nil && !errors.As(err, &exhausted) {
		require.NoError(t, err)
	}
}

func call(id, arguments string) message.Call {
	return message.Call{ID: id, Name: "book_room", Arguments: arguments}
}

func policyOf(t testing.TB, text string) *policy.Set {
	set, err := file.Read("policy.yaml", []byte(text))
	require.NoError(t, err)
	return &set
}

func toolsOf(t testing.TB, book func(context.Context, booking) (receipt, error)) *tool.Set {
	if book == nil {
		book = func(_ context.Context, b booking) (receipt, error) { return receipt{"R-" + b.City}, nil }
	}
	set, err := tool.NewSet(tool.New("book_room", "Book a hotel room.", book, tool.Idempotent()))
	require.NoError(t, err)
	return set
}

var overloaded = looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, Provider: "example", RetryAfter: 3 * time.Second})

func used(turn looptest.Turn, in, out int64) looptest.Turn {
	turn.Reply.Usage = message.Usage{InputTokens: in, OutputTokens: out, APICalls: 1}
	return turn
}

// stories are the valid journals.
func stories(t testing.TB) map[string]story {
	waits := policyOf(t, "backoff: {kind: exponential, base: 1s, factor: 2, jitter: {kind: proportional, fraction: 0.2}}\n")
	twice := []looptest.Turn{
		used(looptest.Call(call("c1", `{"city": "Lisbon", "nights": "two"}`)), 120, 30),
		used(looptest.Call(call("c2", `{"nights": 99}`)), 180, 25),
		used(looptest.Call(call("c3", `{"city": "Lisbon", "nights": 2}`)), 240, 30),
		used(looptest.Say("Booked."), 300, 5),
	}
	cities := session.StateSlice[string]("cities")
	keep := session.On(cities, "booked", "keep", func(_ reducer.View[string], city string) (reducer.Change[string], error) {
		if city == "Faro" {
			return reducer.Change[string]{}, errors.New("nobody goes to Faro")
		}
		return reducer.Append(city), nil
	})
	emits := func(ctx context.Context, b booking) (receipt, error) {
		return receipt{"R-" + b.City}, errors.Join(tool.Progress(ctx, "booking "+b.City), tool.Emit(ctx, "booked", b.City))
	}
	three := used(looptest.Call(call("c1", `{"city": "Lisbon", "nights": 2}`), call("c2", `{"city": "Porto", "nights": 1}`),
		call("c3", `{"city": "Faro", "nights": 3}`)), 200, 90)
	return map[string]story{
		"corrected": {cfg: loop.Config{Tools: toolsOf(t, nil), Policy: waits, Seed: "7", System: "{{with feedback}}{{.}}{{end}}"}, model: twice},
		"exhausted": {cfg: loop.Config{Tools: toolsOf(t, nil), Policy: policyOf(t, "max_attempts: 2\n"), Feedback: "Wrong: {{.Feedback.Message}}"}, model: twice},
		"transport_wait": {cfg: loop.Config{Tools: toolsOf(t, nil), Seed: "7"}, model: []looptest.Turn{
			overloaded, looptest.Fail(&fault.ProviderError{Class: fault.Network, Provider: "example"}), used(looptest.Say("Hello."), 10, 2)}},
		"parallel_tools": {cfg: loop.Config{Tools: toolsOf(t, breaksOnce(emits))}, model: []looptest.Turn{three, looptest.Say("Done.")}},
		"reducers": {cfg: loop.Config{Tools: toolsOf(t, emits)}, session: session.Config{Slices: []session.Declared{cities}, Reducers: []session.Reducer{keep}},
			model: []looptest.Turn{three, looptest.Say("Done.")}, options: []loop.Option{loop.WithParallel(1)}},
		"planner": {cfg: loop.Config{Tools: toolsOf(t, nil), Policy: policyOf(t, "max_attempts: 1\n"), Consult: []fault.Class{fault.Overloaded}},
			model: []looptest.Turn{twice[0], overloaded, looptest.Say("Never mind.")}, options: []loop.Option{loop.WithPlanner(planner.PlannerFunc(plan))}},
		"user_prompts": {cfg: loop.Config{}, model: []looptest.Turn{looptest.Say("Hello.")}, options: []loop.Option{loop.WithPrompt(
			func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
				return "Be brief.", nil, nil
			})}},
		"two_runs":      {cfg: loop.Config{Tools: toolsOf(t, nil)}, model: append(twice[:3:3], looptest.Say("Booked."), looptest.Say("Bye.")), again: "Thanks."},
		"single_action": {act: threeTries},
		"redacted": {cfg: loop.Config{Tools: toolsOf(t, nil)}, model: twice, settings: journal.Settings{
			Redact: &journal.Redaction{Prompts: true, Tools: map[string]journal.ToolRedaction{"book_room": {Arguments: []string{"/city"}}}}}},
		"redacted_keyed": {cfg: loop.Config{Tools: toolsOf(t, nil)}, model: twice, settings: journal.Settings{
			Redact: &journal.Redaction{Key: theKey, Replies: true}}},
		"compacted": {cfg: loop.Config{Tools: toolsOf(t, nil)}, model: twice, cut: 5},
	}
}

// breaksOnce is a tool whose first call for Porto fails.
func breaksOnce(book func(context.Context, booking) (receipt, error)) func(context.Context, booking) (receipt, error) {
	broke := false
	return func(ctx context.Context, b booking) (receipt, error) {
		if b.City == "Porto" && !broke {
			broke = true
			return receipt{}, &fault.ProviderError{Class: fault.Network, Provider: "hotel"}
		}
		return book(ctx, b)
	}
}

// plan falls back to another prompt at exhaustion, and follows the policy for faults.
func plan(_ context.Context, q planner.Question) (machine.Plan, error) {
	if q.Exhausted {
		return machine.Plan{Do: machine.Fallback, Prompt: "Answer without tools.", Delay: 2 * time.Second, Warning: "went on without tools"}, nil
	}
	return machine.Plan{Do: machine.Follow}, nil
}

// threeTries are the attempts of a caller's own loop.
func threeTries(t *testing.T, s *session.Session, j *journal.Journal) {
	a := loop.ToolCall("book_room")
	tries := loop.Attempts(t.Context(), fixture.In(s, j), a, loop.WithClock(looptest.NewClock()))
	for try := range tries.All() {
		if try.Number < 3 {
			try.Usage = message.Usage{InputTokens: 10, APICalls: 1}
			try.End(&fault.ToolValidationError{Tool: "book_room", Issues: []fault.Issue{{Pointer: "/nights", Rule: "type", Expected: "integer"}}})
		} else {
			try.End(nil)
		}
	}
	require.NoError(t, tries.Err())
}

// recordsOf returns the bytes of the records of a journal.
func recordsOf(t testing.TB, text []byte) [][]byte {
	var all [][]byte
	r := journal.NewReader(bytes.NewReader(text))
	for {
		raw, err := r.Raw()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, bytes.Clone(raw))
	}
}

// edited replaces a text wherever the records of a journal have it, and computes the hashes again.
func edited(t testing.TB, text []byte, old, with string) []byte {
	records := recordsOf(t, text)
	found := false
	for n, raw := range records {
		found = found || bytes.Contains(raw, []byte(old))
		records[n] = bytes.ReplaceAll(raw, []byte(old), []byte(with))
	}
	require.True(t, found, "there is no %q", old)
	return journal.Chain(records...)
}

// made are journals derived from valid ones: invalid ones, and one from before behaviours.
func made(t testing.TB) map[string]func(good func(string) []byte) []byte {
	line := func(text []byte, n int) (before, at, after string) {
		lines := strings.SplitAfter(string(text), "\n")
		return strings.Join(lines[:n-1], ""), lines[n-1], strings.Join(lines[n:], "")
	}
	return map[string]func(func(string) []byte) []byte{
		"bad-hash-changed": func(good func(string) []byte) []byte {
			before, at, after := line(good("corrected"), 4)
			return []byte(before + strings.Replace(at, "Lisbon", "Lisbin", 1) + after)
		},
		"bad-line-missing": func(good func(string) []byte) []byte {
			before, _, after := line(good("corrected"), 5)
			return []byte(before + after)
		},
		"bad-torn": func(good func(string) []byte) []byte {
			text := good("corrected")
			return text[:len(text)-100]
		},
		"bad-unknown-format": func(good func(string) []byte) []byte {
			return edited(t, good("corrected"), "retake.journal/1", "retake.journal/9")
		},
		"bad-decision-changed": func(good func(string) []byte) []byte {
			return edited(t, good("corrected"), `"reason":"backoff","feedback"`, `"reason":"immediate","feedback"`)
		},
		"bad-default-changed": func(good func(string) []byte) []byte {
			return edited(t, good("exhausted"), `"global":{"max_attempts":2,"origins":{"max_attempts":"policy.yaml:1:1"}},`, "")
		},
		"bad-prompt-changed": func(good func(string) []byte) []byte {
			return edited(t, good("exhausted"), `"feedback":"Wrong: {{.Feedback.Message}}"`, `"feedback":"Not right: {{.Feedback.Message}}"`)
		},
		"bad-event-misfit": func(good func(string) []byte) []byte {
			return edited(t, good("transport_wait"), `"kind":"woke"`, `"kind":"tried"`)
		},
		"bad-duplicate-keys": func(good func(string) []byte) []byte {
			return edited(t, good("corrected"), `"kind":"started"`, `"kind":"started","kind":"started"`)
		},
		"sorted": func(good func(string) []byte) []byte { // the order of members is no part of the format
			records := recordsOf(t, good("corrected"))
			for n, raw := range records {
				sorted, err := canon.JSON(raw)
				require.NoError(t, err)
				records[n] = sorted
			}
			return journal.Chain(records...)
		},
		"bad-event-undecided": func(good func(string) []byte) []byte {
			records := recordsOf(t, good("corrected"))
			return journal.Chain(append(records[:4:4], records[5:]...)...)
		},
	}
}
