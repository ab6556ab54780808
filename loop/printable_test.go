package loop_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// torn is a text that was cut within a character.
const torn = "porto mo\xc3\xb4n\xc3"

// tornRun is a run with torn somewhere in it.
type tornRun struct {
	turns  []looptest.Turn
	pay    error
	prompt string
	cfg    loop.Config
	in     loop.Input
}

var tornRuns = map[string]tornRun{
	"text":      {turns: []looptest.Turn{looptest.Say(torn)}},
	"refusal":   {turns: []looptest.Turn{{Reply: message.Reply{Refusal: torn}}}},
	"the rest":  {turns: []looptest.Turn{{Reply: message.Reply{Text: "x", Opaque: torn, Model: torn, Finish: torn}}}},
	"arguments": {turns: []looptest.Turn{pays(`{"city":"` + torn + `"}`), goodBye}},
	"call":      {turns: []looptest.Turn{looptest.Call(message.Call{ID: torn, Name: "pay" + torn, Arguments: `{}`}), goodBye}},
	"failed":    {turns: []looptest.Turn{goodPay, goodBye}, pay: tool.Fail(torn)},
	"broke":     {turns: []looptest.Turn{goodPay, goodBye}, pay: errors.New(torn)},
	"asks":      {turns: []looptest.Turn{goodPay, goodPay, goodPay}, pay: tool.AskAgain(fault.Issue{Pointer: "/" + torn, Rule: torn, Expected: torn, Value: torn})},
	"transport": {turns: []looptest.Turn{looptest.Fail(&fault.ProviderError{Class: fault.Network, Message: torn}), goodBye}},
	"prompt":    {turns: []looptest.Turn{goodBye}, prompt: torn},
	"system":    {turns: []looptest.Turn{goodBye}, cfg: loop.Config{System: torn, Feedback: torn}},
	"history":   {turns: []looptest.Turn{goodBye}, in: loop.Input{History: []message.Message{message.Message{Role: message.User, Text: torn}}}},
}

func TestTextThatIsNoUTF8EndsNoRun(t *testing.T) {
	for name, r := range tornRuns {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
			require.NoError(t, err)
			got := r.run(t, j)
			require.NoError(t, j.Close())
			require.NotErrorIs(t, got, journal.ErrUnwritable)
			assert.Equal(t, r.run(t, nil), got, "as without a journal")
			text, err := os.ReadFile(storyFile(dir))
			require.NoError(t, err)
			_, err = journal.Replay(bytes.NewReader(text), nil)
			require.NoError(t, err)
		})
	}
}

func (r tornRun) run(t *testing.T, j *journal.Journal) error {
	t.Helper()
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, charge) (string, error) { return "", r.pay }))
	require.NoError(t, err)
	r.cfg.Tools, r.in.Prompt = tools, cmp.Or(r.prompt, "Pay.")
	_, err = fixture.Run(t.Context(), looptest.NewModel(r.turns...), fixture.In(newSession(t), j), r.in, r.cfg, loop.WithClock(looptest.NewClock()))
	return err
}

// Several replies may share a list of calls, so only the model may change it.
func TestRunsOnlyReadTheCallsOfAReply(t *testing.T) {
	for name, r := range tornRuns {
		t.Run(name, func(t *testing.T) {
			var before [][]message.Call
			for _, turn := range r.turns {
				before = append(before, slices.Clone(turn.Reply.Calls))
			}
			r.run(t, nil)
			for n, turn := range r.turns {
				assert.Equal(t, before[n], turn.Reply.Calls)
			}
		})
	}
}
