package engine

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// TestThePayloadOfAToolResult compares it with that of the encoder of Go values.
func TestThePayloadOfAToolResult(t *testing.T) {
	values := []json.RawMessage{nil, {}, []byte(`{"b":1,"a":[2,"x"]}`), []byte(" null "), []byte(`"\u00e9"`), []byte(`1,"x":2`), []byte(`{`), []byte("\"\xff\"")}
	texts := []string{"", "book_room", `a"b\`, "é\u2028", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		value, text := rapid.SampledFrom(values), rapid.SampledFrom(texts)
		e := session.ToolResultEvent{Tool: text.Draw(t, "tool"), CallID: text.Draw(t, "id"), Arguments: value.Draw(t, "arguments"), Result: value.Draw(t, "result")}
		want, err := canon.Marshal(e)
		if err != nil {
			want = []byte(`{}`)
		}
		events := toolEvents(everything, machine.ToolRun{Call: machine.Call{Tool: e.Tool, ID: e.CallID, Arguments: e.Arguments}}, tool.Outcome{
			Result: e.Result, Events: []session.Event{{Name: "booked", Payload: []byte("1")}},
		})
		assert.Equal(t, []session.Event{{Name: session.EventToolResult, Payload: want}, {Name: "booked", Payload: []byte("1")}}, events)
	})
}

func TestTheEventOfAnAnswer(t *testing.T) {
	said := answerEvents(everything, "\xffdone", &machine.Answer{})
	require.Equal(t, []session.Event{{Name: session.EventStructuredOutput, Payload: []byte(`""`)}}, said)
	said = answerEvents(everything, "done", &machine.Answer{})
	require.Equal(t, []session.Event{{Name: session.EventStructuredOutput, Payload: []byte(`"done"`)}}, said)
	said = answerEvents(everything, "done", &machine.Answer{Value: []byte("1")})
	require.Equal(t, []session.Event{{Name: session.EventStructuredOutput, Payload: []byte("1")}}, said)
}

func everything(string) bool { return true }
