package loop_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Repairs of replies are in the attempts of the result, and in the warnings of its envelope.
func TestAResultSaysWhatWasRepaired(t *testing.T) {
	type quote struct {
		Sum int `json:"sum"`
	}
	turns := []looptest.Turn{
		looptest.Say("<tool_call>{'name': 'pay', 'arguments': {'sum': 3,}}</tool_call>"),
		looptest.Say("```json\n{\"sum\": 3,}\n```"),
	}
	for mode, want := range map[policy.Repairs]struct {
		call, answer []extract.Form
		warnings     []string
	}{
		policy.RepairsNote: {
			[]extract.Form{"tag", "single_quotes", "trailing_comma"},
			[]extract.Form{"fence", "trailing_comma"},
			[]string{"a call of pay was repaired: single_quotes, trailing_comma", "the answer was repaired: trailing_comma"},
		},
		policy.RepairsAccept: {},
	} {
		t.Run(string(mode), func(t *testing.T) {
			set := policy.DefaultSet()
			set.Global.TextRepairs = mode
			cfg := loop.Config{Tools: pay(t, nil), Policy: &set}
			result, err := fixture.Generate[quote](t.Context(), looptest.NewModel(turns...), newSession(t), loop.Input{Prompt: "Pay."}, cfg)
			require.NoError(t, err)
			require.Len(t, result.Attempts, 2)
			assert.Equal(t, want.call, result.Attempts[0].Repairs)
			assert.Equal(t, want.answer, result.Attempts[1].Repairs)
			assert.Equal(t, want.warnings, agent.Envelope(result.Result, nil).Warnings)
			assert.Empty(t, result.Warnings)
		})
	}
}

// A native call reports its repairs if its policy repairs those.
func TestAnAcceptedCallSaysWhatWasRepaired(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.NativeRepairs = policy.RepairsNote
	model := looptest.NewModel(looptest.Call(message.Call{Name: "pay", Arguments: `{"sum": 3,}`}))
	result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: pay(t, nil), Policy: &set, CallsOnly: true})
	require.NoError(t, err)
	assert.Equal(t, []extract.Form{"trailing_comma"}, result.Attempts[0].Repairs)
}
