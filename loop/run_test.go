package loop_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

type (
	booking = fixture.Booking
	receipt = fixture.Receipt
	refused = fixture.Refused
)

const lisbon = fixture.Lisbon

var (
	call     = fixture.Call
	booked   = fixture.Booked
	slicesOf = fixture.Repeat
)

func bookRoom(t *testing.T, book func(context.Context, booking) (receipt, error)) *tool.Set {
	t.Helper()
	return fixture.BookRoom(t, book)
}

func newSession(t *testing.T) *session.Session {
	t.Helper()
	return fixture.NewSession(t)
}

func TestABadCallIsCorrectedAndABadAnswerToo(t *testing.T) {
	model := looptest.NewModel(
		looptest.Call(call("book_room", `{"city": "Lisbon", "nights": "two"}`)),
		looptest.Call(call("book_room", `{"city": "Lisbon", "nights": 2, "room": "double"}`)),
		looptest.Say(`Booked: {"number": 1}`),
		looptest.Say(`{"number": "R-1"}`),
	)
	s := newSession(t)
	answer, err := fixture.Generate[receipt](t.Context(), model, s, loop.Input{Prompt: "Two nights in Lisbon, please."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	assert.Equal(t, "R-1", answer.Value.Number)
	assert.Len(t, answer.Attempts, 4)
	assert.Equal(t, 4, answer.Turns)
	corrected := model.Requests()[1].Last()
	assert.Equal(t, message.Tool, corrected.Role)
	assert.True(t, corrected.IsError)
	assert.Contains(t, corrected.Text, "- nights: expected integer (at least 1, at most 30), got string\n- room: required, expected one of \"single\", \"double\"\n")
}

func TestExhaustionHasEveryAttemptAndCause(t *testing.T) {
	bad := looptest.Call(call("book_room", `{}`))
	_, err := fixture.Run(t.Context(), looptest.NewModel(bad, bad, bad), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)})
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Len(t, exhausted.Attempts, 3)
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	var invalid *fault.ToolValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "book_room", invalid.Tool)
	assert.EqualError(t, err, `book_room: attempt 3 of 3 on the correction plane: attempts used up: arguments of tool "book_room": city: required, expected string (at least 1 character); nights: required, expected integer (at least 1, at most 30); room: required, expected one of "single", "double"`)
}

func TestAFaultyPromptTemplateIsTheOnlyErrorThatIsTold(t *testing.T) {
	s := newSession(t)
	_, err := fixture.Run(t.Context(), looptest.NewModel(), s, loop.Input{Prompt: "Book."}, loop.Config{System: "{{.Vars.nope}}"})
	require.ErrorContains(t, err, "system:")
	assert.NotContains(t, err.Error(), "does not fit")
	require.NoError(t, session.DriverOf(s).Acquire(), "the session is free again")
}

func TestAPromptOfTheUsersCodeTakesThePlaceOfTheTemplate(t *testing.T) {
	model := looptest.NewModel(looptest.Say("done"))
	made := func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
		return "made by code", nil, nil
	}
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{System: "made by template"}, loop.WithPrompt(made))
	require.NoError(t, err)
	assert.Equal(t, "made by code", model.Requests()[0].System)
}

func TestThePositionsOfAPromptFunctionAreItsOwn(t *testing.T) {
	var kept []machine.Position
	made := func(_ context.Context, _ session.State, at []machine.Position) (string, []message.Message, error) {
		kept = at
		return "", nil, nil
	}
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		kept[0].Attempt = 77
		assert.Equal(t, 1, req.At[0].Attempt)
		return message.Reply{Text: "done", Finish: message.Stop}, nil
	})
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{}, loop.WithPrompt(made))
	require.NoError(t, err)
}

func TestAConversationGoesOnWhereItStood(t *testing.T) {
	s := newSession(t)
	first, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say("In Lisbon.")), s, loop.Input{Prompt: "Where?"}, loop.Config{})
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Say("Two."))
	second, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "How many nights?"}, loop.Config{})
	require.NoError(t, err)
	var texts []string
	for _, m := range second.Transcript {
		texts = append(texts, m.Text)
	}
	assert.Equal(t, []string{"Where?", "In Lisbon.", "How many nights?", "Two."}, texts)
	assert.Equal(t, 2, len(first.Transcript), "what the first run returned stays as it was")
	assert.Equal(t, 3, len(model.Requests()[0].Messages))

	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "And?", History: first.Transcript}, loop.Config{})
	require.EqualError(t, err, "loop: input: history: the session holds a conversation of 4 messages: "+
		"leave History out to continue it, or set NewConversation to begin another")
	model = looptest.NewModel(looptest.Say("Three."), looptest.Say("Four."))
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "How many nights?", History: first.Transcript, NewConversation: true}, loop.Config{})
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Where?", NewConversation: true}, loop.Config{})
	require.NoError(t, err)
	assert.Equal(t, 3, len(model.Requests()[0].Messages), "what was said otherwise is no part of it")
	assert.Equal(t, 1, len(model.Requests()[1].Messages))
}

