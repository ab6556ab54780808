package chat_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// replyOf is the reply that a model makes of a response.
func replyOf(t *testing.T, a kittest.Config, stream bool, says string) message.Reply {
	t.Helper()
	reply, err := ended(t, a, stream, says)
	require.NoError(t, err)
	return reply
}

// ended asks once for a reply.
func ended(t *testing.T, a kittest.Config, stream bool, says string) (message.Reply, error) {
	t.Helper()
	kind := "application/json"
	req := hello()
	if stream {
		kind = "text/event-stream"
		req.Stream = func(loop.Delta) {}
	}
	s := kittest.Serve(t, "200 OK\nContent-Type: "+kind+"\n\n"+says)
	model, err := a.New(s.URL, s.Client)
	require.NoError(t, err)
	return model.Reply(t.Context(), req)
}

// after is a request that continues from a reply with its calls answered.
func after(r message.Reply) loop.Request {
	req := hello()
	req.Messages = append(req.Messages, message.Message{Role: message.Assistant, Text: r.Text, Calls: r.Calls, Opaque: r.Opaque})
	for _, c := range r.Calls {
		req.Messages = append(req.Messages, message.Message{Role: message.Tool, CallID: c.ID, Name: c.Name, Text: "1"})
	}
	return req
}

func TestWhatAServerWantsBackIsEchoed(t *testing.T) {
	const (
		whole = `{"choices":[{"message":{"content":"Hm.","reasoning_content":"I think.","secret":1,"reasoning_details":[{"a":1},{"b":2}],` +
			`"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]},"finish_reason":"tool_calls"}]}`
		pieces = `data: {"choices":[{"delta":{"reasoning_content":"I ","reasoning_details":[{"a":1}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"reasoning_content":"think.","reasoning_details":[{"b":2}],"content":"Hm."}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]},"finish_reason":"tool_calls"}]}` + "\n\n"
		want = `{"content":"Hm.","reasoning_content":"I think.","reasoning_details":[{"a":1},{"b":2}],"role":"assistant",` +
			`"tool_calls":[{"extra_content":{"google":{"thought_signature":"s"}},"function":{"arguments":"{}","name":"f"},"id":"c1","type":"function"}]}`
	)
	a := overChat(chat.Config{Model: "m", Echo: []string{"reasoning_content", "reasoning_details", "extra_content"}})
	for name, reply := range map[string]message.Reply{"whole": replyOf(t, a, false, whole), "in pieces": replyOf(t, a, true, pieces)} {
		assert.Contains(t, sent(t, a, chatSays, after(reply)), want, name)
		none := sent(t, overChat(chat.Config{Model: "m"}), chatSays, after(reply))
		assert.NotContains(t, none, "reasoning", name)
	}
	assert.Empty(t, replyOf(t, overChat(chat.Config{Model: "m"}), false, whole).Opaque)
	assert.Empty(t, replyOf(t, a, false, `{"choices":[{"message":{"content":"Hm.","reasoning_content":null},"finish_reason":"stop"}]}`).Opaque)
}

const thought = `{"status":"completed","output":[{"type":"reasoning","id":"rs_1","encrypted_content":"e1","summary":[]},` +
	`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hm."}]},` +
	`{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"}]}`

func TestReasoningGoesBackToTheModelItCameFrom(t *testing.T) {
	own := chat.Config{Model: "m"}
	reply := replyOf(t, overResponses(own), false, thought)
	items := `{"encrypted_content":"e1","id":"rs_1","summary":[],"type":"reasoning"},` +
		`{"content":[{"text":"Hm.","type":"output_text"}],"id":"msg_1","role":"assistant","type":"message"},` +
		`{"arguments":"{}","call_id":"c1","id":"fc_1","name":"f","type":"function_call"},{"call_id":"c1","output":"1","type":"function_call_output"}`
	assert.Contains(t, sent(t, overResponses(own), responsesSays, after(reply)), items)

	edited, renamed, fewer := reply, reply, reply
	edited.Text = "Hm!"
	renamed.Calls = []message.Call{{ID: "c1", Name: "g", Arguments: "{}"}}
	fewer.Calls = nil
	for name, c := range map[string]struct {
		cfg   chat.Config
		reply message.Reply
	}{
		"another model":    {chat.Config{Model: "n"}, reply},
		"another provider": {chat.Config{Model: "m", Provider: "azure"}, reply},
		"another text":     {own, edited}, "another call": {own, renamed}, "no call": {own, fewer},
		"another adapter": {own, message.Reply{Text: "Hm.", Calls: reply.Calls, Opaque: `{"adapter":"x","items":[]}`}},
		"no JSON":         {own, message.Reply{Text: "Hm.", Calls: reply.Calls, Opaque: `}`}},
	} {
		body := sent(t, overResponses(c.cfg), responsesSays, after(c.reply))
		assert.NotContains(t, body, "e1", name)
		assert.NotContains(t, body, `"id"`, name)
		assert.Contains(t, body, `"content":"Hm`, name)
	}
	assert.NotContains(t, sent(t, overChat(own), chatSays, after(reply)), "e1")
}

