package loop_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// A call that never began is not told in words that leave it open whether it had an effect.
func TestACallThatTheEndOfARunForestalledIsToldAsNotDone(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.MaxAttempts = new(1)
	calls := []message.Call{call("book_room", `{}`), call("book_room", fixture.Lisbon)}
	calls[1].ID = "c2"
	result, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(calls...)), newSession(t), loop.Input{Prompt: "Book."},
		loop.Config{Tools: bookRoom(t, booked), Policy: &set})
	require.Error(t, err)
	assert.Equal(t, "Not done: the run was stopped.", result.Transcript[3].Text)
}

// Of a call in doubt nobody may know more; what a person says of it is told as a person's words.
func TestTheWordsOfAPersonWhoDoesNotKnowAreAPersons(t *testing.T) {
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "", errBoom },
		tool.Approval(policy.Approval{InDoubt: policy.DoubtAsk})))
	require.NoError(t, err)
	for words, want := range map[string]string{
		"":                  "The call failed, and its effect may or may not have happened.",
		"The bank is shut.": `The call failed, and its effect may or may not have happened. A person was asked, and says: "The bank is shut."`,
	} {
		var asked []loop.PersonQuestion
		result, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Say("Done.")), newSession(t),
			loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools}, answering(&asked, machine.Response{Verdict: machine.NobodyKnows, Words: words}))
		require.NoError(t, err)
		assert.Equal(t, want, result.Transcript[2].Text)
	}
}

// A call that equals another of its reply is refused before that one has run: nothing is said of its end.
// A call in doubt takes a place under the cap of its tool, and has perhaps not succeeded. A call of the same
// reply that fails gives its place back: the model may use it.
func TestARefusedCallIsToldNothingFalseOfEarlierOnes(t *testing.T) {
	full := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, tool.Fail("full") }
	lost := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errBoom }
	twice := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"n":1}`}, message.Call{ID: "c2", Name: "pay", Arguments: `{"n":1}`})
	for name, c := range map[string]struct {
		pay   func(context.Context, json.RawMessage) (json.RawMessage, error)
		layer policy.Layer
		turns []looptest.Turn
		want  string
	}{
		"equal": {full, policy.Layer{EqualInReply: policy.EqualRefuse}, []looptest.Turn{twice},
			"Automatic check, not a message from the user: your call of pay equals an earlier one, and the tool was not run again (attempt 1 of 3).\n" +
				"Use the result of that one, call pay with other arguments, or answer."},
		"capped": {lost, policy.Layer{MaxSuccesses: new(1)},
			[]looptest.Turn{looptest.Call(call("pay", `{"n":1}`)), looptest.Call(message.Call{ID: "c2", Name: "pay", Arguments: `{"n":2}`})},
			"Automatic check, not a message from the user: your call of pay was refused, and the tool was not run: " +
				"as many earlier calls of it as are allowed had succeeded, or could succeed (attempt 1 of 3).\n" +
				"- expected at most 1 successful call in a run\n" +
				"Do not call pay again for this, unless an earlier call of it in the same reply failed and had no effect. Go on without it, or answer."},
		"capped by a call that fails": {full, policy.Layer{MaxSuccesses: new(1)},
			[]looptest.Turn{looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"n":1}`}, message.Call{ID: "c2", Name: "pay", Arguments: `{"n":2}`})},
			"Automatic check, not a message from the user: your call of pay was refused, and the tool was not run: " +
				"as many earlier calls of it as are allowed had succeeded, or could succeed (attempt 1 of 3).\n" +
				"- expected at most 1 successful call in a run\n" +
				"Do not call pay again for this, unless an earlier call of it in the same reply failed and had no effect. Go on without it, or answer."},
	} {
		t.Run(name, func(t *testing.T) {
			pays, err := tool.Raw("pay", "Pays.", []byte(`{"type":"object"}`), c.pay)
			require.NoError(t, err)
			tools, err := tool.NewSet(pays)
			require.NoError(t, err)
			set := policy.DefaultSet()
			set.Global = c.layer
			result, err := fixture.Run(t.Context(), looptest.NewModel(append(c.turns, looptest.Say("Done."))...), newSession(t),
				loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools, Policy: &set})
			require.NoError(t, err)
			said := result.Transcript[len(result.Transcript)-2]
			assert.Equal(t, "c2", said.CallID)
			assert.Equal(t, c.want, said.Text)
		})
	}
}

// A model that calls a tool where there is none is told so, and not to call one that exists.
func TestACallWithoutAnyToolsIsAnsweredByTheirAbsence(t *testing.T) {
	result, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("search", `{}`)), looptest.Say("Hello.")), newSession(t),
		loop.Input{Prompt: "Hi."}, loop.Config{})
	require.NoError(t, err)
	assert.Equal(t, "Automatic check, not a message from the user: there is no tool named search, so nothing was run for this call (attempt 1 of 3).\n"+
		"- no tools are offered\nAnswer without a tool call.", result.Transcript[2].Text)
}

// A call that could not be checked is not told that it has right what another call of the reply has.
func TestACallIsNotToldOfWhatAnotherCorrected(t *testing.T) {
	twice := message.Call{ID: "c2", Name: "book_room", Arguments: `{"city": "Lisbon", "city": "Porto", "nights": "two", "room": "double"}`}
	model := looptest.NewModel(
		looptest.Call(call("book_room", `{"city": "Lisbon", "nights": "two", "room": "suite"}`)),
		looptest.Call(call("book_room", `{"city": "Lisbon", "nights": 2, "room": "suite"}`), twice),
		looptest.Say("Booked."))
	result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)})
	require.NoError(t, err)
	said := result.Transcript
	assert.Contains(t, said[4].Text, "Already right, keep it so: nights.\n")
	assert.Equal(t, "Automatic check, not a message from the user: the arguments of your call of book_room are not valid, and the tool was not run "+
		"(attempt 2 of 3; the next is the last).\n- city: the same member twice\nCall book_room again with all arguments corrected.", said[5].Text)
}
