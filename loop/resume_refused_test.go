package loop_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
)

// toBig falls back to the model "big".
type toBig struct{}

func (toBig) Plan(context.Context, planner.Question) (machine.Plan, error) {
	return machine.Plan{Do: machine.Fallback, Model: "big"}, nil
}

// A run that is resumed without the model that it fell back to does not change.
func TestAResumedRunNeedsTheModelItFellBackTo(t *testing.T) {
	dir := t.TempDir()
	open := func() *journal.Journal {
		j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
		require.NoError(t, err)
		return j
	}
	set := policy.DefaultSet()
	set.Transport.MaxAttempts = new(1)
	cfg, planner := loop.Config{Policy: &set}, loop.WithPlanner(toBig{})
	models := loop.WithModels(map[string]loop.Model{"big": looptest.NewModel(looptest.Say("x"), looptest.Say("x"))})
	down := looptest.Fail(&fault.ProviderError{Class: fault.Network, Provider: "example"})
	j := open()
	_, err := fixture.Run(t.Context(), looptest.NewModel(down), fixture.In(newSession(t), j), loop.Input{Prompt: "Go."}, cfg, planner, models)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	before, _, found := strings.Cut(string(text), `{"event":{"kind":"replied","at":"`+lastTime(t, text)+`"`)
	require.True(t, found)
	before = before[:strings.LastIndexByte(before, '\n')+1]
	require.NoError(t, os.WriteFile(storyFile(dir), []byte(before), 0o600))

	j = open()
	_, err = fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), cfg, planner)
	require.ErrorContains(t, err, `model "big": add it with WithModels`)
	assert.True(t, j.Unfinished())
	result, err := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), cfg, planner, models)
	require.NoError(t, err)
	assert.Equal(t, "x", result.Text)
	require.NoError(t, j.Close())
}

// lastTime is the time of the last event.
func lastTime(t *testing.T, text []byte) string {
	t.Helper()
	at := strings.LastIndex(string(text), `"event":{`)
	require.Positive(t, at)
	_, after, _ := strings.Cut(string(text[at:]), `"at":"`)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

// full is a store whose disk is full after some appends.
type full struct {
	journal.Store
	left *int
}

type fullLog struct {
	journal.Log
	left *int
}

func (f full) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := f.Store.Open(ctx, session)
	return fullLog{log, f.left}, err
}

func (f fullLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	if *f.left--; *f.left < 0 {
		return errors.New("no space left")
	}
	return f.Log.Append(ctx, at, lines, durable)
}

// If a journal could not be written, it is behind its run. Later runs and actions neither wait for that run
// nor continue it. A run with a structured answer does not accept any text when it continues. After its end
// its answer is returned again.
func TestAResumedRunNeedsTheSchemaOfItsAnswer(t *testing.T) {
	type stay struct {
		Nights int `json:"nights" validate:"min=1"`
	}
	typed, err := schema.For[stay]()
	require.NoError(t, err)
	dir := t.TempDir()
	open := func() *journal.Journal {
		j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
		require.NoError(t, err)
		return j
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	leaves := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		cancel(loop.ErrSuspended)
		return message.Reply{}, ctx.Err()
	})
	j := open()
	_, err = fixture.Generate[stay](ctx, leaves, fixture.In(newSession(t), j), loop.Input{Prompt: "Go."}, loop.Config{})
	require.ErrorIs(t, err, loop.ErrSuspended)
	require.NoError(t, j.Close())

	const missing = "loop: the resumed run wants an answer of a schema: set Config.Output"
	j = open()
	_, err = fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), loop.Config{})
	require.EqualError(t, err, missing)
	assert.True(t, j.Unfinished())
	_, _, err = fixture.ResumeRunner(fixture.In(newSession(t), j), loop.Config{})
	require.EqualError(t, err, missing)
	_, err = fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), loop.Config{Output: typed.Schema(), CallsOnly: true, Tools: bookRoom(t, booked)})
	require.EqualError(t, err, "loop: the resumed run began with Config.CallsOnly false: set it so")
	model := looptest.NewModel(looptest.Say("two"), looptest.Say(`{"nights": 2}`))
	result, err := fixture.Resume(t.Context(), model, fixture.In(newSession(t), j), loop.Config{Output: typed.Schema()})
	require.NoError(t, err)
	assert.JSONEq(t, `{"nights": 2}`, string(result.Value))
	result, err = fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), loop.Config{})
	require.NoError(t, err)
	assert.JSONEq(t, `{"nights": 2}`, string(result.Value))
	require.NoError(t, j.Close())
}

