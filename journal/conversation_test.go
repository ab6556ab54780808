package journal

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// What is heard as a record is written is what a decision is given that is not written, prompts and conversation alike.
func TestDecisionsAreHeardAsTheyAreWritten(t *testing.T) {
	prompts := 0
	rapid.Check(t, func(t *rapid.T) {
		heard, told := newConversation(), newConversation()
		for range 3 {
			var d Decision
			fill(t, reflect.ValueOf(&d).Elem(), 2)
			if d.Prompt = ""; rapid.Bool().Draw(t, "asks") {
				system := rapid.SampledFrom([]string{"", "Be brief.", "Be kind."}).Draw(t, "system")
				d.Effects = append(d.Effects, machine.Effect{Kind: machine.CallModel, Model: &machine.ModelCall{System: system}})
			}
			w := writer{b: beginLine(nil)}
			if w.decision(&d, &heard) != nil {
				return
			}
			require.NoError(t, told.decide(&d))
			raw, err := canon.Marshal(Record{Decision: &d})
			require.NoError(t, err)
			require.Equal(t, string(raw), string(w.b[rawStart:]))
			require.Equal(t, told.next, heard.next)
			heard.said, told.said = heard.next, told.next
			if d.Prompt != "" {
				prompts++
			}
		}
	})
	assert.Positive(t, prompts)
}

// The digests of prompts are for ever, as docs/journal.md says.
func TestDigestOfAPromptIsOfWhatWasSaidAndOfTheSystemPrompt(t *testing.T) {
	d := Decision{
		Said:    []message.Message{{Role: message.User, Text: "Two nights."}},
		Effects: []machine.Effect{{Kind: machine.CallModel, Model: &machine.ModelCall{System: "Be brief."}}},
	}
	c := newConversation()
	require.NoError(t, c.decide(&d))
	said := hashOf([]byte(newHash().String() + `[{"role":"user","text":"Two nights."}]`))
	require.Equal(t, said, c.next)
	require.Equal(t, hashOf([]byte(said.String()+hashOf([]byte("Be brief.")).String())).String(), d.Prompt)
	d.Effects[0].Model.System = ""
	require.NoError(t, c.decide(&d))
	require.Equal(t, said.String(), d.Prompt)
	c.said = said
	require.NoError(t, c.decide(&Decision{}))
	require.Equal(t, said, c.next, "nothing was said")
}

func TestTheDigestOfAPromptAllocatesNothing(t *testing.T) {
	c := newConversation()
	c.prompt("Be brief.")
	assert.Zero(t, testing.AllocsPerRun(50, func() { c.prompt("Be brief.") }))
}