func TestReasoningThatNobodyKeptIsNotNamed(t *testing.T) {
	reply := replyOf(t, overResponses(chat.Config{Model: "m", Quirks: &chat.Quirks{NoReasoning: true}}), false, strings.Replace(thought, `"encrypted_content":"e1",`, "", 1))
	body := sent(t, overResponses(chat.Config{Model: "m", Quirks: &chat.Quirks{NoReasoning: true}}), responsesSays, after(reply))
	assert.NotContains(t, body, "rs_1")
	assert.NotContains(t, body, "fc_1")
	stored := sent(t, overResponses(chat.Config{Model: "m", Store: true}), responsesSays, after(reply))
	assert.Contains(t, stored, `{"id":"rs_1","summary":[],"type":"reasoning"}`)
}

func TestIdsAreUniqueInTheWholeConversation(t *testing.T) {
	reply := replyOf(t, overResponses(chat.Config{Model: "m"}), false, thought)
	req := after(reply)
	req.Messages = append(req.Messages, after(reply).Messages...)
	var body struct {
		Input []struct {
			Type   string
			CallID string `json:"call_id"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(sent(t, overResponses(chat.Config{Model: "m"}), responsesSays, req)), &body))
	var calls, outputs []string
	for _, item := range body.Input {
		switch item.Type {
		case "function_call":
			calls = append(calls, item.CallID)
		case "function_call_output":
			outputs = append(outputs, item.CallID)
		}
	}
	assert.Equal(t, []string{"c1", "call-1"}, calls)
	assert.Equal(t, calls, outputs)
}

// LiteLLM and vLLM write null for what an item does not have. The API takes no null for these two
// (https://github.com/BerriAI/litellm/issues/13420).
func TestAnItemGoesBackWithoutANullStatus(t *testing.T) {
	a := overResponses(chat.Config{Model: "m"})
	reply := replyOf(t, a, false, strings.Replace(thought, `"encrypted_content":"e1"`, `"encrypted_content":"e1","status":null,"content":null`, 1))
	body := sent(t, a, responsesSays, after(reply))
	assert.Contains(t, body, `{"encrypted_content":"e1","id":"rs_1","summary":[],"type":"reasoning"},`)
	assert.NotContains(t, body, "null")
}

// A thought that was streamed in pieces goes back as one, with its signature, as in a whole reply.
func TestThoughtsThatAreStreamedAreMerged(t *testing.T) {
	a := overChat(chat.Config{Model: "m", Provider: "openrouter", Echo: []string{"reasoning_details"}})
	piece := func(details string) string {
		return `data: {"choices":[{"delta":{"reasoning_details":[` + details + `]}}]}` + "\n\n"
	}
	reply := replyOf(t, a, true, piece(`{"type":"reasoning.text","text":"","signature":"","format":"f","index":0}`)+
		piece(`{"type":"reasoning.text","text":"Two and ","format":"f","index":0},{"type":"reasoning.summary","summary":"A","index":1}`)+
		piece(`{"type":"reasoning.text","text":"two.","signature":null,"format":"f","index":0}`)+piece(`{"type":"reasoning.summary","summary":" sum.","index":1}`)+
		piece(`{"type":"reasoning.text","text":"","signature":"s1","format":"f","index":0}`)+piece(`{"type":"reasoning.encrypted","data":"e","index":2}`)+
		`data: {"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}`+"\n\n")
	assert.Contains(t, sent(t, a, chatSays, after(reply)), `"reasoning_details":[{"format":"f","index":0,"signature":"s1","text":"Two and two.","type":"reasoning.text"},`+
		`{"index":1,"summary":"A sum.","type":"reasoning.summary"},{"data":"e","index":2,"type":"reasoning.encrypted"}]`)
}

// Another model or server cannot read the kept items, and may refuse them.
func TestWhatWasKeptGoesBackToItsOriginAlone(t *testing.T) {
	own := chat.Config{Model: "m", Provider: "openrouter", Echo: []string{"reasoning"}}
	reply := replyOf(t, overChat(own), false, `{"choices":[{"message":{"content":"Hm.","reasoning":"I think."},"finish_reason":"stop"}]}`)
	assert.Contains(t, sent(t, overChat(own), chatSays, after(reply)), "I think.")
	other, elsewhere := own, own
	other.Model, elsewhere.Provider = "n", "deepseek"
	assert.NotContains(t, sent(t, overChat(other), chatSays, after(reply)), "I think.", "another model")
	assert.NotContains(t, sent(t, overChat(elsewhere), chatSays, after(reply)), "I think.", "another server")
}

// Four times as many pieces of a thought need four times the memory, not sixteen times.
func TestManyPiecesTakeMemoryInProportion(t *testing.T) {
	a := overChat(chat.Config{Model: "m", Echo: []string{"reasoning", "reasoning_details"}})
	taken := func(n int) float64 {
		says := strings.Repeat(`data: {"choices":[{"delta":{"reasoning":"I think.","reasoning_details":[{"type":"reasoning.text","text":"I think.","index":0}]}}]}`+"\n\n", n) +
			`data: {"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}` + "\n\n"
		var before, then runtime.MemStats
		runtime.ReadMemStats(&before)
		replyOf(t, a, true, says)
		runtime.ReadMemStats(&then)
		return float64(then.TotalAlloc - before.TotalAlloc)
	}
	taken(500) // what is made once
	assert.Less(t, taken(2000)/taken(500), 6.0, "4 times as many pieces")
}

// A server may name the tool in every piece, so that each could begin another call.
func TestManyNamedPiecesOfACallTakeMemoryInProportion(t *testing.T) {
	event := func(id, arguments string) string {
		return `data: {"choices":[{"delta":{"tool_calls":[{"index":0,` + id + `"function":{"name":"f","arguments":` + string(kit.Quote(arguments)) +
			`}}]},"finish_reason":"tool_calls"}]}` + "\n\n"
	}
	long := func(n int) string { return strings.Repeat("y", 20*n) }
	for name, says := range map[string]func(n int) string{
		"in a text":  func(n int) string { return event("", `{"x":"`+long(n)) + strings.Repeat(event("", "{}"), n) },
		"not strict": func(n int) string { return event("", `{"x":1,"x":"`+long(n)+`"}`) + strings.Repeat(event("", "{}"), n) },
		"another id": func(n int) string {
			return event(`"id":"a",`, `{"x":"`+long(n)) + strings.Repeat(event(`"id":"b",`, "{}"), n)
		},
		"no object":   func(n int) string { return event("", `["`+long(n)+`"`) + strings.Repeat(event("", "{}"), n) },
		"whole calls": func(n int) string { return strings.Repeat(event("", `{"x":"}\"{"}`), n) },
	} {
		t.Run(name, func(t *testing.T) {
			taken := func(n int) float64 {
				var before, then runtime.MemStats
				runtime.ReadMemStats(&before)
				reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, says(n))
				runtime.ReadMemStats(&then)
				assert.Len(t, reply.Calls, map[bool]int{true: n, false: 1}[name == "whole calls"])
				return float64(then.TotalAlloc - before.TotalAlloc)
			}
			taken(500) // what is made once
			assert.Less(t, taken(2000)/taken(500), 6.0, "4 times as many pieces")
		})
	}
}

const mistralThinks = `{"model":"m","choices":[{"finish_reason":"stop","message":{"content":[` +
	`{"type":"thinking","thinking":[{"type":"text","text":"Two and "},{"type":"text","text":"two."}]},{"type":"text","text":"4"}]}}]}`

func TestThoughtsAreNoPartOfTheText(t *testing.T) {
	for name, says := range map[string]string{
		"parts":   `"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"4"}]`,
		"content": `"content":"4","reasoning_content":"Hm."`,
		"both":    `"content":"4","reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm."}]`,
		"details": `"content":"4","reasoning":null,"reasoning_details":[{"type":"reasoning.summary","summary":"Hm."}]`,
	} {
		whole := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"finish_reason":"stop","message":{`+says+`}}]}`)
		pieces := replyOf(t, overChat(chat.Config{Model: "m"}), true, `data: {"choices":[{"finish_reason":"stop","delta":{`+says+"}}]}\n\n")
		for _, reply := range []message.Reply{whole, pieces} {
			assert.Equal(t, "4", reply.Text, name)
			assert.Equal(t, "Hm.", reply.Thinking, name)
		}
	}
}

func TestThoughtsInTheContentGoBackThere(t *testing.T) {
	own := overChat(chat.Config{Model: "magistral", Provider: "mistral"})
	reply := replyOf(t, own, false, mistralThinks)
	assert.Equal(t, "Two and two.", reply.Thinking)
	assert.Contains(t, sent(t, own, chatSays, after(reply)),
		`{"content":[{"thinking":[{"text":"Two and two.","type":"text"}],"type":"thinking"},{"text":"4","type":"text"}],"role":"assistant"}`)
	assert.Contains(t, sent(t, overChat(chat.Config{Model: "magistral"}), chatSays, after(reply)), `{"content":"4","role":"assistant"}`)
}

// Mistral wants the signature of a thought to read it again
// (https://github.com/mistralai/client-ts/blob/main/src/models/components/thinkchunk.ts).
func TestASignedThoughtInTheContentGoesBackWithItsSignature(t *testing.T) {
	own := overChat(chat.Config{Model: "m", Provider: "mistral"})
	thought := func(text, more string) string {
		return `{"type":"thinking","thinking":[{"type":"text","text":"` + text + `"}]` + more + `}`
	}
	whole := replyOf(t, own, false, `{"choices":[{"finish_reason":"stop","message":{"content":[`+thought("Hm. 4.", `,"signature":"s1"`)+`,{"type":"text","text":"4"}]}}]}`)
	streamed := replyOf(t, own, true, streamOf(`{"choices":[{"delta":{"content":[`+thought("Hm.", `,"signature":null`)+`]}}]}`,
		`{"choices":[{"delta":{"content":[`+thought(" 4.", ``)+`]}}]}`, `{"choices":[{"delta":{"content":[`+thought("", `,"signature":"s1"`)+`]}}]}`,
		`{"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}`))
	for how, reply := range map[string]message.Reply{"whole": whole, "streamed": streamed} {
		assert.Contains(t, sent(t, own, chatSays, after(reply)),
			`{"content":[{"signature":"s1","thinking":[{"text":"Hm. 4.","type":"text"}],"type":"thinking"},{"text":"4","type":"text"}],"role":"assistant"}`, how)
	}
}

func TestThoughtsAreStreamed(t *testing.T) {
	event := func(doc string) string { return "data: " + doc + "\n\n" }
	says := event(`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"H"}`) +
		event(`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"m."}`) +
		event(`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"So."}`) +
		event(`{"type":"response.reasoning_text.delta","output_index":1,"content_index":0,"delta":"Yes."}`) +
		event(`{"type":"response.completed","response":{"status":"completed","output":[`+
			`{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."},{"type":"summary_text","text":"So."}]},`+
			`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Yes."}]}]}}`)
	var told string
	req := hello()
	req.Stream = func(d loop.Delta) { told += d.Thinking }
	s := kittest.Serve(t, "200 OK\nContent-Type: text/event-stream\n\n"+says)
	model, err := overResponses(chat.Config{Model: "m"}).New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := model.Reply(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "Hm.\n\nSo.\n\nYes.", reply.Thinking)
	assert.Equal(t, reply.Thinking, told)
	assert.Contains(t, sent(t, overResponses(chat.Config{Model: "m", ShowThinking: true}), responsesSays, hello()), `"reasoning":{"summary":"auto"}`)
}

func TestPlainReasoningGoesBackToResponses(t *testing.T) {
	const plain = `{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]},` +
		`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"4"}]}]}`
	own := overResponses(chat.Config{Model: "deepseek", Provider: "deepseek"})
	reply := replyOf(t, own, false, plain)
	assert.Equal(t, "Hm.", reply.Thinking)
	assert.Contains(t, sent(t, own, responsesSays, after(reply)), `{"content":[{"text":"Hm.","type":"reasoning_text"}],"id":"rs_1","summary":[],"type":"reasoning"}`)
}

// A call of a namespace, or of a program that the API runs, goes back as such, and a program gets its answer
// (https://github.com/vercel/ai/pull/15193, https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling).
func TestACallGoesBackWithWhoMadeItAndWhere(t *testing.T) {
	own := overResponses(chat.Config{Model: "m"})
	for name, c := range map[string]struct{ more, answered string }{
		"a namespace": {`,"namespace":"hotels"`, ""},
		"a program": {`,"caller":{"type":"program","caller_id":"p1"}`,
			`"caller":{"type":"program","caller_id":"p1"},`},
	} {
		call := `{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"` + c.more + `}`
		for _, stream := range []bool{false, true} {
			says := `{"status":"completed","output":[` + call + `]}`
			if stream {
				says = streamOf(`{"type":"response.output_item.done","output_index":0,"item":`+call+`}`,
					`{"type":"response.completed","response":{"status":"completed","output":[]}}`)
			}
			reply := replyOf(t, own, stream, says)
			body := sent(t, own, responsesSays, after(reply))
			var want any
			require.NoError(t, json.Unmarshal([]byte(`[`+call+`,{`+c.answered+`"call_id":"c1","output":"1","type":"function_call_output"}]`), &want))
			var got struct{ Input []any }
			require.NoError(t, json.Unmarshal([]byte(body), &got), body)
			assert.Equal(t, want, any(got.Input[1:]), name)
		}
	}
	direct := replyOf(t, own, false, `{"status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}","namespace":null,"caller":{"type":"direct"}}]}`)
	assert.Empty(t, direct.Opaque)
}
