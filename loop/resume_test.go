package loop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// longStory has a wait on each plane, a correction, three concurrent calls of which one fails at first, and
// a bad answer.
var longStory = []looptest.Turn{
	looptest.Call(call("book_room", `{"city": "Lisbon", "nights": "two", "room": "double"}`)),
	looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, Provider: "example", RetryAfter: 3 * time.Second}),
	{Reply: message.Reply{Finish: message.ToolUse, Usage: message.Usage{InputTokens: 10, OutputTokens: 5, APICalls: 1}, Calls: []message.Call{
		{ID: "c1", Name: "book_room", Arguments: `{"city": "Lisbon", "nights": 1, "room": "double"}`},
		{ID: "c2", Name: "book_room", Arguments: `{"city": "Porto", "nights": 2, "room": "double"}`},
		{ID: "c3", Name: "book_room", Arguments: `{"city": "Faro", "nights": 3, "room": "single"}`},
	}}},
	looptest.Say("All booked."),
	looptest.Say(`{"number":"R-1"}`),
}

// bookings is the hotel. It survives every crash.
type bookings struct {
	mu sync.Mutex
	// runs counts the executions of each call, by its idempotency key.
	runs map[string]int
	// keys are the keys of the three calls, by nights.
	keys []string
	// lands closes landed after the third call is booked.
	lands  sync.Once
	landed chan struct{}
}

func newBookings() *bookings {
	return &bookings{runs: map[string]int{}, keys: make([]string, 3), landed: make(chan struct{})}
}

func (b *bookings) land() { b.lands.Do(func() { close(b.landed) }) }

func (b *bookings) book(ctx context.Context, want booking) (receipt, error) {
	b.mu.Lock()
	b.runs[tool.IdempotencyKey(ctx)]++
	b.keys[want.Nights-1] = tool.IdempotencyKey(ctx)
	first := b.runs[tool.IdempotencyKey(ctx)] == 1
	b.mu.Unlock()
	if err := errors.Join(tool.Progress(ctx, "booking "+want.City), tool.Emit(ctx, "booked", want.City)); err != nil {
		return receipt{}, err
	}
	switch {
	case want.City == "Faro":
		b.land()
	case want.City == "Lisbon":
		<-b.landed
	case want.City == "Porto" && first:
		return receipt{}, &fault.ProviderError{Class: fault.Network, Provider: "hotel"}
	}
	return receipt{Number: "R-" + want.City}, nil
}

var cities = session.StateSlice[string]("cities")

// storySession has a reducer that keeps the bookings.
func storySession(t *testing.T) *session.Session {
	t.Helper()
	s, err := session.New(session.Config{
		Slices: []session.Declared{cities},
		Reducers: []session.Reducer{session.On(cities, "booked", "keep", func(_ reducer.View[string], city string) (reducer.Change[string], error) {
			return reducer.Append(city), nil
		})},
	})
	require.NoError(t, err)
	return s
}

// plainSettings are the settings of a journal without redaction.
var plainSettings = journal.Settings{Sync: journal.SyncNever}

// tellStory runs or resumes the long story with a journal, as one process.
func tellStory(t *testing.T, dir string, hotel *bookings, with journal.Settings) (loop.Result, *session.Session) {
	t.Helper()
	return tellFrom(t, dir, hotel, with, askedIn(records(t, dir)))
}

const storyPrompt = "Rooms in Lisbon, Porto and Faro."

func storyConfig(t *testing.T, hotel *bookings) loop.Config {
	t.Helper()
	typed, err := schema.For[receipt]()
	require.NoError(t, err)
	return loop.Config{Tools: bookRoom(t, hotel.book), Output: typed.Schema(), Seed: "7", System: "{{with feedback}}{{.}}{{end}}"}
}

// tellFrom is tellStory for a provider that has already made some turns.
func tellFrom(t *testing.T, dir string, hotel *bookings, with journal.Settings, turns int) (loop.Result, *session.Session) {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", with)
	require.NoError(t, err)
	defer j.Close()
	s, cfg := storySession(t), storyConfig(t, hotel)
	model := looptest.NewModel(longStory[turns:]...)
	result, err := fixture.Resume(t.Context(), model, fixture.In(s, j), cfg)
	if errors.Is(err, journal.ErrNoRun) {
		result, err = fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: storyPrompt}, cfg)
	}
	require.NoError(t, err)
	return result, s
}