func TestRunsAfterAJournalCouldNotBeWritten(t *testing.T) {
	for _, appends := range []int{0, 1} {
		for _, on := range []journal.OnError{journal.GoOn, journal.StopRun} {
			left := appends
			j, err := journal.Open(t.Context(), full{journal.Dir(t.TempDir()), &left}, "order-42", journal.Settings{OnError: on})
			require.NoError(t, err)
			s := newSession(t)
			run := func() error {
				_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say(""), looptest.Say("x")), fixture.In(s, j), loop.Input{Prompt: "Go."}, loop.Config{})
				return err
			}
			do := func() error {
				_, err := loop.Do(t.Context(), fixture.In(s, j), loop.ToolCall("pay"), func(_ context.Context, a loop.Attempt) (int, error) {
					assert.Equal(t, 1, a.Number, "it is a new action")
					return 1, nil
				})
				return err
			}
			for _, err := range []error{run(), run(), do(), do()} {
				if on == journal.StopRun {
					require.ErrorIs(t, err, journal.ErrUnwritable)
				} else {
					require.NoError(t, err)
				}
			}
			_, err = fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(s, j), loop.Config{})
			require.ErrorIs(t, err, journal.ErrUnwritable)
			require.NoError(t, j.Close())
		}
	}
}

// An action whose first step could not be recorded frees its session.
func TestASessionIsFreeAfterAJournalCouldNotBeWritten(t *testing.T) {
	left := 0
	j, err := journal.Open(t.Context(), full{journal.Dir(t.TempDir()), &left}, "order-42", plainSettings)
	require.NoError(t, err)
	s := newSession(t)
	_, err = loop.Do(t.Context(), fixture.In(s, j), loop.ToolCall("pay"), script())
	require.ErrorIs(t, err, journal.ErrUnwritable)
	require.NoError(t, session.DriverOf(s).Acquire())
	require.NoError(t, j.Close())
}

// A snapshot has the redacted texts of a run, so the run cannot continue from it.
func TestARedactedRunIsCompactedOnlyAfterItsEnd(t *testing.T) {
	rules := redactions()["by_pointer"]
	rules.Transcripts = &kept{texts: map[string]string{}}
	whole := tellWhole(t, journal.Settings{Sync: journal.SyncNever, Redact: rules})
	dir := t.TempDir()
	half := whole.text[:strings.Index(string(whole.text), `"woke"`)]
	half = half[:strings.LastIndexByte(string(half), '\n')+1]
	require.NoError(t, os.WriteFile(storyFile(dir), half, 0o600))
	require.ErrorIs(t, journal.Compact(t.Context(), journal.Dir(dir), "order-42", nil), journal.ErrRedacted)
	now, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	assert.Equal(t, string(half), string(now))
	require.NoError(t, os.WriteFile(storyFile(dir), whole.text, 0o600))
	require.NoError(t, journal.Compact(t.Context(), journal.Dir(dir), "order-42", nil))
}

func TestAnActionWithoutASessionIsRecordedToo(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
	require.NoError(t, err)
	_, err = loop.Do(t.Context(), fixture.In(nil, j), loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) { return 1, nil })
	require.NoError(t, err)
	require.NoError(t, j.Close())
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"tried"`)
}

// A version that is deployed while a run waits names the slices that it may not add or leave out yet.
func TestAnUnfinishedRunKeepsItsSlices(t *testing.T) {
	cart, total := session.LogSlice[string]("cart"), session.StateSlice[int]("total")
	store := &looptest.Store{}
	open := func(slices ...session.Declared) *session.Session {
		j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, j.Close()) })
		s, err := session.New(session.Config{Journal: j, Slices: slices})
		require.NoError(t, err)
		return s
	}
	ctx, leave := context.WithCancelCause(t.Context())
	leaves := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		leave(loop.ErrSuspended)
		return message.Reply{}, context.Canceled
	})
	s := open(cart)
	_, err := fixture.Run(ctx, leaves, s, loop.Input{Prompt: "Go."}, loop.Config{})
	require.ErrorIs(t, err, loop.ErrSuspended)
	j, err := journal.Of(s)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	for want, slices := range map[string][]session.Declared{
		`loop: the unfinished run in the journal has slices that the session does not declare so: slice "cart": unknown slice`: {total},
		`loop: the unfinished run in the journal has no slice "total": leave it out until the run has ended`:                   {cart, total},
	} {
		s := open(slices...)
		_, err := fixture.Resume(t.Context(), looptest.NewModel(), s, loop.Config{})
		require.EqualError(t, err, want)
		j, err := journal.Of(s)
		require.NoError(t, err)
		require.NoError(t, j.Close())
	}
}
