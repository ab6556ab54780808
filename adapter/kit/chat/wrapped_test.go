package chat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// OpenAI's models write parallel calls into a call of their own, which its API takes apart, except now and
// then (https://github.com/vercel/ai/issues/19067, https://github.com/vercel/ai/issues/4085).
func TestParallelCallsInTheWrapperOfTheModelAreReadApart(t *testing.T) {
	const (
		uses = `{"tool_uses":[{"recipient_name":"functions.book_room","parameters":{"city":"Lisbon"}},{"recipient_name":"functions.hotel_find","parameters":{"city":"Porto"}}]}`
		odd  = `{"tool_uses":[{"recipient_name":"functions.book_room","parameters":{}},{"recipient_name":"web.run","parameters":{}}]}`
	)
	req := kittest.Asks()["both"]
	apart := []message.Call{{ID: "c1", Name: "book_room", Arguments: `{"city":"Lisbon"}`}, {ID: "call-2", Name: "hotel_find", Arguments: `{"city":"Porto"}`}}
	for name, arguments := range map[string]string{"parallel": uses, "multi_tool_use.parallel": uses, "parallel ": odd, "book_room": uses, "multi_tool_use.parallel ": `{"tool_uses":[]}`} {
		want := []message.Call{{ID: "c1", Name: name, Arguments: arguments}}
		if arguments == uses && name != "book_room" {
			want = apart
		}
		call := string(kit.Quoted("name", name, "arguments", arguments))
		item := string(kit.Quoted("type", "function_call", "call_id", "c1", "name", name, "arguments", arguments))
		for _, stream := range []bool{false, true} {
			if req.Stream = nil; stream {
				req.Stream = func(loop.Delta) {}
			}
			says := `{"choices":[{"message":{"tool_calls":[{"id":"c1","function":` + call + `}]},"finish_reason":"tool_calls"}]}`
			if stream {
				says = streamOf(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":`+call+`}]},"finish_reason":"tool_calls"}]}`, "[DONE]")
			}
			assert.Equal(t, want, replyTo(t, overChat(chat.Config{Model: "m"}), req, says).Calls, name)
			says = `{"status":"completed","output":[` + item + `]}`
			if stream {
				says = streamOf(`{"type":"response.completed","response":` + says + `}`)
			}
			assert.Equal(t, want, replyTo(t, overResponses(chat.Config{Model: "m"}), req, says).Calls, name)
		}
	}
}

// replyTo asks once with a request.
func replyTo(t *testing.T, a kittest.Config, req loop.Request, says string) message.Reply {
	t.Helper()
	s := kittest.Serve(t, "200 OK\n\n"+says)
	model, err := a.New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := model.Reply(t.Context(), req)
	require.NoError(t, err)
	return reply
}
