package chat_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// thinking are replies with a call and what each provider wants back of them.
var thinking = map[string]struct {
	provider, model string
	// message and call are the members of the reply that are echoed, and what is not.
	message, call string
	echoed        []string
}{
	"DeepSeek":             {"deepseek", "deepseek-v4-pro", `"reasoning_content":"I think."`, ``, []string{`"reasoning_content":"I think."`}},
	"DeepSeek, no thought": {"deepseek", "deepseek-v4-pro", `"reasoning_content":""`, ``, []string{`"reasoning_content":""`}},
	"Kimi":                 {"Moonshot AI", "kimi-k2.6", `"reasoning_content":"I think."`, ``, []string{`"reasoning_content":"I think."`}},
	"GLM":                  {"z.ai", "glm-5", `"reasoning_content":"I think."`, ``, []string{`"reasoning_content":"I think."`}},
	"OpenRouter": {"OpenRouter", "google/gemini-3-pro", `"reasoning":"I think.","reasoning_details":[{"type":"reasoning.encrypted","data":"s1","index":0}]`, ``,
		[]string{`"reasoning_details":[{"data":"s1","index":0,"type":"reasoning.encrypted"}]`}},
	"Vercel": {"Vercel AI Gateway", "google/gemini-3-pro", `"reasoning":"I think.","reasoning_details":[{"type":"reasoning.encrypted","data":"s1","index":0}]`, ``,
		[]string{`"reasoning_details":[{"data":"s1","index":0,"type":"reasoning.encrypted"}]`}},
	"MiniMax, split": {"minimax", "MiniMax-M3", `"reasoning_content":"I think.","reasoning_details":[{"type":"reasoning.text","id":"r-1","index":0,"text":"I think."}]`, ``,
		[]string{`"reasoning_details":[{"id":"r-1","index":0,"text":"I think.","type":"reasoning.text"}]`}},
	"Gemini": {"gemini", "gemini-3-pro", ``, `,"extra_content":{"google":{"thought_signature":"s1"}}`,
		[]string{`{"extra_content":{"google":{"thought_signature":"s1"}},"function":{"arguments":"{}","name":"f"},"id":"c1"`}},
	"LiteLLM": {"litellm", "claude", `"thinking_blocks":[{"type":"thinking","thinking":"I think.","signature":"s1"}]`, ``,
		[]string{`"thinking_blocks":[{"signature":"s1","thinking":"I think.","type":"thinking"}]`}},
	"DeepSeek behind a gateway":     {"", "opencode-zen/deepseek-v4-flash-free", `"reasoning_content":"I think."`, ``, []string{`"reasoning_content":"I think."`}},
	"DeepSeek behind LiteLLM":       {"litellm", "deepseek-v4-pro", `"reasoning_content":"I think."`, ``, []string{`"reasoning_content":"I think."`}},
	"DeepSeek R1, which refuses it": {"", "deepseek-ai/DeepSeek-R1", `"reasoning_content":"I think."`, ``, nil},
	"Kimi elsewhere":                {"siliconflow", "Pro/moonshotai/Kimi-K2-Thinking", `"reasoning_content":"I think."`, ``, []string{`"reasoning_content":"I think."`}},
	"MiMo":                          {"", "mimo-v2.5-pro", `"reasoning_content":"I think."`, ``, []string{`"reasoning_content":"I think."`}},
	"vLLM":                          {"vllm", "MiniMaxAI/MiniMax-M2", `"reasoning":"I think."`, ``, []string{`"reasoning":"I think."`}},
	"Groq, which refuses it":        {"groq", "gpt-oss", `"reasoning":"I think.","reasoning_content":"I think."`, ``, nil},
	"OpenAI":                        {"", "gpt-5", `"reasoning_content":"I think."`, ``, nil},
}

// A loop of calls asks a second time, and the provider gets the reasoning of its first reply back.
func TestReasoningGoesBackToTheProvidersThatWantIt(t *testing.T) {
	for name, c := range thinking {
		t.Run(name, func(t *testing.T) {
			a := overChat(chat.Config{Model: c.model, Provider: c.provider})
			member := c.message
			if member != "" {
				member += ","
			}
			call := `"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}` + c.call + `}]`
			whole := replyOf(t, a, false, `{"choices":[{"message":{`+member+call+`},"finish_reason":"tool_calls"}]}`)
			pieces := replyOf(t, a, true, `data: {"choices":[{"delta":{`+strings.TrimSuffix(member, ",")+`}}]}`+"\n\n"+
				`data: {"choices":[{"delta":{`+call+`},"finish_reason":"tool_calls"}]}`+"\n\n")
			for how, reply := range map[string]message.Reply{"whole": whole, "in pieces": pieces} {
				body := sent(t, a, chatSays, after(reply))
				for _, want := range c.echoed {
					assert.Contains(t, body, want, how)
				}
				if c.echoed == nil {
					assert.NotContains(t, body, "think", how)
				}
			}
			none := sent(t, overChat(chat.Config{Model: c.model, Provider: c.provider, Echo: []string{}}), chatSays, after(whole))
			assert.NotContains(t, none, "think.", "an empty Echo")
			assert.NotContains(t, none, "s1", "an empty Echo")
		})
	}
}

