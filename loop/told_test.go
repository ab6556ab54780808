package loop_test

import (
	"context"
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
