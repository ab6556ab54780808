package chat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

const (
	jsonType   = "200 OK\nContent-Type: application/json\n\n"
	streamType = "200 OK\nContent-Type: text/event-stream\n\n"
)

// Servers that answer 200 to a request that failed tell it in forms of their own.
func TestErrorsInGoodResponsesAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		provider, says, text string
		class                fault.Class
	}{
		"MiniMax": {"minimax", jsonType + `{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded(RPM)"}}`,
			"minimax: 200 1002: rate limit exceeded(RPM)", fault.RateLimit},
		"MiniMax, a key": {"minimax", jsonType + `{"base_resp":{"status_code":1004,"status_msg":"login fail"}}`,
			"minimax: 200 1004: login fail", fault.Auth},
		"MiniMax, growth": {"minimax", jsonType + `{"base_resp":{"status_code":2045,"status_msg":"rate growth limit"}}`,
			"minimax: 200 2045: rate growth limit", fault.RateLimit},
		"MiniMax, invisible": {"minimax", jsonType +
			`{"base_resp":{"status_code":1042,"status_msg":"invisible character ratio limit"}}`,
			"minimax: 200 1042: invisible character ratio limit", fault.InvalidRequest},
		"MiniMax, streamed": {"minimax", streamType + `data: {"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}` + "\n\n",
			"minimax: 200 1008: insufficient balance", fault.Billing},
		"Baidu": {"baidu", jsonType + `{"error_code":18,"error_msg":"Open api qps request limit reached"}`,
			"baidu: 200 rate_limit: Open api qps request limit reached", fault.RateLimit},
		"z.ai": {"zai", jsonType + `{"code":500,"msg":"404 NOT_FOUND","success":false}`,
			"zai: 500 unavailable: 404 NOT_FOUND", fault.Unavailable},
		"z.ai, a key": {"zai", jsonType + `{"code":1001,"msg":"no header","success":false}`, "zai: 200 1001: no header", fault.Auth},
		"Gemini": {"gemini", jsonType + `[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`,
			"gemini: 503 UNAVAILABLE: The model is overloaded.", fault.Unavailable},
		"Gemini, streamed": {"gemini", streamType + `data: [{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]` + "\n\n",
			"gemini: 503 UNAVAILABLE: The model is overloaded.", fault.Unavailable},
		"Cloudflare": {"cloudflare", jsonType + `{"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"result":null}`,
			"cloudflare: 200 10000: Authentication error", fault.Auth},
		// https://github.com/ggml-org/llama.cpp/pull/16109: the reply would else be good, since a mark ends it
		"llama.cpp, in a field of its own": {"llamacpp", streamType + `data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}` +
			"\n\nerror: {\"code\":400,\"message\":\"the request exceeds the available context size\",\"type\":\"exceed_context_size_error\"}\n\ndata: [DONE]\n\n",
			"llamacpp: 400 exceed_context_size_error: the request exceeds the available context size", fault.ContextLength},
		"llama.cpp, at once": {"llamacpp", streamType + "error: {\"code\":400,\"message\":\"the request exceeds the available context size\",\"type\":\"invalid_request_error\"}\n\ndata: [DONE]\n\n",
			"llamacpp: 400 invalid_request_error: the request exceeds the available context size", fault.ContextLength},
		"Tencent": {"tencent", jsonType + `{"Response":{"Error":{"Code":"FailedOperation.EngineRequestTimeout","Message":"engine request timeout"},"RequestId":"r"}}`,
			"tencent: 200 FailedOperation.EngineRequestTimeout: engine request timeout", fault.Timeout},
		"Groq, streamed": {"groq", streamType + `data: {"choices":[{"index":0,"delta":{"content":"Half"},"finish_reason":null}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":null}],"x_groq":{"id":"r","error":"Failed to call a function"}}` + "\n\ndata: [DONE]\n\n",
			"groq: 200 tool_validation: Failed to call a function", fault.ToolValidation},
		"an event of this name": {"openai", streamType + "event: error\ndata: Internal Server Error\n\n",
			"openai: 200 unavailable: an error within the stream", fault.Unavailable},
		"a call that Google could not read": {"openai", jsonType + `{"choices":[{"message":{"content":null},"finish_reason":"function_call_filter: MALFORMED_FUNCTION_CALL"}]}`,
			"openai: 200 tool_validation", fault.ToolValidation},
	} {
		t.Run(name, func(t *testing.T) {
			err := ask(t, overChat(chat.Config{Model: "m", Provider: c.provider}), c.says)
			require.EqualError(t, err, c.text)
			assert.Equal(t, c.class, fault.Classify(fault.Response{Err: err}).Class)
		})
	}
}

