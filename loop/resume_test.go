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
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// longStory has a wait on either plane, a correction, three calls at once of which one breaks at first, and a bad answer.
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

// bookings is the hotel: it outlives every crash.
type bookings struct {
	mu sync.Mutex
	// runs counts the runs of each call, by its idempotency key.
	runs map[string]int
	// lands closes landed, when the third call has been booked.
	lands  sync.Once
	landed chan struct{}
}

func newBookings() *bookings {
	return &bookings{runs: map[string]int{}, landed: make(chan struct{})}
}

func (b *bookings) land() { b.lands.Do(func() { close(b.landed) }) }

func (b *bookings) book(ctx context.Context, want booking) (receipt, error) {
	b.mu.Lock()
	b.runs[tool.IdempotencyKey(ctx)]++
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
	return receipt{"R-" + want.City}, nil
}

var cities = session.StateSlice[string]("cities")

// storySession has a reducer that keeps what was booked.
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

// tellStory runs or resumes the long story in a journal, as one process would.
func tellStory(t *testing.T, dir string, hotel *bookings) (loop.Result, *session.Session) {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{Sync: journal.SyncNever})
	require.NoError(t, err)
	defer j.Close()
	typed, err := schema.For[receipt]()
	require.NoError(t, err)
	s := storySession(t)
	cfg := loop.Config{Tools: bookRoom(t, hotel.book), Output: typed.Schema(), Seed: "7", System: "{{with feedback}}{{.}}{{end}}"}
	model := looptest.NewModel(longStory[asked(t, dir):]...)
	result, err := loop.Resume(t.Context(), j, model, s, cfg)
	if errors.Is(err, journal.ErrNoRun) {
		result, err = loop.Run(t.Context(), model, s, "Three rooms.", cfg, loop.WithJournal(j))
	}
	require.NoError(t, err)
	return result, s
}

// records reads the journal of the story.
func records(t *testing.T, dir string) []journal.Record {
	t.Helper()
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
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

// asked counts the outcomes of model calls that a journal holds: the provider is at the next.
func asked(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	for _, rec := range records(t, dir) {
		if rec.Event != nil && (rec.Event.Kind == machine.Replied || rec.Event.Kind == machine.CallFailed) {
			n++
		}
	}
	return n
}

// ended is what a journal holds of a call.
type ended struct {
	runs int
	good bool
}

// calls are the calls whose outcomes a journal holds, by key.
func calls(t *testing.T, dir string) map[string]ended {
	t.Helper()
	seen := map[string]ended{}
	var (
		runs   []machine.ToolRun
		landed = map[string]bool{}
	)
	end := func(key string, e machine.ToolEnd) {
		seen[key] = ended{seen[key].runs + 1, e.Verdict == machine.Done}
	}
	for _, rec := range records(t, dir) {
		switch {
		case rec.Note != nil && rec.Note.Landed != nil:
			landed[rec.Note.Landed.Key] = true
			end(rec.Note.Landed.Key, rec.Note.Landed.End)
		case rec.Decision != nil && len(rec.Decision.Effects) > 0 && rec.Decision.Effects[len(rec.Decision.Effects)-1].Tools != nil:
			runs = rec.Decision.Effects[len(rec.Decision.Effects)-1].Tools
			clear(landed)
		case rec.Event != nil && rec.Event.Tool != nil:
			for _, run := range runs {
				if run.Index == rec.Event.Tool.Index && !landed[run.Key] {
					end(run.Key, *rec.Event.Tool)
				}
			}
		}
	}
	return seen
}

// chain are the lines of a journal that are no notes.
func chain(text []byte) string {
	var kept []string
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, `,"record":{"note":`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// cutRun is the long story told without a crash.
type cutRun struct {
	text  []byte
	value string
	state string
}

func tellWhole(t *testing.T) (r cutRun) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(storyFile(dir), nil, 0o600))
	hotel := newBookings()
	synctest.Test(t, func(t *testing.T) {
		result, s := tellStory(t, dir, hotel)
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

// resumeAt cuts the journal at a byte, and tells the rest of the story.
func (r cutRun) resumeAt(t *testing.T, dir string, cut int) {
	t.Helper()
	require.NoError(t, os.WriteFile(storyFile(dir), r.text[:cut], 0o600))
	done, hotel := calls(t, dir), newBookings()
	for key, e := range done {
		hotel.runs[key] = e.runs
		hotel.land()
	}
	got, s := tellStory(t, dir, hotel)
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	state, err := s.Snapshot()
	require.NoError(t, err)
	require.Equal(t, r.value, string(got.Value), "cut at byte %d", cut)
	require.Equal(t, r.state, string(state), "cut at byte %d", cut)
	require.True(t, chain(r.text) == chain(text), "cut at byte %d: the journal is another:\n%s", cut, text)
	for key, e := range done {
		require.True(t, !e.good || hotel.runs[key] == e.runs, "cut at byte %d: a call that was finished was run again", cut)
	}
}

func TestAJournalCutAtEveryByteIsResumedToTheSameEnd(t *testing.T) {
	whole := tellWhole(t)
	const workers = 4
	for first := range workers {
		t.Run(fmt.Sprint("from_", first), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for cut := first; cut < len(whole.text); cut += workers {
				synctest.Test(t, func(t *testing.T) { whole.resumeAt(t, dir, cut) })
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
	_, err = loop.Run(t.Context(), looptest.NewModel(looptest.Say("Hello.")), newSession(t), "Hi.", loop.Config{}, loop.WithJournal(j))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	info, err := os.Stat(storyFile(dir))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}
