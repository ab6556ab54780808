package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// Some models write an object as a string that holds its JSON.
func TestAnObjectThatIsQuotedInsideAString(t *testing.T) {
	parameters := []byte(`{"type":"object","properties":{"addr":{"type":"object","properties":{"city":{"type":"string"},"tags":{"type":"array"}},"required":["city"]},
		"list":{"type":"array","items":{"anyOf":[{"type":"object","required":["n"]},{"type":"null"}]}},"text":{"type":"string"},"either":{"type":["string","object"]},"row":{"type":"integer"}}}`)
	ship, err := tool.Raw("ship", "", parameters, func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	require.NoError(t, err)
	set, err := tool.NewSet(ship)
	require.NoError(t, err)
	read := func(args string, s tool.Settings) string {
		return tellAll(set.Read(message.Reply{Calls: []message.Call{{Name: "ship", Arguments: args}}}, s))[0]
	}
	on := defaults()
	on.Native = policy.RepairsNote
	off := on
	off.Off = []extract.Form{extract.QuotedObject}

	quoted := `{"addr":"{\"city\":\"Lisbon\"}"}`
	assert.Equal(t, `call-1 ship {"addr":{"city":"Lisbon"}} (quoted_object)`, read(quoted, on))
	refused := `call-1 ship {"addr":"{\"city\":\"Lisbon\"}"} tool_validation [addr: expected object (members: city, tags); send the object itself, not quoted, got string]`
	assert.Equal(t, refused, read(quoted, off))
	assert.Equal(t, refused, read(quoted, defaults()), "native calls are strict unless the policy says otherwise")

	for args, want := range map[string]string{
		`{"list":["{\"n\":1}",{"n":2}]}`:                `{"list":[{"n":1},{"n":2}]} (quoted_object)`,
		`{"text":"{}","either":"{}"}`:                   `{"either":"{}","text":"{}"}`,
		`{"addr":"Lisbon"}`:                             `{"addr":"Lisbon"} tool_validation [addr: expected object (members: city, tags), got string]`,
		`{"addr":"[1]"}`:                                `{"addr":"[1]"} tool_validation [addr: expected object (members: city, tags), got string]`,
		`{"addr":"{\"city\":1}"}`:                       `{"addr":{"city":1}} tool_validation [addr/city: expected string, got integer] (quoted_object)`,
		`{"row":"{}","addr":"{\"city\":\"x\"}"}`:        `{"addr":{"city":"x"},"row":"{}"} tool_validation [row: expected integer, got string] (quoted_object)`,
		`{"addr":"{\"city\":\"x\",\"city\":\"y\"}"}`:    `{"addr":"{\"city\":\"x\",\"city\":\"y\"}"} tool_validation [addr: expected object (members: city, tags), got string]`,
		`{"addr":{"city":"x","tags":"[\"a\", \"b\"]"}}`: `{"addr":{"city":"x","tags":["a","b"]}} (quoted_object)`,
	} {
		assert.Equal(t, "call-1 ship "+want, read(args, on))
	}
	text := `<tool_call>{"name":"ship","arguments":` + quoted + `}</tool_call>`
	assert.Equal(t, []string{`call-1 ship {"addr":{"city":"Lisbon"}} (tag) (quoted_object)`}, tellAll(set.Read(message.Reply{Text: text}, defaults())))
}

func TestAnAnswerMayHoldAQuotedObject(t *testing.T) {
	type answer struct {
		Addr struct {
			City string `json:"city"`
		} `json:"addr"`
	}
	typed, err := schema.For[answer]()
	require.NoError(t, err)
	a := tool.ReadAnswer(`{"addr":"{\"city\":\"Lisbon\"}"}`, typed.Schema(), defaults())
	assert.Empty(t, a.Class)
	assert.JSONEq(t, `{"addr":{"city":"Lisbon"}}`, string(a.Raw))
	assert.Equal(t, []extract.Repair{{Kind: extract.QuotedObject}}, a.Repairs)
	strict := tool.Settings{Text: policy.RepairsRefuse}
	a = tool.ReadAnswer(`{"addr":"{\"city\":\"Lisbon\"}"}`, typed.Schema(), strict)
	assert.Equal(t, "addr: expected object (member: city); send the object itself, not quoted, got string", a.Issues[0].String())
}