// A ladder or an older conversation brings calls of another model. DeepSeek and Kimi refuse a call without
// the member, and Gemini one without a signature.
func TestCallsOfOtherModelsGetWhatTheProviderRequires(t *testing.T) {
	foreign := message.Reply{Calls: []message.Call{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "f", Arguments: "{}"}}, Opaque: `{"adapter":"other"}`}
	for provider, want := range map[string]string{
		"deepseek": `"reasoning_content":""`, "kimi": `"reasoning_content":""`,
		"google": `[{"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}},"function":{"arguments":"{}","name":"f"},"id":"c1","type":"function"},` +
			`{"function":{"arguments":"{}","name":"f"},"id":"c2","type":"function"}]`,
	} {
		body := sent(t, overChat(chat.Config{Model: "m-3", Provider: provider}), chatSays, after(foreign))
		assert.Contains(t, body, want, provider)
	}
	for provider, want := range map[string]bool{"": true, "LiteLLM Proxy": true, "groq": false, "openrouter": false} {
		body := sent(t, overChat(chat.Config{Model: "deepseek-v4-pro", Provider: provider}), chatSays, after(foreign))
		assert.Equal(t, want, strings.Contains(body, `"reasoning_content":""`), "a model that wants it, behind %q", provider)
	}
	old := sent(t, overChat(chat.Config{Model: "gemini-2.5-flash", Provider: "google"}), chatSays, after(foreign))
	assert.NotContains(t, old, "extra_content")
	text := sent(t, overChat(chat.Config{Model: "m", Provider: "deepseek"}), chatSays, after(message.Reply{Text: "Hm."}))
	assert.NotContains(t, text, "reasoning_content", "a message without calls")
}

