package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	_ "github.com/retake-go/retake/feedback/prompt"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/internal/fixture"
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
	answer, err := loop.Generate[receipt](t.Context(), model, s, "Two nights in Lisbon, please.",
		loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	assert.Equal(t, "R-1", answer.Value.Number)
	assert.Len(t, answer.Attempts, 4)
	assert.Equal(t, 4, answer.Turns)
	corrected, _ := model.Requests()[1].Messages.Last()
	assert.Equal(t, message.Tool, corrected.Role)
	assert.True(t, corrected.IsError)
	assert.Contains(t, corrected.Text, "- nights: expected integer (at least 1, at most 30), got string\n- room: required, expected one of \"single\", \"double\"\n")
}

func TestExhaustionHasEveryAttemptAndCause(t *testing.T) {
	bad := looptest.Call(call("book_room", `{}`))
	_, err := loop.Run(t.Context(), looptest.NewModel(bad, bad, bad), newSession(t), "Book.", loop.Config{Tools: bookRoom(t, booked)})
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Len(t, exhausted.Attempts, 3)
	require.ErrorIs(t, err, policy.AttemptsExhausted)
	var invalid *fault.ToolValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "book_room", invalid.Tool)
	assert.EqualError(t, err, `book_room: attempt 3 of 3 on the correction plane: attempts used up: arguments of tool "book_room": city: required, expected string (at least 1 character); nights: required, expected integer (at least 1, at most 30); room: required, expected one of "single", "double"`)
}

func TestAFaultyPromptTemplateIsTheOnlyErrorThatIsTold(t *testing.T) {
	s := newSession(t)
	_, err := loop.Run(t.Context(), looptest.NewModel(), s, "Book.", loop.Config{System: "{{.Vars.nope}}"})
	require.ErrorContains(t, err, "system:")
	assert.NotContains(t, err.Error(), "does not fit")
	require.NoError(t, s.Acquire(), "the session is free again")
}

func TestAPromptOfTheUsersCodeTakesThePlaceOfTheTemplate(t *testing.T) {
	model := looptest.NewModel(looptest.Say("done"))
	made := func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
		return "made by code", nil, nil
	}
	_, err := loop.Run(t.Context(), model, newSession(t), "Book.", loop.Config{System: "made by template"}, loop.WithPrompt(made))
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
	_, err := loop.Run(t.Context(), model, newSession(t), "Book.", loop.Config{}, loop.WithPrompt(made))
	require.NoError(t, err)
}

func TestAConversationGoesOnWhereItStood(t *testing.T) {
	s := newSession(t)
	first, err := loop.Run(t.Context(), looptest.NewModel(looptest.Say("In Lisbon.")), s, "Where?", loop.Config{})
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Say("Two."))
	second, err := loop.Run(t.Context(), model, s, "How many nights?", loop.Config{History: first.Transcript})
	require.NoError(t, err)
	var texts []string
	for _, m := range second.Transcript.All() {
		texts = append(texts, m.Text)
	}
	assert.Equal(t, []string{"Where?", "In Lisbon.", "How many nights?", "Two."}, texts)
	assert.Equal(t, 2, first.Transcript.Len(), "what the first run returned stays as it was")
	assert.Equal(t, 3, model.Requests()[0].Messages.Len())
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	_, err := loop.Run(t.Context(), nil, newSession(t), "Book.", loop.Config{})
	require.EqualError(t, err, "loop: the model is nil: give one that replies")
	_, err = loop.Run(t.Context(), looptest.NewModel(), nil, "Book.", loop.Config{})
	require.EqualError(t, err, "loop: the session is nil: make one with session.New")
}

func TestARunThatAReducerEndedHasItsError(t *testing.T) {
	sold := errors.New("sold out")
	rooms := session.StateSlice[string]("rooms")
	s, err := session.New(session.Config{
		Slices: []session.Declared{rooms},
		Reducers: []session.Reducer{session.On(rooms, session.ToolResult, "keep", func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
			return reducer.None[string](), sold
		})},
	})
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Global.OnReducerError = policy.StopRun
	model := looptest.NewModel(looptest.Call(call("book_room", lisbon)))
	_, err = loop.Run(t.Context(), model, s, "Book.", loop.Config{Tools: bookRoom(t, booked), Policy: &set})
	var refused *fault.ReducerError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "keep", refused.Reducer)
	require.ErrorIs(t, err, sold, "and what the reducer returned")
}