// records reads the journal of the story.
func records(t *testing.T, dir string) []journal.Record {
	t.Helper()
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	return recordsOf(t, text)
}

func recordsOf(t *testing.T, text []byte) []journal.Record {
	t.Helper()
	var all []journal.Record
	r := journal.NewReader(bytes.NewReader(text))
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, rec)
	}
}

func storyFile(dir string) string { return filepath.Join(dir, journal.FileName("order-42")) }

// askedIn counts the outcomes of model calls in a journal: the provider continues after them.
func askedIn(records []journal.Record) int {
	n := 0
	for _, rec := range records {
		if rec.Event != nil && (rec.Event.Kind == machine.Replied || rec.Event.Kind == machine.CallFailed) {
			n++
		}
	}
	return n
}

// ended is the recorded outcome of a call.
type ended struct {
	runs int
	good bool
}

// callsIn returns the calls with a recorded outcome, by their index in the reply.
func callsIn(records []journal.Record) map[int]ended {
	seen, landed := map[int]ended{}, map[int]bool{}
	end := func(e machine.ToolEnd) {
		seen[e.Index] = ended{seen[e.Index].runs + 1, e.Verdict == machine.Done}
	}
	for _, rec := range records {
		switch {
		case rec.Note != nil && rec.Note.End != nil:
			landed[rec.Note.End.Index] = true
			end(*rec.Note.End)
		case rec.Event != nil && rec.Event.Tool != nil:
			if !landed[rec.Event.Tool.Index] {
				end(*rec.Event.Tool)
			}
			delete(landed, rec.Event.Tool.Index)
		}
	}
	return seen
}

// remember tells the hotel what was booked before a crash.
func (b *bookings) remember(done map[int]ended, keys []string) {
	for n, e := range done {
		b.runs[keys[n]] = e.runs
		b.land()
	}
}

// chain returns the lines of a journal without notes.
func chain(text []byte) string {
	var kept []string
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, `,"record":{"note":`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// cutRun is the long story without a crash.
type cutRun struct {
	text  []byte
	value string
	state string
	// keys are the idempotency keys of the three calls.
	keys []string
}

func tellWhole(t *testing.T, with journal.Settings) (r cutRun) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(storyFile(dir), nil, 0o600))
	hotel := newBookings()
	synctest.Test(t, func(t *testing.T) {
		result, s := tellStory(t, dir, hotel, with)
		r.keys = hotel.keys
		state, err := s.Snapshot()
		require.NoError(t, err)
		r.value, r.state = string(result.Value), string(state)
	})
	require.Equal(t, map[int]int{1: 2, 2: 1}, countValues(hotel.runs), "one call broke and was made again")
	var err error
	r.text, err = os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	return r
}

// resumeAt cuts the journal at a byte, and continues the story.
func (r cutRun) resumeAt(t *testing.T, dir string, cut int, with journal.Settings, done map[int]ended) {
	t.Helper()
	require.NoError(t, os.WriteFile(storyFile(dir), r.text[:cut], 0o600))
	hotel := newBookings()
	hotel.remember(done, r.keys)
	got, s := tellStory(t, dir, hotel, with)
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	state, err := s.Snapshot()
	require.NoError(t, err)
	require.Equal(t, r.value, string(got.Value), "cut at byte %d", cut)
	require.Equal(t, r.state, string(state), "cut at byte %d", cut)
	require.True(t, chain(r.text) == chain(text), "cut at byte %d: the journal is another:\n%s", cut, text)
	for n, e := range done {
		require.True(t, !e.good || hotel.runs[r.keys[n]] == e.runs, "cut at byte %d: a call that was finished was run again", cut)
	}
}

// cutStride is 1; with -short, as under the race detector, most cuts are skipped.
func cutStride() int {
	if testing.Short() {
		return 29
	}
	return 1
}

