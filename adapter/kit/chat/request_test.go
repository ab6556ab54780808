package chat_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

const (
	chatSays      = "200 OK\nContent-Type: application/json\n\n" + `{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`
	responsesSays = "200 OK\nContent-Type: application/json\n\n" + `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Yes."}]}]}`
)

// sent is the body of a model's request as compact JSON.
func sent(t *testing.T, a kittest.Config, says string, req loop.Request) string {
	t.Helper()
	s := kittest.Serve(t, says)
	model, err := a.New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := model.Reply(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "Yes.", reply.Text)
	return bodyOf(t, s.Requests()[0])
}

func bodyOf(t *testing.T, request string) string {
	t.Helper()
	_, body, _ := strings.Cut(request, "\n\n")
	var v any
	require.NoError(t, json.Unmarshal([]byte(body), &v))
	doc, err := json.Marshal(v)
	require.NoError(t, err)
	return string(doc)
}

// nothing is the function of tools that are only offered.
func nothing(context.Context, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`null`), nil
}

func says(messages ...message.Message) []message.Message { return messages }

func hello() loop.Request {
	return loop.Request{Messages: says(message.Message{Role: message.User, Text: "Hi."})}
}

func TestWhatTheConfigSaysIsSent(t *testing.T) {
	tools, output := kittest.Asks()["tools"], kittest.Asks()["output"]
	for name, c := range map[string]struct {
		cfg             chat.Config
		req             loop.Request
		chat, responses []string
	}{
		"nothing": {
			req:       hello(),
			chat:      []string{`{"messages":[{"content":"Hi.","role":"user"}],"model":"m"}`},
			responses: []string{`{"include":["reasoning.encrypted_content"],"input":[{"content":"Hi.","role":"user"}],"model":"m","store":false}`},
		},
		"numbers": {
			cfg: chat.Config{MaxTokens: 64, Temperature: new(0.0), Effort: "high"}, req: hello(),
			chat:      []string{`"max_completion_tokens":64`, `"temperature":0`, `"reasoning_effort":"high"`},
			responses: []string{`"max_output_tokens":64`, `"temperature":0`, `"reasoning":{"effort":"high"}`},
		},
		"one call at a time": {
			cfg: chat.Config{ParallelCalls: new(false)}, req: tools,
			chat: []string{`"parallel_tool_calls":false`}, responses: []string{`"parallel_tool_calls":false`},
		},
		"no strict mode": {
			cfg: chat.Config{Strict: chat.StrictOff}, req: tools,
			chat:      []string{`"city":{"description":"Where to stay","minLength":1,"type":"string"}`},
			responses: []string{`"strict":false`, `"minLength":1`},
		},
		"another server's strict mode": {
			cfg: chat.Config{Provider: "groq"}, req: tools,
			chat:      []string{`"nights":{"description":"(maximum 30, minimum 1)","type":"integer"}`, `"strict":true`},
			responses: []string{`"nights":{"description":"(maximum 30, minimum 1)","type":"integer"}`, `"strict":true`},
		},
		"any object": {
			cfg: chat.Config{Output: chat.OutputObject}, req: output,
			chat:      []string{`"response_format":{"type":"json_object"}`, `must be one JSON value that fits this JSON Schema`},
			responses: []string{`"text":{"format":{"type":"json_object"}}`, `must be one JSON value that fits this JSON Schema`},
		},
		"arguments as objects": {
			cfg: chat.Config{WrapArguments: true}, req: kittest.Asks()["garbled"],
			chat:      []string{`"arguments":"{\"raw_arguments\":\"{\\\"city\\\": \\\"Lisbon\\\", \\\"nights\\\": \"}"`, `"arguments":"{\"raw_arguments\":\"[\\\"Porto\\\"]\"}"`, `"arguments":"{}"`},
			responses: []string{`"arguments":"{\"raw_arguments\":\"[\\\"Porto\\\"]\"}"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Model = "m"
			body := sent(t, overChat(c.cfg), chatSays, c.req)
			for _, part := range c.chat {
				assert.Contains(t, body, part)
			}
			body = sent(t, overResponses(c.cfg), responsesSays, c.req)
			for _, part := range c.responses {
				assert.Contains(t, body, part)
			}
		})
	}
}

func TestWhatOneAPIHas(t *testing.T) {
	assert.Contains(t, sent(t, overChat(chat.Config{Model: "m", MaxTokens: 5, Quirks: &chat.Quirks{LegacyMaxTokens: true}}), chatSays, hello()), `"max_tokens":5`)
	stored := sent(t, overResponses(chat.Config{Model: "m", Store: true}), responsesSays, hello())
	assert.Equal(t, `{"input":[{"content":"Hi.","role":"user"}],"model":"m","store":true}`, stored)
	plain := sent(t, overResponses(chat.Config{Model: "m", Quirks: &chat.Quirks{NoReasoning: true}}), responsesSays, hello())
	assert.Equal(t, `{"input":[{"content":"Hi.","role":"user"}],"model":"m","store":false}`, plain)
	quiet := sent(t, overChat(chat.Config{Model: "m", Output: chat.OutputInstructions}), chatSays, kittest.Asks()["output"])
	assert.NotContains(t, quiet, "response_format")
	assert.Contains(t, quiet, "fits this JSON Schema")
	off := sent(t, overChat(chat.Config{Model: "m", Strict: chat.StrictOff}), chatSays, kittest.Asks()["tools"])
	assert.NotContains(t, off, "strict")
}

func TestAToolsSchemaIsMadeOneThatTheAPITakes(t *testing.T) {
	for given, want := range map[string]string{
		`{}`:                         `"parameters":{"properties":{},"type":"object"}`,
		`{"type":["object","null"]}`: `"parameters":{"properties":{},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"object"}}}`:                                                                                                                        `"properties":{"a":{"items":{"description":"Any value."},"type":"array"},"b":{"additionalProperties":true,"properties":{},"type":"object"}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"type":"string","x-echo":true}}}`:                                                                      `"parameters":{"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false,"anyOf":[{"required":["a"]}]}`:                                                                  `"description":"d\nThe arguments must also fit this JSON Schema: {\"anyOf\":[{\"required\":[\"a\"]}]}"`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"additionalProperties":false,"$defs":{"a":{"type":"object","properties":{},"required":[],"additionalProperties":false}}}`: `"strict":true`,
	} {
		raw, err := tool.Raw("t", "d", []byte(given), nothing)
		require.NoError(t, err, given)
		req := hello()
		req.Tools = []*tool.Tool{raw}
		assert.Contains(t, sent(t, overChat(chat.Config{Model: "m"}), chatSays, req), want, given)
	}
}