// LiteLLM keeps Gemini's signature in the id of a call, which is longer than OpenAI would take.
func TestIdsGoBackAsTheServerGaveThem(t *testing.T) {
	const long = "call_1f0e8f28e5b24c1d8c9a__thought__EvQCCvECAdHtim8mlongerThanFortyBytes=="
	says := `{"choices":[{"message":{"tool_calls":[{"id":"` + long + `","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	for _, provider := range []string{"", "litellm", "azure"} {
		a := overChat(chat.Config{Model: "m", Provider: provider})
		reply := replyOf(t, a, false, says)
		assert.Contains(t, sent(t, a, chatSays, after(reply)), `"id":"`+long+`"`, "the server's own: %q", provider)
	}
	reply := replyOf(t, overChat(chat.Config{Model: "m", Provider: "litellm"}), false, says)
	for provider, kept := range map[string]bool{"": false, "openrouter": false, "mistral": false, "vllm": true, "deepseek": true} {
		body := sent(t, overChat(chat.Config{Model: "other", Provider: provider}), chatSays, after(reply))
		assert.Equal(t, kept, strings.Contains(body, long), "another server: %q", provider)
	}
}

// Mistral refuses every id but nine letters and digits, also of a call of its own that came without one.
func TestIdsThatAServerDidNotGiveGoBackInItsForm(t *testing.T) {
	a := overChat(chat.Config{Model: "m", Provider: "mistral"})
	for _, ids := range [][]string{{"", ""}, {"", "aB3dE6gH9"}, {"chatcmpl-tool-1", ""}} {
		call := func(id string) string {
			return `{"id":"` + id + `","function":{"name":"f","arguments":"{}"}}`
		}
		reply := replyOf(t, a, false, `{"choices":[{"message":{"tool_calls":[`+call(ids[0])+`,`+call(ids[1])+`]},"finish_reason":"tool_calls"}]}`)
		body := sent(t, a, chatSays, after(reply))
		assert.Len(t, regexp.MustCompile(`"id":"[A-Za-z0-9]{9}"`).FindAllString(body, -1), 2, body)
		assert.Len(t, regexp.MustCompile(`"tool_call_id":"[A-Za-z0-9]{9}"`).FindAllString(body, -1), 2, body)
	}
}

// Pieces of a thought have no index at LiteLLM. The signature ends each thought.
func TestThinkingBlocksThatAreStreamedAreJoined(t *testing.T) {
	a := overChat(chat.Config{Model: "m", Provider: "litellm"})
	piece := func(block string) string {
		return `data: {"choices":[{"delta":{"thinking_blocks":[` + block + `]}}]}` + "\n\n"
	}
	reply := replyOf(t, a, true, piece(`{"type":"thinking","thinking":"Two and ","signature":null}`)+piece(`{"type":"thinking","thinking":"two.","signature":""}`)+
		piece(`{"type":"thinking","thinking":"","signature":"s1"}`)+piece(`{"type":"redacted_thinking","data":"d"}`)+piece(`{"type":"thinking","thinking":"So ","signature":""}`)+
		piece(`{"type":"thinking","thinking":"4.","signature":"s2"}`)+`data: {"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}`+"\n\n")
	assert.Contains(t, sent(t, a, chatSays, after(reply)), `"thinking_blocks":[{"signature":"s1","thinking":"Two and two.","type":"thinking"},`+
		`{"data":"d","type":"redacted_thinking"},{"signature":"s2","thinking":"So 4.","type":"thinking"}]`)

	// Newer LiteLLM says the whole thought again with the signature.
	reply = replyOf(t, a, true, piece(`{"type":"thinking","thinking":"Two and ","signature":""}`)+piece(`{"type":"thinking","thinking":"two.","signature":""}`)+
		piece(`{"type":"thinking","thinking":"Two and two.","signature":"s1"}`)+piece(`{"type":"thinking","thinking":"So 4.","signature":"s2"}`)+
		`data: {"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}`+"\n\n")
	assert.Contains(t, sent(t, a, chatSays, after(reply)), `"thinking_blocks":[{"signature":"s1","thinking":"Two and two.","type":"thinking"},`+
		`{"signature":"s2","thinking":"So 4.","type":"thinking"}]`)
}

// A call that cannot be read is answered, and goes back: servers that parse its arguments would refuse every
// request from then on.
func TestServersThatParseArgumentsGetAnObject(t *testing.T) {
	broken := after(message.Reply{Calls: []message.Call{{ID: "aB3dE6gH9", Name: "f", Arguments: `{"city": "Fa`}}})
	for provider, wrapped := range map[string]bool{
		"": false, "deepseek": false, "vllm": true, "SGLang": true, "llama.cpp": true, "qwen": true, "cloudflare": true, "openrouter": true,
		"huggingface": true, "litellm": true, "ollama": true,
	} {
		body := sent(t, overChat(chat.Config{Model: "m", Provider: provider}), chatSays, broken)
		assert.Equal(t, wrapped, strings.Contains(body, `{\"raw_arguments\":`), "%q: %s", provider, body)
	}
	own := overChat(chat.Config{Model: "m", Provider: "vllm", Quirks: &chat.Quirks{}})
	assert.NotContains(t, sent(t, own, chatSays, broken), "raw_arguments")
}

func TestQuirksCanBeReplaced(t *testing.T) {
	q := chat.QuirksOf("DeepSeek", "m")
	fill := map[string]json.RawMessage{"reasoning_content": json.RawMessage(`""`)}
	assert.Equal(t, fill, q.FillMessage)
	assert.NotEmpty(t, q.Source)
	assert.Zero(t, chat.QuirksOf("acme", "m"))
	q.FillMessage["reasoning_content"] = nil
	assert.Equal(t, fill, chat.QuirksOf("deepseek", "m").FillMessage, "the table is as it was")

	reply := replyOf(t, overChat(chat.Config{Model: "m", Provider: "deepseek"}), false, `{"choices":[{"message":{"content":"Hm.","reasoning_content":"I think."},"finish_reason":"stop"}]}`)
	own := chat.Config{Model: "m", Provider: "deepseek", Quirks: &chat.Quirks{}}
	assert.Contains(t, sent(t, overChat(own), chatSays, after(reply)), "I think.", "Echo alone says what goes back")

	bad := chat.Config{Model: "m", Quirks: &chat.Quirks{FillCall: map[string]json.RawMessage{"x": json.RawMessage("{"), "id": json.RawMessage("1")}, MaxID: -1}}
	require.EqualError(t, bad.Validate(), "Quirks.FillCall: \"id\" is a member that the adapter always sends: remove it\nQuirks.FillCall: \"x\" must be JSON\nQuirks: MaxID and ExactID must be 0 or more, not -1 and 0")
	doc, err := json.Marshal(chat.Config{Model: "m", Echo: []string{}})
	require.NoError(t, err)
	var read chat.Config
	require.NoError(t, json.Unmarshal(doc, &read))
	assert.NotNil(t, read.Echo, "an empty list is not nil after a round trip: %s", doc)
}

// What a provider refuses is not sent to it by default.
func TestDefaultsThatAProviderRefusesAreNotSent(t *testing.T) {
	streamed := func(cfg chat.Config, req loop.Request) string {
		cfg.MaxTokens, req.Stream = 9, func(loop.Delta) {}
		return sent(t, overChat(cfg), chatSays, req)
	}
	mistral := streamed(chat.Config{Model: "m", Provider: "Mistral"}, hello())
	assert.Contains(t, mistral, `"max_tokens":9`)
	assert.NotContains(t, mistral, "max_completion_tokens")
	assert.NotContains(t, mistral, "stream_options")
	replaced := streamed(chat.Config{Model: "m", Provider: "mistral", Quirks: &chat.Quirks{ExactID: 9}}, hello())
	assert.Contains(t, replaced, "max_completion_tokens")
	assert.Contains(t, replaced, "stream_options")

	mixed := hello()
	mixed.Tools = []*tool.Tool{kittest.BookRoom(), kittest.HotelFind()} // the second has an optional member
	assert.NotContains(t, streamed(chat.Config{Model: "m", Provider: "cerebras"}, mixed), "strict")
	assert.Contains(t, streamed(chat.Config{Model: "m", Provider: "groq"}, mixed), `"strict":true`)
	mixed.Tools = mixed.Tools[:1]
	assert.Contains(t, streamed(chat.Config{Model: "m", Provider: "cerebras"}, mixed), `"strict":true`, "all are strict")

	for model, asked := range map[string]bool{
		"gpt-4.1-mini": false, "gpt-4o": false, "openai/gpt-4o": false, "gpt-5-chat-latest": false, "gpt-5.2-chat-latest": false, "gpt-5": true, "o4-mini": true, "my-deployment": true,
	} {
		body := sent(t, overResponses(chat.Config{Model: model}), responsesSays, hello())
		assert.Equal(t, asked, strings.Contains(body, "reasoning.encrypted_content"), model)
	}
	assert.Contains(t, sent(t, overResponses(chat.Config{Model: "gpt-4-thinks", Effort: "low"}), responsesSays, hello()), "reasoning.encrypted_content")
}

// A refusal of a default names the setting that helps.
func TestARefusalNamesTheSetting(t *testing.T) {
	refused := func(status int, body string) string {
		s := kittest.Serve(t, fmt.Sprintf("%d Refused\nContent-Type: application/json\n\n%s", status, body))
		model, err := overResponses(chat.Config{Model: "m"}).New(s.URL, s.Client)
		require.NoError(t, err)
		_, err = model.Reply(t.Context(), hello())
		require.Error(t, err)
		return err.Error()
	}
	assert.Equal(t, "openai: 400 invalid_request_error: Encrypted content is not supported with this model. (set NoReasoning of Config.Quirks: the model does not reason)",
		refused(400, `{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include","code":null}}`))
	assert.Equal(t, "openai: 422 invalid_request_error: Extra inputs are not permitted (set LegacyMaxTokens of Config.Quirks)",
		refused(422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","input":32000}]},"type":"invalid_request_error","param":null,"code":null}`))
	assert.Contains(t, refused(400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API."}}`), "(Config.Provider and Config.Echo decide which reasoning goes back)")
	assert.Contains(t, refused(400, `{"message":"Tools with mixed values for 'strict' are not allowed."}`), `(set Config.Strict to "off")`)
	assert.Contains(t, refused(400, `{"error":{"message":"json mode cannot be combined with tool/function calling","type":"invalid_request_error","param":"response_format"}}`),
		`(set Config.Output to "instructions")`) // Groq, which would refuse json_object, too
	for _, said := range []string{ // OpenAI and Doubao on what is left of a budget
		"max_tokens is too large: 83333. This model supports at most 16384 completion tokens, whereas you provided 83333.",
		"The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 32000 instead.",
	} {
		assert.Contains(t, refused(400, `{"error":{"message":"`+said+`","type":"invalid_request_error","param":"max_completion_tokens"}}`), "(set Config.MaxTokens to the most that the model can write)")
	}
	assert.Contains(t, refused(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`),
		"(leave LegacyMaxTokens of Config.Quirks unset)")
	assert.NotContains(t, refused(500, `{"error":{"message":"stream_options"}}`), "Config")
	assert.NotContains(t, refused(400, `{"error":{"message":"no such thing"}}`), "Config")
}
