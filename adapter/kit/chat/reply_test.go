package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

func TestCallsGetIdsOfTheirOwn(t *testing.T) {
	calls := []message.Call{{ID: ""}, {ID: "call-1"}, {ID: "call-1"}, {ID: "x"}, {ID: "x"}, {ID: "call-5"}}
	kit.NameCalls(calls)
	var ids []string
	for _, c := range calls {
		ids = append(ids, c.ID)
	}
	assert.Equal(t, []string{"call-2", "call-1", "call-3", "x", "call-6", "call-5"}, ids)
}

// play feeds events, one a line, and returns what was told beside the reply.
func play(read codec, lines []byte) (reply message.Reply, text string, calls []message.Call, err error) {
	var b strings.Builder
	tell := func(d loop.Delta) {
		b.WriteString(d.Text)
		for d.Call >= len(calls) {
			calls = append(calls, message.Call{})
		}
		if d.Call >= 0 {
			calls[d.Call].Name += d.Name
			calls[d.Call].Arguments += d.Arguments
		}
	}
	for line := range bytes.Lines(lines) {
		last, err := read.event(line, tell)
		if err != nil {
			return message.Reply{}, "", nil, err
		}
		if last {
			break
		}
	}
	reply, err = read.ended(true)
	return reply, b.String(), calls, err
}

// A character that a server cuts in two is one character of what is streamed.
func TestACharacterThatIsCutInTwoIsStreamedAsOne(t *testing.T) {
	read, told := &responsesReply{}, ""
	for _, event := range []string{
		"{\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,\"delta\":\"\xe2\x82\"}",
		"{\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,\"delta\":\"\xac\"}",
		`{"type":"response.output_text.delta","output_index":1,"delta":"\ud83d"}`,
		`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","name":"f"}}`,
		"{\"type\":\"response.function_call_arguments.delta\",\"output_index\":2,\"delta\":\"{\xe2\"}",
		`{"type":"response.output_text.delta","output_index":1,"delta":"\ude00"}`,
		"{\"type\":\"response.function_call_arguments.delta\",\"output_index\":2,\"delta\":\"\x82\xac}\"}",
	} {
		_, err := read.event([]byte(event), func(d loop.Delta) { told += d.Thinking + d.Text + d.Arguments })
		require.NoError(t, err)
	}
	assert.Equal(t, "€{😀€}", told)
}

// A thought goes back as it was, wherever the server cut it.
func TestAThoughtThatIsCutInACharacterGoesBackWhole(t *testing.T) {
	joint := joined([]json.RawMessage{[]byte("\"\xe2\x82\""), []byte("\"\xac\""), []byte(`"\ud83d"`), []byte(`"\ude00"`)})
	assert.Equal(t, `"€😀"`, string(joint))
}

