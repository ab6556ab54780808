package journal_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/race"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// discard is a store that drops everything.
type discard struct{}

func (discard) List(context.Context) ([]string, error)              { return nil, nil }
func (d discard) Open(context.Context, string) (journal.Log, error) { return d, nil }
func (discard) Read(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(nil)), nil
}
func (discard) Append(context.Context, int64, []byte, bool) error         { return nil }
func (discard) Replace(ctx context.Context, at int64, lines []byte) error { return nil }
func (discard) Close() error                                              { return nil }

// memory is a store of one journal in memory.
type memory struct {
	discard
	text []byte
}

func (k *memory) Open(context.Context, string) (journal.Log, error) { return k, nil }
func (k *memory) Read(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(k.text)), nil
}
func (k *memory) Append(_ context.Context, _ int64, lines []byte, _ bool) error {
	k.text = append(k.text, lines...)
	return nil
}

// tried is a run of attempts that fail until they are stopped: the smallest possible steps.
func tried(t testing.TB, store journal.Store) (machine.State, *journal.Journal) {
	t.Helper()
	free := policy.Unlimited
	set := policy.DefaultSet()
	set.Budgets, set.Global = policy.Budgets{Tool: free, Run: free, UnknownTools: free}, policy.Layer{MaxAttempts: &free}
	cfg := machine.Config{Single: true, Action: "book_room", Policy: set, Limits: feedback.DefaultLimits(), Behaviours: machine.Behaviours()}
	held, err := session.NewState(theSession)
	require.NoError(t, err)
	st, err := machine.New(cfg, held)
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), store, theSession, journal.Settings{Sync: journal.SyncNever})
	require.NoError(t, err)
	require.NoError(t, j.Begin(journal.Header{Config: cfg}, st))
	return st, j
}

// atNoon is the time of all steps.
var atNoon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func failedTry() machine.Event {
	return machine.Event{Kind: machine.Tried, At: atNoon, Try: &machine.Try{Failure: fault.Failure{
		Plane: fault.Correction, Class: fault.ToolValidation, Issues: []fault.Issue{{Pointer: "/nights", Rule: "type", Expected: "integer", Got: fault.String, Source: fault.FromSchema}},
	}}}
}

func stepOf(t testing.TB, st machine.State, ev machine.Event) (machine.State, []machine.Effect) {
	effects, err := machine.Step(&st, &ev)
	require.NoError(t, err)
	return st, effects
}

// BenchmarkJournalAppend records one step: an event and its decision, two records.
func BenchmarkJournalAppend(b *testing.B) {
	st, j := tried(b, discard{})
	st, effects := stepOf(b, st, machine.Event{Kind: machine.Started, At: atNoon})
	require.NoError(b, j.Step(machine.Event{Kind: machine.Started, At: atNoon}, effects, st))
	ev := failedTry()
	st, effects = stepOf(b, st, ev)
	b.ReportAllocs()
	for b.Loop() {
		if err := j.Step(ev, effects, st); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2, "ns/record")
}

// A step is written once, to where it is appended from.
func TestAStepTakesLittleMemoryToRecord(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself")
	}
	st, j := tried(t, discard{})
	st, effects := stepOf(t, st, machine.Event{Kind: machine.Started, At: atNoon})
	require.NoError(t, j.Step(machine.Event{Kind: machine.Started, At: atNoon}, effects, st))
	ev := failedTry()
	st, effects = stepOf(t, st, ev)
	allocs := testing.AllocsPerRun(100, func() { _ = j.Step(ev, effects, st) })
	assert.LessOrEqual(t, allocs, 16.0)
}

func startedNow() machine.Event { return machine.Event{Kind: machine.Started, At: atNoon} }

// manySteps is a journal of 2,000 steps.
func manySteps(b *testing.B) []byte {
	store := &memory{}
	st, j := tried(b, store)
	ev := startedNow()
	for range 2000 {
		next, effects := stepOf(b, st, ev)
		require.NoError(b, j.Step(ev, effects, next))
		st, ev = next, failedTry()
	}
	return store.text
}

// BenchmarkReplayTries reads, verifies, decodes, folds and compares a journal of 2,000 steps.
func BenchmarkReplayTries(b *testing.B) {
	text := manySteps(b)
	records := float64(bytes.Count(text, []byte("\n")))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := journal.Replay(bytes.NewReader(text), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
