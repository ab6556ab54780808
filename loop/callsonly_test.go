package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

func unbookable(t *testing.T) func(context.Context, booking) (receipt, error) {
	return func(context.Context, booking) (receipt, error) {
		t.Error("the tool was run")
		return receipt{}, nil
	}
}

func TestCallsAreTheAnswer(t *testing.T) {
	good := call("book_room", `{"city": "Lisbon", "nights": 2, "room": "double"}`)
	other := message.Call{ID: "c2", Name: "book_room", Arguments: `{"city": "Porto", "nights": 90, "room": "double"}`}
	model := looptest.NewModel(
		looptest.Say("I will book it for you."),
		looptest.Call(good, other),
		looptest.Call(good),
	)
	s := newSession(t)
	result, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true})
	require.NoError(t, err)

	require.Len(t, result.Calls, 1)
	assert.Equal(t, "book_room", result.Calls[0].Tool)
	assert.JSONEq(t, good.Arguments, string(result.Calls[0].Arguments))
	assert.NotEmpty(t, result.Calls[0].Key)
	assert.Equal(t, 3, result.Turns)

	require.Len(t, result.Attempts, 3)
	assert.Equal(t, fault.NoOutput, result.Attempts[0].Class)
	assert.Equal(t, fault.ToolValidation, result.Attempts[1].Class)
	assert.Equal(t, policy.ReasonAccepted, result.Attempts[2].Reason)

	last := model.Requests()[1].Last()
	assert.Equal(t, "Automatic check, not a message from the user: your reply has no tool call in it that can be read (attempt 1 of 3).\n"+
		"Reply with a call of one of the tools that exist, by its exact name and with all its arguments.", last.Text)
}

func TestCallsOnlyWithoutACallIsExhausted(t *testing.T) {
	talk := looptest.Say("Certainly!")
	_, err := fixture.Run(t.Context(), looptest.NewModel(talk, talk, talk), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, unbookable(t)), CallsOnly: true})
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
}

func TestCallsAreNoAnswerOfAType(t *testing.T) {
	model := looptest.NewModel()
	_, err := fixture.Generate[booking](t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked), CallsOnly: true})
	require.ErrorContains(t, err, "calls_only: tool calls are not an answer of type T")
	assert.Empty(t, model.Requests())
}
