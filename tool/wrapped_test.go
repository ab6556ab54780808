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
	"github.com/retake-go/retake/tool"
)

// Only the schema can tell a single parameter from a member that holds all arguments.
func TestArgumentsInOneMemberMore(t *testing.T) {
	run := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	seats, err := tool.Raw("seats", "", []byte(`{"type": "object", "properties": {"row": {"type": "integer"}, "side": {"type": "string"}},
		"required": ["row"], "additionalProperties": false}`), run)
	require.NoError(t, err)
	query, err := tool.Raw("query", "", []byte(`{"type": "object", "properties": {"input": {"type": "object"}, "row": {"type": "integer"}},
		"required": ["row"]}`), run)
	require.NoError(t, err)
	open, err := tool.Raw("open", "", []byte(`{"type": "object", "properties": {"row": {"type": "integer"}}}`), run)
	require.NoError(t, err)
	set, err := tool.NewSet(seats, query, open)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		text string
		set  tool.Settings
		want string
	}{
		"python": {text: `So: seats(params={'row': 7})`, want: `call-1 seats {"row":7} (prose) (python_syntax) (wrapped_arguments) (single_quotes)`},
		"json": {text: `{"name": "seats", "arguments": {"kwargs": {"row": 7, "side": "left"}}}`,
			want: `call-1 seats {"row":7,"side":"left"} (wrapped_arguments)`},
		"what_is_wrong_within_is_told": {text: `seats(params={"row": "7"})`,
			want: `call-1 seats {"row":"7"} tool_validation [row: expected integer, got string] (python_syntax) (wrapped_arguments)`},
		"without_a_note": {text: `seats(params={"row": 7})`, set: tool.Settings{Text: policy.RepairsAccept}, want: `call-1 seats {"row":7}`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.set.Text == "" {
				c.set = defaults()
			}
			assert.Equal(t, []string{c.want}, tellAll(set.Read(message.Reply{Text: c.text}, c.set)))
		})
	}
	off := defaults()
	off.Off = []extract.Form{extract.WrappedArguments}
	for name, c := range map[string]struct {
		text string
		set  tool.Settings
		args string
	}{
		"switched_off":         {`seats(params={"row": 7})`, off, `{"params":{"row":7}}`},
		"refused":              {`seats(params={"row": 7})`, tool.Settings{Text: policy.RepairsRefuse}, `{"params":{"row":7}}`},
		"a_member_it_has":      {`query(input={"row": 7})`, defaults(), `{"input":{"row":7}}`},
		"other_members_within": {`seats(params={"row": 7, "seat": 1})`, defaults(), `{"params":{"row":7,"seat":1}}`},
		"another_name":         {`seats(seat={"row": 7})`, defaults(), `{"seat":{"row":7}}`},
		"beside_another":       {`seats(params={"row": 7}, side="left")`, defaults(), `{"params":{"row":7},"side":"left"}`},
		"empty":                {`seats(params={})`, defaults(), `{"params":{}}`},
		"no_object":            {`seats(params=[7])`, defaults(), `{"params":[7]}`},
	} {
		t.Run(name, func(t *testing.T) {
			calls := set.Read(message.Reply{Text: c.text}, c.set).Calls
			require.Len(t, calls, 1)
			assert.False(t, calls[0].Good())
			assert.Equal(t, c.args, string(calls[0].Arguments))
		})
	}
	// Arguments that the schema accepts stay as they are.
	assert.Equal(t, []string{`call-1 open {"args":{"row":1}} (python_syntax)`},
		tellAll(set.Read(message.Reply{Text: `open(args={"row": 1})`}, defaults())))
	// The arguments of a native call stay as they are.
	native := set.Read(message.Reply{Calls: []message.Call{{Name: "seats", Arguments: `{"params":{"row":7}}`}}}, tool.Settings{Native: policy.RepairsNote})
	assert.False(t, native.Calls[0].Good())
}
