package journal

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
)

// A text that is too long, or that looks like a mark, is left out wherever it stands.
func TestALongTextIsLeftOutEverywhere(t *testing.T) {
	const long = "a text of more than ten bytes"
	issues := []fault.Issue{{Pointer: "/" + long, Expected: long, Value: long, Sent: long}}
	reduced := machine.Reduced{Ops: []reducer.Op{{Values: []json.RawMessage{json.RawMessage(`{"a":["` + long + `"]}`)}}}}
	failure := fault.Failure{Class: fault.Network, Message: long, Issues: issues}
	for name, ev := range map[string]Event{
		"reductions":           {Reductions: []machine.Reduced{reduced}},
		"failure":              {Failure: &failure},
		"try reduced":          {Try: &machine.Try{Reduced: &reduced}},
		"try failure":          {Try: &machine.Try{Failure: failure}},
		"tool failure":         {Tool: &machine.ToolEnd{Failure: &failure}},
		"issues of a call":     {Reply: &machine.Reply{Calls: []machine.Call{{Tool: "pay", Issues: issues}}}},
		"issues of the answer": {Reply: &machine.Reply{Answer: &machine.Answer{Issues: issues}}},
		"parts of a result":    {Tool: &machine.ToolEnd{Parts: []message.Part{{Kind: message.TextPart, Text: long}}}},
	} {
		t.Run(name, func(t *testing.T) {
			rules := &Redaction{MaxBytes: 10}
			left, err := rules.redactor(t.Context(), "s").event(ev, &machine.State{Config: &machine.Config{}}, []Tool{{Name: "pay"}})
			require.NoError(t, err)
			raw, err := canon.Marshal(left)
			require.NoError(t, err)
			assert.NotContains(t, string(raw), long)
		})
	}
}
