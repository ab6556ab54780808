package chat_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// A custom tool, which a user added to the request, is called with a text of any form. The call goes back as
// what it was, and so does its answer.
func TestACallOfACustomToolIsReadAndGoesBack(t *testing.T) {
	query := message.Call{ID: "c1", Name: "sql", Arguments: "SELECT }{ 1"}
	const (
		made = `{"id":"c1","type":"custom","custom":{"name":"sql","input":"SELECT }{ 1"}}`
		item = `{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"sql","input":"SELECT }{ 1","status":"completed"}`
	)
	piece := func(call string) string { return `{"choices":[{"delta":{"tool_calls":[` + call + `]}}]}` }
	for name, c := range map[string]struct {
		over        func(chat.Config) kittest.Config
		whole       string
		pieces      []string
		says, where string
		back        string
	}{
		"Chat": {overChat, `{"choices":[{"message":{"content":null,"tool_calls":[` + made + `]},"finish_reason":"tool_calls"}]}`,
			[]string{piece(`{"index":0,"id":"c1","type":"custom","custom":{"name":"sql","input":""}}`),
				piece(`{"index":0,"custom":{"input":"SELECT }{"}}`), piece(`{"index":0,"custom":{"input":" 1"}}`),
				`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`},
			chatSays, "messages", `[{"role":"assistant","tool_calls":[` + made + `]},{"content":"1","role":"tool","tool_call_id":"c1"}]`},
		"Responses": {overResponses, `{"status":"completed","output":[` + item + `]}`,
			[]string{`{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","call_id":"c1","name":"sql","input":""}}`,
				`{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":"SELECT }{"}`,
				`{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":" 1"}`,
				`{"type":"response.custom_tool_call_input.done","output_index":0,"input":"SELECT }{ 1"}`,
				`{"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
				`{"type":"response.completed","response":{"status":"completed","output":[]}}`},
			responsesSays, "input", `[` + item + `,{"call_id":"c1","output":"1","type":"custom_tool_call_output"}]`},
	} {
		own := c.over(chat.Config{Model: "m"})
		sql, err := tool.Raw("sql", "", []byte(`{"type":"object"}`), nothing)
		require.NoError(t, err)
		req := hello()
		req.Tools = []*tool.Tool{sql}
		s := kittest.Serve(t, jsonType+c.whole, streamType+streamOf(c.pieces...))
		model, err := own.New(s.URL, s.Client)
		require.NoError(t, err)
		whole, err := model.Reply(t.Context(), req)
		require.NoError(t, err, name)
		var told message.Call
		req.Stream = func(d loop.Delta) { told.Name, told.Arguments = told.Name+d.Name, told.Arguments+d.Arguments }
		streamed, err := model.Reply(t.Context(), req)
		require.NoError(t, err, name)
		assert.Equal(t, message.Call{Name: "sql", Arguments: "SELECT }{ 1"}, told, name)
		for how, reply := range map[string]message.Reply{"whole": whole, "streamed": streamed} {
			assert.Equal(t, []message.Call{query}, reply.Calls, name+", "+how)
			assert.Equal(t, message.ToolUse, reply.Finish, name+", "+how)
			var got map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(sent(t, own, c.says, after(reply))), &got))
			var list []json.RawMessage
			require.NoError(t, json.Unmarshal(got[c.where], &list))
			back, err := json.Marshal(list[1:])
			require.NoError(t, err)
			assert.JSONEq(t, c.back, string(back), name+", "+how)
		}
	}
}

// xAI tells the tools that it ran itself as calls of custom tools. They are kept, and no calls of ours.
func TestACallOfACustomToolThatRanAtTheAPIIsNone(t *testing.T) {
	const (
		ran    = `{"type":"custom_tool_call","id":"ctc_1","call_id":"xs_call_1","name":"view_x_video","input":"{}","status":"completed"}`
		answer = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"4"}]}`
		call   = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"}`
	)
	own := overResponses(chat.Config{Model: "grok-4.3", Provider: "xai"})
	streamed := replyOf(t, own, true, streamOf(`{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","call_id":"xs_call_1","name":"view_x_video","input":"","status":"in_progress"}}`,
		`{"type":"response.custom_tool_call_input.done","output_index":0,"input":"{}"}`, `{"type":"response.output_item.done","output_index":0,"item":`+ran+`}`,
		`{"type":"response.output_text.delta","output_index":1,"delta":"4"}`, `{"type":"response.completed","response":{"status":"completed","output":[`+ran+`,`+answer+`]}}`))
	for how, reply := range map[string]message.Reply{"whole": replyOf(t, own, false, `{"status":"completed","output":[`+ran+`,`+answer+`]}`), "streamed": streamed} {
		assert.Empty(t, reply.Calls, how)
		assert.Equal(t, []any{"4", message.Stop}, []any{reply.Text, reply.Finish}, how)
		assert.Contains(t, sent(t, own, responsesSays, after(reply)), `"call_id":"xs_call_1"`, how)
	}
	both := replyOf(t, own, false, `{"status":"completed","output":[`+ran+`,`+call+`]}`)
	assert.Equal(t, []message.Call{{ID: "c1", Name: "f", Arguments: "{}"}}, both.Calls)
	back := sent(t, own, responsesSays, after(both))
	assert.Contains(t, back, `"call_id":"xs_call_1"`)
	assert.NotContains(t, back, `custom_tool_call_output`)
}

// What only the client of a tool can do is not done here: the reply is no whole one, and the API would refuse
// to go on from it. A user added the tool to the request.
func TestAReplyThatWaitsForAnotherClientIsAnError(t *testing.T) {
	for kind, item := range map[string]string{
		"mcp_approval_request": `{"type":"mcp_approval_request","id":"mcpr_1","name":"roll","server_label":"dice","arguments":"{}"}`,
		"local_shell_call":     `{"type":"local_shell_call","id":"lsh_1","call_id":"c1","action":{"type":"exec","command":["ls"]}}`,
		"shell_call":           `{"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["ls"]}}`,
		"apply_patch_call":     `{"type":"apply_patch_call","id":"apc_1","call_id":"c1","operation":{"type":"delete_file","path":"a"}}`,
		"computer_call":        `{"type":"computer_call","id":"cu_1","call_id":"c1","actions":[{"type":"screenshot"}]}`,
		"custom_tool_call":     `{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"nobodys","input":"x"}`,
		"tool_search_call":     `{"type":"tool_search_call","id":"tsc_1","call_id":"c1","execution":"client","arguments":{}}`,
	} {
		for stream, says := range map[bool]string{
			false: `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Let me see."}]},` + item + `]}`,
			true: streamOf(`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
				`{"type":"response.completed","response":{"status":"completed","output":[`+item+`]}}`),
		} {
			_, err := ended(t, overResponses(chat.Config{Model: "m"}), stream, says)
			own, is := errors.AsType[*kit.Error](err)
			require.True(t, is, kind)
			assert.True(t, own.Failure().Final, kind)
			assert.ErrorContains(t, err, "the response waits for what retake does not do ("+kind+"): take the tool out of the request", kind)
		}
	}
	for name, items := range map[string]string{
		"a shell at the API": `{"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["ls"]}},` +
			`{"type":"shell_call_output","id":"sho_1","call_id":"c1","output":[]}`,
		"a search at the API": `{"type":"tool_search_call","id":"tsc_1","call_id":null,"execution":"server","arguments":{}},` +
			`{"type":"tool_search_output","id":"tso_1","call_id":null,"execution":"server","tools":[]}`,
	} {
		reply := replyOf(t, overResponses(chat.Config{Model: "m"}), false, `{"status":"completed","output":[`+items+
			`,{"type":"message","content":[{"type":"output_text","text":"4"}]}]}`)
		assert.Equal(t, "4", reply.Text, name)
	}
}