// Members that a good reply has in some places only are read there.
func TestRepliesOfGatewaysAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		want message.Reply
	}{
		"an error without a word": {jsonType + `{"error":{"message":"","type":"","code":null},"choices":[{"message":{"content":"Yes."}}]}`,
			message.Reply{Text: "Yes."}},
		"parts of the Responses API":   {jsonType + `{"choices":[{"message":{"content":[{"type":"output_text","text":"Yes."}]}}]}`, message.Reply{Text: "Yes."}},
		"one part":                     {jsonType + `{"choices":[{"message":{"content":{"type":"text","text":"Yes."}}}]}`, message.Reply{Text: "Yes."}},
		"an object that is the answer": {jsonType + `{"choices":[{"message":{"content":{"city":"Faro","nights":2}}}]}`, message.Reply{Text: `{"city":"Faro","nights":2}`}},
		"a refusal among the parts": {jsonType + `{"choices":[{"message":{"content":[{"type":"refusal","refusal":"I will "},{"type":"refusal","refusal":"not."}]},"finish_reason":"stop"}]}`,
			message.Reply{Refusal: "I will not.", Finish: message.Stop}},
		"a refusal among the parts, streamed": {streamType + streamOf(`{"choices":[{"delta":{"content":[{"type":"refusal","refusal":"I will "}]}}]}`,
			`{"choices":[{"delta":{"content":[{"type":"refusal","refusal":"not."}]},"finish_reason":"stop"}]}`), message.Reply{Refusal: "I will not.", Finish: message.Stop}},
		"the text of a list of calls": {jsonType + `{"choices":[{"message":{"content":null,"tool_calls":"[{\"id\":\"c\",\"function\":{\"name\":\"book_room\",\"arguments\":\"{}\"}}]"},"finish_reason":"tool_calls"}]}`,
			message.Reply{Calls: []message.Call{{ID: "c", Name: "book_room", Arguments: "{}"}}, Finish: message.ToolUse}},
		"thoughts of Databricks": {jsonType + `{"choices":[{"message":{"content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"text","text":"Yes."}]}}]}`,
			message.Reply{Text: "Yes.", Thinking: "hm"}},
		"thoughts of GitHub Copilot": {jsonType + `{"choices":[{"message":{"content":"Yes.","reasoning_text":"hm"}}]}`, message.Reply{Text: "Yes.", Thinking: "hm"}},
		// https://github.com/continuedev/continue/pull/5849
		"a name in pieces": {streamType + `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"book_","arguments":""}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"room","arguments":"{"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n",
			message.Reply{Calls: []message.Call{{ID: "c", Name: "book_room", Arguments: "{}"}}, Finish: message.ToolUse}},
		"a name that comes again": {streamType + `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"book_room","arguments":"{"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"book_room","arguments":"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n",
			message.Reply{Calls: []message.Call{{ID: "c", Name: "book_room", Arguments: "{}"}}, Finish: message.ToolUse}},
		"MiniMax, the whole after its pieces": {streamType + streamOf(`{"choices":[{"delta":{"content":"Ye"}}]}`, `{"choices":[{"delta":{"content":"s."},"finish_reason":"stop"}]}`,
			`{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}],"base_resp":{"status_code":0,"status_msg":""}}`),
			message.Reply{Text: "Yes.", Finish: message.Stop}},
	} {
		t.Run(name, func(t *testing.T) {
			s := kittest.Serve(t, c.says)
			model, err := overChat(chat.Config{Model: "m"}).New(s.URL, s.Client)
			require.NoError(t, err)
			req, called, told := hello(), "", ""
			req.Stream = func(d loop.Delta) {
				if told += d.Text; d.Name != "" {
					called = d.Name
				}
			}
			got, err := model.Reply(t.Context(), req)
			require.NoError(t, err)
			for _, call := range c.want.Calls {
				assert.Equal(t, call.Name, called)
			}
			assert.Equal(t, c.want.Text, told)
			assert.Equal(t, c.want, message.Reply{Text: got.Text, Refusal: got.Refusal, Thinking: got.Thinking, Calls: got.Calls, Finish: got.Finish})
		})
	}
}
