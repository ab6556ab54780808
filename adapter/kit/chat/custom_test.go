package chat_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
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
		s := kittest.Serve(t, "200 OK\nContent-Type: text/event-stream\n\n"+streamOf(c.pieces...))
		model, err := own.New(s.URL, s.Client)
		require.NoError(t, err)
		var told message.Call
		req := hello()
		req.Stream = func(d loop.Delta) { told.Name, told.Arguments = told.Name+d.Name, told.Arguments+d.Arguments }
		streamed, err := model.Reply(t.Context(), req)
		require.NoError(t, err, name)
		assert.Equal(t, message.Call{Name: "sql", Arguments: "SELECT }{ 1"}, told, name)
		for how, reply := range map[string]message.Reply{"whole": replyOf(t, own, false, c.whole), "streamed": streamed} {
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
