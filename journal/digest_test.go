package journal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// The digests of prompts never change; docs/journal.md defines them.
func TestDigestOfAPromptIsOfWhatWasSaidAndOfTheSystemPrompt(t *testing.T) {
	d := Decision{
		Said:    []message.Message{{Role: message.User, Text: "Two nights."}},
		Effects: []machine.Effect{{Kind: machine.CallModel, Model: &machine.ModelCall{System: "Be brief."}}},
	}
	c := newDigester()
	require.NoError(t, c.decide(&d))
	said := hashOf([]byte(newHash().String() + `[{"role":"user","text":"Two nights."}]`))
	require.Equal(t, said, c.said)
	require.Equal(t, hashOf([]byte(said.String()+hashOf([]byte("Be brief.")).String())).String(), d.Prompt)
	d.Said, d.Effects[0].Model.System = nil, ""
	require.NoError(t, c.decide(&d))
	require.Equal(t, said.String(), d.Prompt)
	require.NoError(t, c.decide(&Decision{}))
	require.Equal(t, said, c.said, "nothing was said")
}