// A kept session, and a journal that is opened again, continue the conversation, too.
func TestAConversationGoesOnInAnotherProcess(t *testing.T) {
	ask := func(s *session.Session, model *looptest.Model, prompt string) {
		_, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: prompt}, loop.Config{})
		require.NoError(t, err)
	}
	model := looptest.NewModel(looptest.Say("In Lisbon."), looptest.Say("Two."), looptest.Say("Yes."))
	s := newSession(t)
	ask(s, model, "Where?")
	kept, err := s.Snapshot()
	require.NoError(t, err)
	s, err = session.Restore(session.Config{}, kept)
	require.NoError(t, err)
	ask(s, model, "How many nights?")
	assert.Equal(t, 3, len(model.Requests()[1].Messages))

	store, model := &looptest.Store{}, looptest.NewModel(looptest.Say("In Lisbon."), looptest.Say("Two."))
	for _, prompt := range []string{"Where?", "", "", "How many nights?"} {
		j, err := journal.Open(t.Context(), store, "chat", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		if prompt != "" {
			ask(fixture.In(s, j), model, prompt)
		} else { // the tries of an action lie between
			_, err = loop.Do(t.Context(), fixture.In(s, j), loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) { return 1, nil })
			require.NoError(t, err)
		}
		require.NoError(t, j.Close())
	}
	assert.Equal(t, 3, len(model.Requests()[1].Messages))
}

// The same call continues an unfinished run of its journal, with its type. A run of another request is not
// continued, and an ended run with the same RequestID is not repeated.
func TestRunGoesOnWithTheRequestThatItsJournalHolds(t *testing.T) {
	type answer struct {
		Nights int `json:"nights"`
	}
	store := &looptest.Store{}
	ask := func(prompt, id string, script ...looptest.Turn) (loop.Answer[answer], error) {
		j, err := journal.Open(t.Context(), store, "chat", journal.Settings{})
		require.NoError(t, err)
		defer func() { require.NoError(t, j.Close()) }()
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		ctx, leave := context.WithCancelCause(t.Context())
		defer leave(nil)
		model := looptest.NewModel(script...)
		return fixture.Generate[answer](ctx, loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
			if len(script) == len(model.Requests()) {
				leave(loop.ErrSuspended)
				return message.Reply{}, ctx.Err()
			}
			return model.Reply(ctx, req)
		}), fixture.In(s, j), loop.Input{Prompt: prompt, RequestID: id}, loop.Config{})
	}
	_, err := ask("Book.", "", looptest.Say(`{}`))
	require.ErrorIs(t, err, loop.ErrSuspended)
	_, err = ask("Cancel.", "", looptest.Say(`{"nights": 1}`))
	require.ErrorIs(t, err, journal.ErrConflict)
	require.ErrorContains(t, err, "continue it with Loop.Resume")
	got, err := ask("Book.", "", looptest.Say(`{"nights": 2}`))
	require.NoError(t, err)
	assert.Equal(t, 2, got.Value.Nights)
	assert.Len(t, got.Attempts, 2, "the attempt before the break too")

	_, err = ask("One more.", "r1", looptest.Say(`{"nights": 3}`))
	require.NoError(t, err)
	got, err = ask("One more.", "r1")
	require.NoError(t, err)
	assert.Equal(t, 3, got.Value.Nights, "as recorded")
	got, err = ask("One more.", "r2", looptest.Say(`{"nights": 4}`))
	require.NoError(t, err)
	assert.Equal(t, 4, got.Value.Nights)
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	_, err := fixture.Run(t.Context(), nil, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{})
	require.EqualError(t, err, "loop: the model is nil: set one")
}

// Whoever does not look at the error of a constructor has a nil pointer, whose methods panic.
func TestANilPointerIsNoModel(t *testing.T) {
	var none *looptest.Model
	set := policy.DefaultSet()
	set.Spending.Run.TotalTokens = new(int64(1000)) // the models are asked what they are
	cfg := loop.Config{Policy: &set}
	_, err := loop.New(none, cfg)
	require.EqualError(t, err, "loop: the model is nil: set one")
	_, err = loop.New(loop.ModelFunc(nil), cfg)
	require.EqualError(t, err, "loop: the model is nil: set one")
	_, err = loop.NewPool(loop.PoolConfig{Model: none, Config: cfg})
	require.ErrorContains(t, err, "model: is nil: set a model")
	set.Call.PerAttempt = []policy.Settings{{Model: "big"}}
	_, err = loop.New(looptest.NewModel(), cfg, loop.WithModels(map[string]loop.Model{"big": none}))
	require.ErrorContains(t, err, "WithModels gives the models of a run")
}