func TestALongNameIsShortenedAndComesBackWhole(t *testing.T) {
	long := strings.Repeat("hotels.", 12) + "find"
	raw, err := tool.Raw(long, "", []byte(`{"type":"object"}`), nothing)
	require.NoError(t, err)
	req := hello()
	req.Tools = []*tool.Tool{raw}

	s := kittest.Serve(t, chatSays)
	model, err := overChat(chat.Config{Model: "m"}).New(s.URL, s.Client)
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), req)
	require.NoError(t, err)
	var body struct {
		Tools []struct{ Function struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(bodyOf(t, s.Requests()[0])), &body))
	short := body.Tools[0].Function.Name
	assert.Regexp(t, `^[a-zA-Z0-9_-]{64}$`, short)

	for _, c := range []struct {
		a    kittest.Config
		says string
	}{
		{overChat(chat.Config{Model: "m"}), `{"choices":[{"message":{"tool_calls":[{"id":"c1","type":"function","function":{"name":"` + short + `","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`},
		{overResponses(chat.Config{Model: "m"}), `{"status":"completed","output":[{"type":"function_call","call_id":"c1","name":"` + short + `","arguments":"{}"}]}`},
	} {
		s := kittest.Serve(t, "200 OK\n\n"+c.says)
		model, err := c.a.New(s.URL, s.Client)
		require.NoError(t, err)
		reply, err := model.Reply(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, []message.Call{{ID: "c1", Name: long, Arguments: "{}"}}, reply.Calls)
	}
}