// BenchmarkACallWithoutAnID reads a call whose pieces have its name and no id, as some servers stream it.
// Twice as many pieces take twice as long: compare ns/piece.
func BenchmarkACallWithoutAnID(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		b.Run(fmt.Sprint("pieces=", n), func(b *testing.B) {
			piece := func(arguments string) string {
				return `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":` + string(kit.Quote(arguments)) + "}}]}}]}\n"
			}
			lines := []byte(piece(`{"all":[{"a":1}`) + strings.Repeat(piece(`,{"a":1}`), n) + piece("]}"))
			for b.Loop() {
				reply, _, _, err := play(&chatReply{takesID: (&Model{}).takesID}, lines)
				if err != nil || len(reply.Calls) != 1 {
					b.Fatal(err, len(reply.Calls))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/piece")
		})
	}
}

func FuzzChatReply(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"message":{"content":"x","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`,
		`{"choices":[{"delta":{"content":"x"}}]}` + "\n" + `{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"f","arguments":"{"}}]},"finish_reason":"tool_calls"}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}},{"index":0,"id":"b","function":{"name":"g"}}]},"finish_reason":"x"}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","custom":{"name":"f<|x","input":"y"}}]},"finish_reason":"tool_calls"}]}`,
		`{"error":"x"}`, `{"choices":[{"error":{}}]}`, `{"usage":{"prompt_tokens":-1}}`, `[]`, `{"choices":3}`, `{"choices":[{"message":{"content":[{"type":"text"}]}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		echo := []string{"reasoning_content"}
		whole, err := (&chatReply{echo: echo, takesID: (&Model{}).takesID}).readBody(doc)
		checkReply(t, whole, err)
		reply, text, calls, err := play(&chatReply{echo: echo, takesID: (&Model{}).takesID}, doc)
		checkReply(t, reply, err)
		if err != nil {
			return
		}
		assert.Equal(t, reply.Text, text)
		for n, c := range reply.Calls {
			if n < len(calls) {
				assert.Equal(t, []string{c.Name, c.Arguments}, []string{calls[n].Name, kit.Once(calls[n].Arguments)})
			}
		}
	})
}

func FuzzResponsesReply(f *testing.F) {
	for _, seed := range []string{
		`{"status":"completed","output":[{"type":"reasoning","id":"r"},{"type":"message","content":[{"type":"output_text","text":"x"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","name":"f"}}` + "\n" + `{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{"}` +
			"\n" + `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{"}}` + "\n" + `{"type":"response.completed","response":{"status":"completed","output":[]}}`,
		`{"status":"completed","output":[{"type":"custom_tool_call","call_id":"c","name":"f<|channel|>x","input":"y"},{"type":"function_call","call_id":"d","name":"g<|"}]}`,
		`{"type":"error","code":"x"}`, `{"status":"failed"}`, `{"status":"incomplete","output":[1,"x",null]}`, `{"output":[]}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	m := &Model{cfg: Config{API: Responses, Model: "m", Store: true}}
	from := m.origin()
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, read := range []func() (message.Reply, error){
			func() (message.Reply, error) { return (&responsesReply{from: from}).readBody(doc) },
			func() (message.Reply, error) {
				reply, _, _, err := play(&responsesReply{from: from}, doc)
				return reply, err
			},
		} {
			reply, err := read()
			checkReply(t, reply, err)
			if reply.Opaque == "" {
				continue
			}
			said := []message.Message{message.Message{Role: message.Assistant, Text: reply.Text, Calls: reply.Calls, Opaque: reply.Opaque}}
			u := ordered(m.cfg, said)[0]
			if u.Opaque != "" && len(u.calls) == len(reply.Calls) {
				assert.NotNil(t, m.items(u), "what was kept is echoed")
			}
		}
	})
}

func checkReply(t *testing.T, r message.Reply, err error) {
	if err != nil {
		assert.Empty(t, r)
		return
	}
	seen := map[string]bool{}
	for _, c := range r.Calls {
		assert.NotEmpty(t, c.ID)
		assert.False(t, seen[c.ID], "two calls are %s", c.ID)
		seen[c.ID] = true
	}
	assert.GreaterOrEqual(t, r.Usage.InputTokens, int64(0))
}

func FuzzKept(f *testing.F) {
	f.Add(`{"adapter":"retake/openai/chat","provider":"openai","model":"m","message":{"a":1},"calls":[{"b":2},null]}`)
	f.Add(`{"adapter":"retake/openai/responses","provider":"openai","model":"m","items":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},1]}`)
	f.Fuzz(func(t *testing.T, opaque string) {
		m := &Model{cfg: Config{Model: "m"}, echo: []string{"a", "b"}}
		for _, call := range m.readKept(message.Message{Opaque: opaque}).Calls {
			assert.LessOrEqual(t, len(call), 2)
		}
		m.cfg.API = Responses
		m.items(turn{Message: message.Message{Opaque: opaque}, calls: []kit.Call{{Made: message.Call{ID: "c", Arguments: "{}"}, ID: "d", Name: "f"}}})
	})
}