// So has a program that keeps the loop of a failed New, or makes one without it.
func TestALoopIsMadeWithNew(t *testing.T) {
	in := loop.Input{Prompt: "Book."}
	for _, l := range []*loop.Loop{nil, {}} {
		for name, use := range map[string]func(context.Context) error{
			"run":      func(ctx context.Context) error { _, err := l.Run(ctx, nil, in); return err },
			"generate": func(ctx context.Context) error { _, err := loop.Generate[receipt](ctx, l, nil, in); return err },
			"resume":   func(ctx context.Context) error { _, err := l.Resume(ctx, newSession(t)); return err },
			"answer":   func(context.Context) error { return l.Answer("order-42", machine.Response{}) },
			"within":   func(ctx context.Context) error { _, err := l.Within(ctx, in); return err },
		} {
			require.EqualError(t, use(t.Context()), "loop: the loop is nil or empty: make it with New", name)
		}
	}
}

func TestARunWithoutASessionHasOneOfItsOwn(t *testing.T) {
	result, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say("In Lisbon.")), nil, loop.Input{Prompt: "Where?"}, loop.Config{})
	looptest.AssertAnswer(t, result, err, "In Lisbon.")

	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("In Lisbon.")), fixture.In(nil, j), loop.Input{Prompt: "Where?"}, loop.Config{})
	require.NoError(t, err)
	assert.Contains(t, string(store.Text("order-42")), "In Lisbon.")
}

func TestARunThatAReducerEndedHasItsError(t *testing.T) {
	sold := errors.New("sold out")
	rooms := session.StateSlice[string]("rooms")
	s, err := session.New(session.Config{
		Slices: []session.Declared{rooms},
		Reducers: []session.Reducer{session.On(rooms, session.EventToolResult, "keep", func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
			return reducer.None[string](), sold
		})},
	})
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Global.OnReducerError = policy.ReducerStopsRun
	model := looptest.NewModel(looptest.Call(call("book_room", lisbon)))
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked), Policy: &set})
	var refused *fault.ReducerError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "keep", refused.Reducer)
	require.ErrorIs(t, err, sold, "and what the reducer returned")
}

// A loop makes many runs, each with its own session and journal.
func TestALoopIsMadeReadyOnce(t *testing.T) {
	_, err := loop.New(nil, loop.Config{})
	require.EqualError(t, err, "loop: the model is nil: set one")
	_, err = loop.New(looptest.NewModel(), loop.Config{System: "{{"})
	require.ErrorContains(t, err, "system: ")
	model := looptest.NewModel(looptest.Call(call("book_room", `{}`)), looptest.Say("One."), looptest.Say("Two."))
	l, err := loop.New(model, loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	store := &looptest.Store{}
	for _, id := range []string{"a", "b"} {
		j, err := journal.Open(t.Context(), store, id, journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{Journal: j})
		require.NoError(t, err)
		_, err = l.Run(t.Context(), s, loop.Input{Prompt: "Book."})
		require.NoError(t, err)
		require.NoError(t, j.Close())
		require.NotEmpty(t, store.Text(id))
	}
	assert.Len(t, model.Requests(), 3)
}

func TestAMessageWithoutARoleIsRefused(t *testing.T) {
	gemini := []message.Message{{Role: message.User, Text: "Hello."}, {Role: "model", Text: "Hello!"}}
	want := `[1].role: must be system, user, assistant or tool, got "model"`
	model := looptest.NewModel()

	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Go.", History: gemini}, loop.Config{})
	require.EqualError(t, err, "loop: input: history"+want)

	made := func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
		return "", gemini, nil
	}
	_, err = fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithPrompt(made))
	require.EqualError(t, err, "making the prompt: messages"+want)

	s := newSession(t)
	require.NoError(t, session.DriverOf(s).Acquire())
	require.NoError(t, session.DriverOf(s).Conclude(session.Contents{State: s.State(), Conversation: gemini}))
	snapshot, err := s.Snapshot()
	require.NoError(t, err)
	_, err = session.Restore(session.Config{}, snapshot)
	require.EqualError(t, err, "snapshot: conversation: must be messages: "+want)
	assert.Empty(t, model.Requests())
}

func TestARequestIsAnsweredOnce(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	asked := 0
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		asked++
		return message.Reply{Text: fmt.Sprintf("Answer %d.", asked), Finish: message.Stop}, nil
	})
	run := func(id, prompt string) (loop.Result, error) {
		j := recorded(t, dir)
		defer j.Close()
		return fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: prompt, RequestID: id}, loop.Config{})
	}
	for n, id := range []string{"r-1", "r-2", "r-3"} {
		r, err := run(id, "Go on.")
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("Answer %d.", n+1), r.Text)
	}
	last, err := run("r-3", "Go on.")
	require.NoError(t, err)
	assert.Equal(t, "Answer 3.", last.Text)
	assert.Len(t, last.Transcript, 6)

	require.NoError(t, journal.Compact(t.Context(), dir, "order-42", nil))
	first, err := run("r-1", "Go on.")
	require.NoError(t, err)
	assert.Equal(t, "Answer 1.", first.Text, "also of a request before the last, in a compacted journal")
	assert.Empty(t, first.Transcript)
	assert.Equal(t, 3, asked)

	_, err = run("r-3", "Go back.")
	require.EqualError(t, err, `loop: input: request_id: "r-3" belongs to another prompt in the journal: give each request its own id`)
}