func TestAnAnswerThatIsNoPlainObjectIsAskedForInWords(t *testing.T) {
	for doc, format := range map[string]string{
		`{"type":"string"}`: "", `{"type":"array","items":{"type":"string"}}`: "", `{"anyOf":[{"type":"object"}]}`: "", `true`: "",
		`{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]}`: `"response_format":{"type":"json_object"}`,
	} {
		s, err := schema.Compile([]byte(doc))
		require.NoError(t, err)
		req := hello()
		req.Output = s
		body := sent(t, overChat(chat.Config{Model: "m"}), chatSays, req)
		assert.Contains(t, body, "fits this JSON Schema", doc)
		if format == "" {
			assert.NotContains(t, body, "response_format", doc)
		} else {
			assert.Contains(t, body, format, doc)
		}
	}
}

func TestAServerThatRefusesStreamOptionsIsNotSentThem(t *testing.T) {
	req := hello()
	req.Stream = func(loop.Delta) {}
	assert.Contains(t, sent(t, overChat(chat.Config{Model: "m"}), chatSays, req), `"stream_options"`)
	assert.NotContains(t, sent(t, overChat(chat.Config{Model: "m", Quirks: &chat.Quirks{NoStreamOptions: true}}), chatSays, req), "stream_options")
}

// A server that does not know a bound ignores it: the reply has no end, and a budget no hold on it.
func TestTheBoundOfAReplyHasTheNameThatTheServerKnows(t *testing.T) {
	for _, provider := range []string{"deepseek", "ollama", "zai", "together", "huggingface", "mistral"} {
		body := sent(t, overChat(chat.Config{Model: "m", Provider: provider, MaxTokens: 5}), chatSays, hello())
		assert.Contains(t, body, `"max_tokens":5`, provider)
		assert.NotContains(t, body, "max_completion_tokens", provider)
	}
	for _, provider := range []string{"", "azure", "openrouter", "groq", "xai", "cerebras", "moonshot"} {
		body := sent(t, overChat(chat.Config{Model: "m", Provider: provider, MaxTokens: 5}), chatSays, hello())
		assert.Contains(t, body, `"max_completion_tokens":5`, provider)
	}
}

func TestStopSequencesAreRefusedOverResponses(t *testing.T) {
	req := hello()
	req.Stop = []string{"END"}
	kittest.Refuses(t, overResponses(chat.Config{Model: "m"}), req, "openai: invalid_request: Stop: the Responses API has no stop sequences")
}

func TestMediaThatAnAPITakesNoneOfAreRefused(t *testing.T) {
	wav := message.Bytes(message.AudioPart, "audio/wav", []byte("x"))
	for want, c := range map[string]struct {
		a    kittest.Config
		part message.Part
	}{
		"messages[1].parts[0]: [audio, https://x/a.wav]: the Chat API does not accept audio by URL": {overChat(chat.Config{Model: "m"}), message.Link(message.AudioPart, "https://x/a.wav")},
		"[audio, audio/ogg, 1 bytes]: the Chat API accepts audio/wav and audio/mpeg":                {overChat(chat.Config{Model: "m"}), message.Bytes(message.AudioPart, "audio/ogg", []byte("x"))},
		"[file, https://x/a.pdf]: the Chat API does not accept files by URL: use the bytes":         {overChat(chat.Config{Model: "m"}), message.Link(message.FilePart, "https://x/a.pdf")},
		"[audio, audio/wav, 1 bytes]: the Responses API does not accept audio: use Chat":            {overResponses(chat.Config{Model: "m"}), wav},
		`[video]: kind: must be text, image, audio or file, got "video"`:                            {overResponses(chat.Config{Model: "m"}), message.Part{Kind: "video"}},
	} {
		req := hello()
		req.Messages = append(req.Messages, message.Message{Role: message.User, Parts: []message.Part{c.part}})
		kittest.Refuses(t, c.a, req, want)
	}
}