func TestAJournalCutAtEveryByteIsResumedToTheSameEnd(t *testing.T) {
	whole := tellWhole(t, plainSettings)
	const workers = 4
	for first := range workers {
		t.Run(fmt.Sprint("from_", first), func(t *testing.T) {
			t.Parallel()
			dir, lines := t.TempDir(), -1
			var done map[int]ended
			for cut := first; cut < len(whole.text); cut += workers * cutStride() {
				if n := bytes.Count(whole.text[:cut], []byte("\n")); n != lines {
					lines, done = n, callsIn(recordsOf(t, whole.text[:cut]))
				}
				synctest.Test(t, func(t *testing.T) { whole.resumeAt(t, dir, cut, plainSettings, done) })
			}
		})
	}
}

func countValues(m map[string]int) map[int]int {
	n := map[int]int{}
	for _, v := range maps.All(m) {
		n[v]++
	}
	return n
}

func TestAJournalFileIsTheUsersAlone(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Hello.")), fixture.In(newSession(t), j), loop.Input{Prompt: "Hi."}, loop.Config{})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	info, err := os.Stat(storyFile(dir))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestARunnerGoesOnFromAnyState(t *testing.T) {
	var effects []machine.Effect
	s := newSession(t)
	r, err := fixture.Runner(s, loop.Config{}, func(_ machine.Event, e []machine.Effect, _ machine.State) { effects = e })
	require.NoError(t, err)
	_, err = r.Start(looptest.Epoch, message.Message{Role: message.User, Text: "Hi."})
	require.NoError(t, err)
	_, err = r.CallFailed(looptest.Epoch, &fault.ProviderError{Class: fault.Overloaded, Provider: "example"})
	require.NoError(t, err)
	wait := effects[len(effects)-1].Wait
	st := r.State()
	r.Close()

	again, err := engine.New(engine.RunnerConfig{Session: newSession(t), State: &st})
	require.NoError(t, err)
	defer again.Close()
	_, err = again.Woke(wait.Until)
	require.NoError(t, err)
	_, err = again.Reply(wait.Until, message.Reply{Text: "Hello.", Finish: message.Stop})
	require.NoError(t, err)
	result, err := loop.ResultOf(again.End(), nil)
	require.NoError(t, err)
	assert.Equal(t, "Hello.", result.Text)
	assert.Len(t, result.Attempts, 2)
}

func TestARunThatIsSuspendedIsLeftToBeResumed(t *testing.T) {
	for name, point := range map[string]int{"in_a_model_call": 1, "in_a_wait": 2, "before_the_answer": 3} {
		t.Run(name, func(t *testing.T) {
			whole := tellWhole(t, plainSettings)
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				j, err := journal.Open(ctx, journal.Dir(dir), "order-42", plainSettings)
				require.NoError(t, err)
				n := 0
				script := looptest.NewModel(longStory...)
				model := loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
					if n++; n == point {
						cancel(loop.ErrSuspended)
						return message.Reply{}, ctx.Err()
					}
					return script.Reply(ctx, req)
				})
				hotel := newBookings()
				_, err = fixture.Run(ctx, model, fixture.In(storySession(t), j), loop.Input{Prompt: storyPrompt}, storyConfig(t, hotel))
				require.ErrorIs(t, err, loop.ErrSuspended)
				require.NoError(t, j.Close())
				got, s := tellStory(t, dir, hotel, plainSettings)
				state, err := s.Snapshot()
				require.NoError(t, err)
				assert.Equal(t, whole.value, string(got.Value))
				assert.Equal(t, whole.state, string(state))
			})
		})
	}
}

func TestTriesThatAreSuspendedGoOn(t *testing.T) {
	dir := t.TempDir()
	try := func(ctx context.Context, make func(context.Context, loop.Attempt) (string, error)) (string, error) {
		j, err := journal.Open(ctx, journal.Dir(dir), "order-42", plainSettings)
		require.NoError(t, err)
		defer j.Close()
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		return loop.Do(ctx, fixture.In(s, j), loop.ToolCall("book_room"), make)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := try(ctx, func(_ context.Context, a loop.Attempt) (string, error) {
		if a.Number == 2 {
			cancel(loop.ErrSuspended)
		}
		return "", &fault.ToolValidationError{Tool: "book_room"}
	})
	require.ErrorIs(t, err, loop.ErrSuspended)
	got, err := try(t.Context(), func(_ context.Context, a loop.Attempt) (string, error) {
		return fmt.Sprint("attempt ", a.Number), nil
	})
	require.NoError(t, err)
	assert.Equal(t, "attempt 2", got)
}
