package chat_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

func streamOf(chunks ...string) string {
	return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n"
}

// Some servers give a piece the index of another call, or count up with each piece. Its id tells more; if it
// has none, and no name, it is of the call before (https://github.com/agno-agi/agno/pull/8880,
// https://github.com/dirac-run/dirac/pull/215, https://github.com/vercel/ai/issues/18333).
func TestAPieceWithAWrongIndexIsOfTheCallOfItsIDOrTheOneBefore(t *testing.T) {
	piece := func(call string) string { return `{"choices":[{"delta":{"tool_calls":[` + call + `]}}]}` }
	const (
		a = `{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}`
		b = `"id":"b","type":"function","function":{"name":"g","arguments":""}}`
	)
	for name, pieces := range map[string][]string{
		"the second call begins with the index of the first": {a, `{"index":0,"function":{"arguments":"{\"x\":1}"}}`, `{"index":0,` + b,
			`{"index":1,"function":{"arguments":"{\"y\":"}}`, `{"index":1,"function":{"arguments":"2}"}}`},
		"the same with ids": {a, `{"index":0,"id":"a","function":{"arguments":"{\"x\":1}"}}`, `{"index":0,` + b,
			`{"index":1,"id":"b","function":{"arguments":"{\"y\":"}}`, `{"index":1,"id":"b","function":{"arguments":"2}"}}`},
		"an index for each piece": {a, `{"index":1,"function":{"arguments":"{\"x\":"}}`, `{"index":2,"function":{"arguments":"1}"}}`, `{"index":3,` + b,
			`{"index":4,"function":{"arguments":"{\"y\":2}"}}`},
		"no index after one":         {`{"index":7` + a[len(`{"index":0`):], `{"function":{"arguments":"{\"x\":1}"}}`, `{"index":8,` + b, `{"function":{"arguments":"{\"y\":2}"}}`},
		"the index of the other one": {a, `{"index":1,` + b, `{"index":0,"id":"b","function":{"arguments":"{\"y\":2}"}}`, `{"index":0,"id":"a","function":{"arguments":"{\"x\":1}"}}`},
	} {
		var events []string
		for _, p := range pieces {
			events = append(events, piece(p))
		}
		reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(append(events, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)...))
		assert.Equal(t, []message.Call{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: `{"y":2}`}}, reply.Calls, name)
	}
}

// Poolside gives the first piece of a call one id, and all others another.
func TestTheIndexDecidesWhichCallAPieceIsOf(t *testing.T) {
	piece := func(call string) string { return `{"choices":[{"delta":{"tool_calls":[` + call + `]}}]}` }
	reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(
		piece(`{"index":0,"id":"a1","type":"function","function":{"name":"f","arguments":""}}`),
		piece(`{"index":0,"id":"a2","function":{"arguments":"{\"x\":"}}`), piece(`{"index":0,"id":"a2","function":{"arguments":"1}"}}`),
		piece(`{"index":0,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}`), // a server with one index for all calls
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`))
	assert.Equal(t, []message.Call{{ID: "a1", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: "{}"}}, reply.Calls)
}

// Some servers give no index, or every call the same, and some of them no ids either.
func TestWithoutAnIndexOfItsOwnACallIsKnownByItsIdOrItsBeginning(t *testing.T) {
	first, second := message.Call{ID: "1", Name: "f", Arguments: `{"x":1}`}, message.Call{ID: "2", Name: "g", Arguments: `{"y":2}`}
	unnamed := []message.Call{{ID: "call-1", Name: "f", Arguments: `{"x":1}`}, {ID: "call-2", Name: "g", Arguments: `{"y":2}`}}
	for name, c := range map[string]struct {
		pieces []string
		want   []message.Call
	}{
		"ids alone": {[]string{`{"id":"1","function":{"name":"f","arguments":""}}`, `{"function":{"arguments":"{\"x\":1}"}}`,
			`{"id":"2","function":{"name":"g","arguments":""}}`, `{"function":{"arguments":"{\"y\":2}"}}`}, []message.Call{first, second}},
		"ids in turns": {[]string{`{"id":"1","function":{"name":"f","arguments":""}}`, `{"id":"2","function":{"name":"g","arguments":""}}`,
			`{"id":"1","function":{"arguments":"{\"x\":1}"}}`, `{"id":"2","function":{"arguments":"{\"y\":2}"}}`}, []message.Call{first, second}},
		"ids and names in turns, one index": {[]string{`{"index":0,"id":"1","function":{"name":"f","arguments":""}}`,
			`{"index":0,"id":"2","function":{"name":"g","arguments":""}}`, `{"index":0,"id":"1","function":{"name":"f","arguments":"{\"x\":1}"}}`,
			`{"index":0,"id":"2","function":{"name":"g","arguments":"{\"y\":2}"}}`}, []message.Call{first, second}},
		"an id that changes, and the name in each piece": {[]string{`{"index":0,"id":"1","function":{"name":"f","arguments":"{\"x\""}}`,
			`{"index":0,"id":"9","function":{"name":"f","arguments":":1}"}}`}, []message.Call{first}},
		"ids alone, and null": {[]string{`{"index":null,"id":"1","function":{"name":"f","arguments":""}}`, `{"index":null,"function":{"arguments":"{\"x\":1}"}}`,
			`{"index":null,"id":"2","function":{"name":"g","arguments":""}}`, `{"index":null,"function":{"arguments":"{\"y\":2}"}}`}, []message.Call{first, second}},
		"ids in turns, of one name, and null": {[]string{`{"index":null,"id":"1","function":{"name":"f","arguments":""}}`, `{"index":null,"id":"3","function":{"name":"f","arguments":""}}`,
			`{"index":null,"id":"1","function":{"arguments":"{\"x\":1}"}}`, `{"index":null,"id":"3","function":{"arguments":"{}"}}`}, []message.Call{first, {ID: "3", Name: "f", Arguments: "{}"}}},
		"the name behind the arguments": {[]string{`{"id":"1","function":{"arguments":"{\"x\""}}`, `{"id":"1","function":{"name":"f","arguments":":1}"}}`,
			`{"id":"2","function":{"arguments":"{\"y\""}}`, `{"id":"2","function":{"name":"g","arguments":":2}"}}`}, []message.Call{first, second}},
		"neither, two in each event": {[]string{`{"id":"1","function":{"name":"f","arguments":""}},{"id":"2","function":{"name":"g","arguments":""}}`,
			`{"function":{"arguments":"{\"x\""}},{"function":{"arguments":"{\"y\""}}`, `{"function":{"arguments":":1}"}},{"function":{"arguments":":2}"}}`}, []message.Call{first, second}},
		"an empty piece at the end": {[]string{`{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}`, `{"index":1,"function":{"name":"g","arguments":"{\"y\":2}"}}`,
			`{"index":2,"id":"","function":{"name":"","arguments":""}}`}, unnamed},
		"nothing, in one event": {[]string{`{"function":{"name":"f","arguments":"{\"x\":1}"}},{"function":{"name":"g","arguments":"{\"y\":2}"}}`}, unnamed},
		"one index and empty ids": {[]string{`{"index":0,"id":"","function":{"name":"f","arguments":"{\"x\":1}"}}`,
			`{"index":0,"id":"","function":{"name":"g","arguments":"{\"y\":2}"}}`}, unnamed},
		"the name in each piece, no id": {[]string{`{"index":0,"function":{"name":"f","arguments":"{\"x\""}}`,
			`{"index":0,"function":{"name":"f","arguments":":1}"}}`, `{"index":0,"function":{"name":"f","arguments":""}}`,
			`{"index":1,"function":{"name":"g","arguments":"{\"y\":2}"}}`}, unnamed},
	} {
		var events []string
		for _, p := range c.pieces {
			events = append(events, `{"choices":[{"delta":{"tool_calls":[`+p+`]}}]}`)
		}
		reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(append(events, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)...))
		assert.Equal(t, c.want, reply.Calls, name)
	}
}

func TestTokensAreCountedWhereverTheServerPutsThem(t *testing.T) {
	for name, usage := range map[string]string{
		"OpenAI":       `"usage":{"prompt_tokens":19,"completion_tokens":13,"prompt_tokens_details":{"cached_tokens":12}}`,
		"Moonshot":     `"usage":{"prompt_tokens":19,"completion_tokens":13,"total_tokens":32,"cached_tokens":12}`,
		"Mistral":      `"usage":{"prompt_tokens":19,"completion_tokens":13,"num_cached_tokens":12}`,
		"Mistral, too": `"usage":{"prompt_tokens":19,"completion_tokens":13,"prompt_token_details":{"cached_tokens":12}}`,
		"DeepSeek":     `"usage":{"prompt_tokens":19,"completion_tokens":13,"prompt_cache_hit_tokens":12,"prompt_cache_miss_tokens":7}`,
	} {
		want := message.Usage{InputTokens: 19, OutputTokens: 13, CacheReadTokens: 12, APICalls: 1}
		whole := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}],`+usage+`}`)
		assert.Equal(t, want, whole.Usage, name)
		streamed := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(`{"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}],`+usage+`}`, "[DONE]"))
		assert.Equal(t, want, streamed.Usage, name)
	}
	for name, usage := range map[string]string{
		"LiteLLM":    `"prompt_tokens_details":{"cached_tokens":12,"cache_creation_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}`,
		"Databricks": `"cache_read_input_tokens":12,"cache_creation_input_tokens":4,"completion_tokens_details":{"reasoning_tokens":5}`,
		"Qwen":       `"prompt_tokens_details":{"cached_tokens":12,"cache_creation_input_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}`,
		"OpenRouter": `"prompt_tokens_details":{"cached_tokens":12,"cache_write_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}`,
		"SGLang":     `"cached_tokens":12,"cache_creation_input_tokens":4,"reasoning_tokens":5`,
	} {
		want := message.Usage{InputTokens: 19, OutputTokens: 13, CacheReadTokens: 12, CacheWriteTokens: 4, ReasoningTokens: 5, APICalls: 1}
		got := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":13,`+usage+`}}`)
		assert.Equal(t, want, got.Usage, name)
	}
	// xAI counts what a model writes to itself apart: only the total has it.
	apart := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}}`)
	assert.Equal(t, message.Usage{InputTokens: 32, OutputTokens: 103, ReasoningTokens: 94, APICalls: 1}, apart.Usage, "xAI")
	// Google's own server, and gateways to it, count thoughts in the total alone, or apart in the details
	// (https://github.com/mozilla-ai/any-llm/issues/1290,
	// https://github.com/router-for-me/CLIProxyAPI/issues/5733).
	for _, told := range []string{"", `,"completion_tokens_details":{"reasoning_tokens":405}`} {
		gemini := replyOf(t, overChat(chat.Config{Model: "google/gemini-2.5-flash"}), false, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":20,"completion_tokens":198,"total_tokens":623`+told+`}}`)
		assert.Equal(t, message.Usage{InputTokens: 20, OutputTokens: 603, ReasoningTokens: 405, APICalls: 1}, gemini.Usage, "Gemini")
	}
	// Vercel's gateway, and some servers behind OpenRouter, leave it out of the total, too
	// (https://github.com/MapleTechLabs/maple/pull/824): more of it than of the reply is no part of the reply.
	outside := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":20,"completion_tokens":9,"total_tokens":29,"completion_tokens_details":{"reasoning_tokens":94}}}`)
	assert.Equal(t, message.Usage{InputTokens: 20, OutputTokens: 103, ReasoningTokens: 94, APICalls: 1}, outside.Usage, "outside of the total")
	// Nor does what was read from the cache stand in the prompt everywhere: Grok behind OpenRouter
	// (https://github.com/earendil-works/pi/issues/2048).
	uncached := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":20,"completion_tokens":9,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":70}}}`)
	assert.Equal(t, message.Usage{InputTokens: 90, OutputTokens: 9, CacheReadTokens: 70, APICalls: 1}, uncached.Usage, "outside of the prompt")
	// Details that come alone, after the counts, are not of another whole.
	inPieces := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(`{"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}],"usage":{"prompt_tokens":90,"completion_tokens":99}}`,
		`{"choices":[],"usage":{"prompt_tokens_details":{"cached_tokens":70},"completion_tokens_details":{"reasoning_tokens":94}}}`))
	assert.Equal(t, message.Usage{InputTokens: 90, OutputTokens: 99, CacheReadTokens: 70, ReasoningTokens: 94, APICalls: 1}, inPieces.Usage, "in pieces")
	other := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":198,"total_tokens":623}}`)
	assert.Equal(t, int64(198), other.Usage.OutputTokens, "a total of another's that nothing explains")
	inChoice := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(`{"choices":[{"delta":{"content":"4"},"finish_reason":"stop","usage":{"prompt_tokens":19,"completion_tokens":13,"cached_tokens":12}}]}`))
	assert.Equal(t, int64(19), inChoice.Usage.InputTokens, "Moonshot, streamed")
	assert.Equal(t, int64(12), inChoice.Usage.CacheReadTokens)
}

func TestAWholeReplyIsReadAsAnEventWithAnEmptyDelta(t *testing.T) {
	reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(`{"choices":[{"message":{"content":"4"},"delta":null,"finish_reason":"stop"}]}`, "[DONE]"))
	assert.Equal(t, "4", reply.Text)
}

func TestAFileWithoutANameKeepsItsType(t *testing.T) {
	for kind, name := range map[string]string{
		"text/plain": "file.txt", "text/plain; charset=utf-8": "file.txt", "text/markdown": "file.md", "text/csv": "file.csv", "application/pdf": "file.pdf",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document": "file.docx",
	} {
		req := hello()
		req.Messages[0].Parts = []message.Part{{Kind: message.FilePart, MediaType: kind, Data: "aGk="}}
		assert.Contains(t, sent(t, overChat(chat.Config{Model: "m"}), chatSays, req), `"filename":"`+name+`"`, kind)
		assert.Contains(t, sent(t, overResponses(chat.Config{Model: "m"}), responsesSays, req), `"filename":"`+name+`"`, kind)
	}
}

// A line of a stream that is longer than a reply may be has a class and says so.
func TestALineThatIsTooLongSaysSo(t *testing.T) {
	line := append([]byte(`data: {"choices":[{"delta":{"content":"`), bytes.Repeat([]byte("x"), 64<<20)...)
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(line)), Request: r}, nil
	})
	model, err := over("http://server.invalid", &http.Client{Transport: transport}, chat.Config{Model: "m"})
	require.NoError(t, err)
	req := hello()
	req.Stream = func(loop.Delta) {}
	_, err = model.Reply(t.Context(), req)
	require.EqualError(t, err, "openai: 200 invalid_response: unreadable response: more than 64 MiB")
	own, _ := errors.AsType[*kit.Error](err)
	assert.Equal(t, fault.InvalidResponse, own.Class)
}

// GitHub Copilot tells the text of Claude and each of its calls in a choice of its own. Where a reply says
// that it calls, the calls of any choice are its own; otherwise another choice is another reply.
func TestCallsInOtherChoicesAreRead(t *testing.T) {
	call := func(id string) string {
		return `{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"f","arguments":"{}"}}]}}`
	}
	got := replyOf(t, overChat(chat.Config{Model: "m"}), false,
		`{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look."}},`+call("a")+`,`+call("b")+`]}`)
	assert.Equal(t, "I look.", got.Text)
	assert.Equal(t, message.ToolUse, got.Finish)
	require.Len(t, got.Calls, 2)
	assert.Equal(t, []string{"a", "b"}, []string{got.Calls[0].ID, got.Calls[1].ID})

	assert.Len(t, replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[`+call("a")+`,`+call("b")+`]}`).Calls, 1)
	assert.Empty(t, replyOf(t, overChat(chat.Config{Model: "m"}), false,
		`{"choices":[{"finish_reason":"stop","message":{"content":"No."}},`+call("a")+`]}`).Calls)
}

// What is spoken is the text of a reply, unless it is written too. The sound is told whole.
func TestWhatIsSpokenIsTheText(t *testing.T) {
	var told kit.Response
	a := overChat(chat.Config{Model: "m", OnResponse: func(r kit.Response) { told = r }})
	const sound = `{"id":"audio_1","data":"AAAABBBB","transcript":"Hi there","expires_at":7}`
	whole := replyOf(t, a, false, `{"choices":[{"message":{"content":null,"audio":`+sound+`},"finish_reason":"stop"}]}`)
	assert.Equal(t, "Hi there", whole.Text)
	assert.JSONEq(t, sound, string(told.Extra["audio"]))

	piece := func(delta string) string {
		return `{"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
	}
	const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	streamed := replyOf(t, a, true, streamOf(piece(`{"role":"assistant","audio":{"id":"audio_1","transcript":"Hi"}}`), piece(`{"audio":{"data":"AAAA"}}`),
		piece(`{"audio":{"transcript":" there"}}`), piece(`{"audio":{"data":"BBBB"}}`), piece(`{"audio":{"expires_at":7}}`), stop))
	assert.Equal(t, "Hi there", streamed.Text)
	assert.JSONEq(t, sound, string(told.Extra["audio"]))

	both := replyOf(t, a, true, streamOf(piece(`{"content":"Hi"}`), piece(`{"audio":{"transcript":"Hi"}}`), stop))
	assert.Equal(t, "Hi", both.Text)
}

// What a reply has beside text and calls is told as it came, whole and streamed.
func TestAnnotationsAndCountsAreTold(t *testing.T) {
	extra := func(api chat.API, stream bool, says string) kit.Response {
		var told kit.Response
		cfg := chat.Config{API: api, Model: "m", OnResponse: func(r kit.Response) { told = r }}
		a := overChat(cfg)
		if api == chat.Responses {
			a = overResponses(cfg)
		}
		replyOf(t, a, stream, says)
		return told
	}
	const (
		usage = `"usage":{"prompt_tokens":1,"num_search_queries":2}`
		first = `{"type":"url_citation","url_citation":{"url":"https://a.test"}}`
		next  = `{"type":"url_citation","url_citation":{"url":"https://b.test"}}`
	)
	whole := extra(chat.Chat, false, `{"choices":[{"message":{"content":"4","annotations":[`+first+`,`+next+`]},"logprobs":{"content":[{"token":"4"},{"token":"!"}],"refusal":null},"finish_reason":"stop"}],"citations":["https://a.test"],`+usage+`}`)
	streamed := extra(chat.Chat, true, streamOf(`{"choices":[{"delta":{"annotations":[`+first+`]},"logprobs":null}]}`, `{"choices":[{"delta":{},"logprobs":{"content":[{"token":"4"}],"refusal":null}}]}`,
		`{"choices":[{"delta":{"content":"4","annotations":[`+next+`]},"logprobs":{"content":[{"token":"!"}],"refusal":null},"finish_reason":"stop"}],"citations":["https://a.test"],`+usage+`}`))
	for how, told := range map[string]kit.Response{"whole": whole, "streamed": streamed} {
		assert.JSONEq(t, `[`+first+`,`+next+`]`, string(told.Extra["annotations"]), how)
		assert.JSONEq(t, `{"content":[{"token":"4"},{"token":"!"}],"refusal":null}`, string(told.Extra["logprobs"]), how)
		assert.JSONEq(t, `["https://a.test"]`, string(told.Extra["citations"]), how)
		assert.JSONEq(t, `{"prompt_tokens":1,"num_search_queries":2}`, string(told.Extra["usage"]), how)
	}
	assert.Nil(t, extra(chat.Chat, false, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}]}`).Extra)
	const judged = `{"input":{"flagged":false}}`
	assert.JSONEq(t, judged, string(extra(chat.Chat, true, streamOf(`{"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}`, `{"choices":[],"moderation":`+judged+`,"usage":null}`)).Extra["moderation"]))
	assert.JSONEq(t, `[{"prompt_index":0}]`, string(extra(chat.Chat, false, `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}],"prompt_filter_results":[{"prompt_index":0}]}`).Extra["prompt_filter_results"]))
	tools := extra(chat.Responses, false, `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"4"}]}],"moderation":`+judged+`,"tool_usage":{"image_gen":{"input_tokens":9}}}`)
	assert.JSONEq(t, judged, string(tools.Extra["moderation"]))
	assert.JSONEq(t, `{"image_gen":{"input_tokens":9}}`, string(tools.Extra["tool_usage"]))
	const response = `{"status":"completed","output":[{"type":"web_search_call","id":"ws_1"},{"type":"message","content":[{"type":"output_text","text":"4","annotations":[` + first + `]}]}]}`
	assert.Contains(t, string(extra(chat.Responses, false, response).Extra["output"]), `"web_search_call"`)
	assert.Contains(t, string(extra(chat.Responses, true, streamOf(`{"type":"response.completed","response":`+response+`}`)).Extra["output"]), first)
}

// A character that a server cuts in two is one character of the reply and of what is streamed.
func TestACharacterThatIsCutInTwoIsOne(t *testing.T) {
	var told string
	req := hello()
	req.Stream = func(d loop.Delta) { told += d.Text + d.Thinking + d.Arguments }
	says := streamOf("{\"choices\":[{\"delta\":{\"reasoning_content\":\"\xe2\x82\"}}]}", "{\"choices\":[{\"delta\":{\"reasoning_content\":\"\xac\"}}]}",
		`{"choices":[{"delta":{"content":"\ud83d"}}]}`, `{"choices":[{"delta":{"content":"\ude00"}}]}`,
		"{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"\xe2\"}}]}}]}",
		"{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\x82\xac\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}")
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(says)), Request: r}, nil
	})
	model, err := over("http://server.invalid", &http.Client{Transport: transport}, chat.Config{Model: "m"})
	require.NoError(t, err)
	reply, err := model.Reply(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []string{"😀", "€", `{"a":"€"}`}, []string{reply.Text, reply.Thinking, reply.Calls[0].Arguments})
	assert.Equal(t, `€😀{"a":"€"}`, told)
}

func TestACharacterOfARefusalThatIsCutInTwoIsOne(t *testing.T) {
	says := streamOf(`{"id":"chatcmpl-1","choices":[{"delta":{"refusal":"No \ud83d"}}]}`, `{"choices":[{"delta":{"refusal":"\ude00"},"finish_reason":"stop"}]}`)
	reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, says)
	assert.Equal(t, "No 😀", reply.Refusal)
	assert.Equal(t, []string{"chatcmpl-1", "stop"}, []string{reply.Source.ID, reply.Source.Finish})
	assert.Equal(t, "127.0.0.1", reply.Source.Host)
	assert.Positive(t, reply.Source.Port)
}

// Gateways answer in OpenAI's first form, send both, or put a call elsewhere.
func TestACallIsReadInEveryFormThatServersGiveIt(t *testing.T) {
	const (
		list   = `"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]`
		legacy = `"function_call":{"name":"f","arguments":"{\"x\":1}"}`
		empty  = `"function_call":{"name":"","arguments":""}`
	)
	named, unnamed := message.Call{ID: "c1", Name: "f", Arguments: `{"x":1}`}, message.Call{ID: "call-1", Name: "f", Arguments: `{"x":1}`}
	for name, c := range map[string]struct {
		says string
		want message.Call
	}{
		"the first form":       {legacy, unnamed},
		"both forms":           {legacy + "," + list, named},
		"the other form empty": {empty + "," + list, named},
		"no list":              {`"tool_calls":{"id":"c1","function":{"name":"f","arguments":"{\"x\":1}"}}`, named},
		"no function":          {`"tool_calls":[{"id":"c1","name":"f","arguments":{"x":1}}]`, named},
	} {
		whole := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"role":"assistant","content":null,`+c.says+`},"finish_reason":"function_call"}]}`)
		streamed := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(`{"choices":[{"index":0,"delta":{"role":"assistant",`+c.says+`}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"function_call"}]}`))
		for how, reply := range map[string]message.Reply{"whole": whole, "streamed": streamed} {
			assert.Equal(t, []message.Call{c.want}, reply.Calls, name+", "+how)
			assert.Equal(t, message.ToolUse, reply.Finish, name+", "+how)
		}
	}
	none := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"content":"4","tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":""}}],`+empty+`},"finish_reason":"stop"}]}`)
	assert.Empty(t, none.Calls)
	pieces := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(`{"choices":[{"delta":{"function_call":{"name":"f","arguments":""}}}]}`,
		`{"choices":[{"delta":{"function_call":{"arguments":"{\"x\""}}}]}`, `{"choices":[{"delta":{"function_call":{"arguments":":1}"}}}]}`, `{"choices":[{"delta":{},"finish_reason":"function_call"}]}`))
	assert.Equal(t, []message.Call{unnamed}, pieces.Calls)
}

// Servers of gpt-oss leave control tokens after the name of a tool (recorded at Bedrock).
func TestControlTokensAreNoPartOfAName(t *testing.T) {
	const named = `"name":"f<|channel|>commentary","arguments":"{}"`
	says := streamOf(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{`+named+`}}]}}]}`, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)
	for how, reply := range map[string]message.Reply{
		"whole":     replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"tool_calls":[{"id":"c1","function":{`+named+`}}]},"finish_reason":"tool_calls"}]}`),
		"streamed":  replyOf(t, overChat(chat.Config{Model: "m"}), true, says),
		"Responses": replyOf(t, overResponses(chat.Config{Model: "m"}), false, `{"status":"completed","output":[{"type":"function_call","call_id":"c1",`+named+`}]}`),
	} {
		assert.Equal(t, []message.Call{{ID: "c1", Name: "f", Arguments: "{}"}}, reply.Calls, how)
	}
	own := overResponses(chat.Config{Model: "m"})
	kept := replyOf(t, own, false, `{"status":"completed","output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"Hm."}]},{"type":"function_call","call_id":"c1",`+named+`}]}`)
	back := sent(t, own, responsesSays, after(kept))
	assert.Contains(t, back, `"reasoning_text"`)
	assert.Contains(t, back, `"name":"f"`)
}

// A stream whose end lacks what the model said is broken. It is no reply of a model that said nothing.
func TestAStreamThatLosesItsOutputIsBroken(t *testing.T) {
	const (
		text  = `{"type":"response.output_text.delta","output_index":0,"delta":"Yes."}`
		begun = `{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f"}}`
		done  = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"Yes."}]}}`
	)
	end := func(output string) string {
		return `{"type":"response.completed","response":{"id":"r","status":"completed"` + output + `}}`
	}
	ask := func(events ...string) (message.Reply, error) {
		s := kittest.Serve(t, "200 OK\nContent-Type: text/event-stream\n\n"+streamOf(events...))
		model, err := overResponses(chat.Config{Model: "m"}).New(s.URL, s.Client)
		require.NoError(t, err)
		req := hello()
		req.Stream = func(loop.Delta) {}
		return model.Reply(t.Context(), req)
	}
	const lacks, none = "the end of the stream lacks the output that was streamed", "the reply has no output"
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"no output at all":       {[]string{end("")}, none},
		"null":                   {[]string{end(`,"output":null`)}, none},
		"items without contents": {[]string{`{"type":"response.output_item.done","output_index":0}`, end("")}, none},
		"a text":                 {[]string{text, end(`,"output":[]`)}, lacks},
		"a text in an empty item": {[]string{text, `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[]}}`,
			end(`,"output":[]`)}, lacks},
		"a call": {[]string{text, done, begun, end(`,"output":[]`)}, lacks},
	} {
		_, err := ask(c.events...)
		require.EqualError(t, err, "openai: 200 invalid_response: unreadable response: "+c.want, name)
		own, _ := errors.AsType[*kit.Error](err)
		assert.True(t, !own.Failure().Final, name)
	}
	reply, err := ask(text, done, end(`,"output":[]`))
	require.NoError(t, err)
	assert.Equal(t, "Yes.", reply.Text)
	reply, err = ask(end(`,"output":[]`))
	require.NoError(t, err)
	assert.Empty(t, reply.Text, "the server says that there is none")
	reply, err = ask(text, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`)
	require.NoError(t, err)
	assert.Equal(t, message.Length, reply.Finish)
}

// Some servers stream an empty object before the arguments of a call, or all of them again at the end
// (https://github.com/openai/openai-agents-js/pull/712, https://github.com/lidge-jun/opencodex/issues/361).
// What a model wrote itself stays.
func TestArgumentsThatComeTwiceAreReadOnce(t *testing.T) {
	for want, written := range map[string][]string{
		`{"x":1}`:        {`{}`, `{"x"`, `:1}`},
		`{"x":2}`:        {``, `{"x"`, `:2}`, `{"x":2}`},
		`{"x":"}{"}`:     {`{"x":"}{"}`},
		`{"x":1}{"y":2}`: {`{"x":1}`, `{"y":2}`},
		`{"x":1}{"y":`:   {`{"x":1}`, `{"y":`},
		`{}`:             {`{}`},
	} {
		events := []string{`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}}]}`}
		for _, piece := range written {
			events = append(events, `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":`+string(kit.Quote(piece))+`}}]}}]}`)
		}
		reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(append(events, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)...))
		assert.Equal(t, []message.Call{{ID: "c", Name: "f", Arguments: want}}, reply.Calls)
	}
}

// A reply of the Responses API in the forms of other servers: arguments that are an object, a text in place
// of a list of contents, and a status that asks for the calls
// (https://github.com/justlovemaki/AIClient2API/pull/472).
func TestAResponseIsReadInEveryFormThatServersGiveIt(t *testing.T) {
	const call = `{"type":"function_call","call_id":"c1","name":"f","arguments":{"x":1}}`
	for name, says := range map[string]string{
		"an object":         `{"status":"completed","output":[` + call + `]}`,
		"an action":         `{"status":"requires_action","output":[` + call + `]}`,
		"a text and a call": `{"status":"completed","output":[{"type":"message","content":"Hm."},` + call + `]}`,
	} {
		whole := replyOf(t, overResponses(chat.Config{Model: "m"}), false, says)
		streamed := replyOf(t, overResponses(chat.Config{Model: "m"}), true, streamOf(`{"type":"response.output_item.added","output_index":0,"item":`+call+`}`, `{"type":"response.completed","response":`+says+`}`))
		for how, reply := range map[string]message.Reply{"whole": whole, "streamed": streamed} {
			assert.Equal(t, []message.Call{{ID: "c1", Name: "f", Arguments: `{"x":1}`}}, reply.Calls, name+", "+how)
			assert.Equal(t, message.ToolUse, reply.Finish, name+", "+how)
			assert.Equal(t, strings.Contains(name, "text"), reply.Text == "Hm.", name+", "+how)
		}
	}
}

// A reply that was cut off is no whole one, whatever the server calls it.
func TestAReplyThatIsCutOffIsKnownByEveryWordForIt(t *testing.T) {
	for _, word := range []string{"length", "max_tokens", "MAX_TOKENS", "model_length"} {
		reply := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"content":"4"},"finish_reason":"`+word+`"}]}`)
		assert.Equal(t, message.Length, reply.Finish, word)
	}
}

// OpenAI knows two reasons of a response that is incomplete. Of any other nobody knows that more tokens would
// help (https://github.com/vercel/ai/issues/18872).
func TestAResponseThatIsIncompleteForAnotherReasonHasFailed(t *testing.T) {
	over := overResponses(chat.Config{Model: "m"})
	says := func(reason string) string {
		return `{"status":"incomplete","incomplete_details":{"reason":"` + reason + `"},"output":[{"type":"message","content":[{"type":"output_text","text":"half"}]}]}`
	}
	for reason, want := range map[string]message.FinishReason{"": message.Length, "max_output_tokens": message.Length, "max_tokens": message.Length,
		"length": message.Length, "content_filter": message.ContentFilter} {
		assert.Equal(t, want, replyOf(t, over, false, says(reason)).Finish, reason)
	}
	_, err := ended(t, over, false, says("server_timeout"))
	own, is := errors.AsType[*kit.Error](err)
	require.True(t, is)
	assert.Equal(t, fault.Unavailable, own.Class)
	assert.ErrorContains(t, err, "server_timeout")
}

// Words with which servers end a reply that failed, or that is whole: those of relays, Cohere, watsonx, LM
// Studio and DashScope (https://github.com/ranxianglei/billion-context-pi/issues/169,
// https://github.com/earendil-works/pi/pull/2116).
func TestAServersOwnWordsForTheEndOfAReply(t *testing.T) {
	for _, word := range []string{"error", "ERROR", "error_finish", "abort", "timeout", "time_limit", "cancelled", "load", "network_error", "network-error", "upstream_error", "USER_CANCEL"} {
		for _, stream := range []bool{false, true} {
			says := `{"choices":[{"message":{"content":"half"},"finish_reason":"` + word + `"}]}`
			if stream {
				says = streamOf(`{"choices":[{"delta":{"content":"half"}}]}`, `{"choices":[{"delta":{},"finish_reason":"`+word+`"}]}`, "[DONE]")
			}
			_, err := ended(t, overChat(chat.Config{Model: "m"}), stream, says)
			own, is := errors.AsType[*kit.Error](err)
			require.True(t, is, word)
			assert.Equal(t, fault.Unavailable, own.Class, word)
		}
	}
	reply := replyOf(t, overChat(chat.Config{Model: "m"}), false, `{"choices":[{"message":{"content":"4"},"finish_reason":"end"}]}`)
	assert.Equal(t, message.Stop, reply.Finish)
	_, err := ended(t, overChat(chat.Config{Model: "m"}), true, streamOf(`{"choices":[{"delta":{"content":"half"},"finish_reason":"null"}]}`))
	own, is := errors.AsType[*kit.Error](err)
	require.True(t, is, "a cut stream whose pieces have the text null for a reason")
	assert.Equal(t, fault.Network, own.Class)
}

// OpenRouter passes Gemini's own word on. The model can write another call; the same request would fail
// again.
func TestACallThatTheProviderBehindAGatewayCouldNotReadIsCorrected(t *testing.T) {
	for _, finish := range []string{`"error"`, `"stop"`, `null`} {
		end := `"finish_reason":` + finish + `,"native_finish_reason":"MALFORMED_FUNCTION_CALL"`
		for stream, says := range map[bool]string{
			false: `{"choices":[{"message":{"role":"assistant","content":""},` + end + `}]}`,
			true:  streamOf(`{"choices":[{"index":0,"delta":{"content":""},`+end+`}]}`, "[DONE]"),
		} {
			_, err := ended(t, overChat(chat.Config{Model: "m", Provider: "openrouter"}), stream, says)
			own, is := errors.AsType[*kit.Error](err)
			require.True(t, is, finish)
			assert.Equal(t, fault.ToolValidation, own.Class, finish)
			assert.Equal(t, "MALFORMED_FUNCTION_CALL", own.Code, finish)
		}
	}
}

// OpenRouter calls a reply that never came a "stop", and only the provider's own word tells
// (https://github.com/earendil-works/pi/issues/8511).
// It would count as an empty answer, for which the model is blamed.
func TestAReplyThatNeverCameBehindAGatewayIsNoAnswer(t *testing.T) {
	const end = `"finish_reason":"stop","native_finish_reason":"network_error"`
	for stream, says := range map[bool]string{
		false: `{"choices":[{"message":{"role":"assistant","content":null},` + end + `}]}`,
		true:  streamOf(`{"choices":[{"index":0,"delta":{"content":""},`+end+`}]}`, "[DONE]"),
	} {
		_, err := ended(t, overChat(chat.Config{Model: "m", Provider: "openrouter"}), stream, says)
		own, is := errors.AsType[*kit.Error](err)
		require.True(t, is)
		assert.Equal(t, fault.Unavailable, own.Class)
	}
}

// So it may beside an error of its own, which would have the same request made again.
func TestTheProvidersWordForACallThatItCouldNotReadGoesBeforeAnErrorBesideIt(t *testing.T) {
	const (
		end    = `"finish_reason":"error","native_finish_reason":"MALFORMED_FUNCTION_CALL"`
		failed = `"error":{"code":502,"message":"upstream produced an unparseable function call"}`
	)
	for name, says := range map[string]string{
		"in the choice":           `{"choices":[{"message":{"role":"assistant","content":""},` + end + `,` + failed + `}]}`,
		"beside the choice":       `{"choices":[{"message":{"role":"assistant","content":""},` + end + `}],` + failed + `}`,
		"streamed, in the choice": streamOf(`{"choices":[{"index":0,"delta":{"content":""},`+end+`,`+failed+`}]}`, "[DONE]"),
		"streamed, beside it":     streamOf(`{"choices":[{"index":0,"delta":{"content":""},`+end+`}],`+failed+`}`, "[DONE]"),
	} {
		_, err := ended(t, overChat(chat.Config{Model: "m", Provider: "openrouter"}), strings.HasPrefix(name, "streamed"), says)
		own, is := errors.AsType[*kit.Error](err)
		require.True(t, is, name)
		assert.Equal(t, fault.ToolValidation, own.Class, name)
	}
}

// Baidu and relays say all arguments so far in each piece
// (https://github.com/NousResearch/hermes-agent/pull/35718, https://github.com/decolua/9router/pull/2869).
func TestArgumentsThatAreSaidAgainInEachPieceAreReadOnce(t *testing.T) {
	for want, pieces := range map[string][]string{
		`{"x":"ab"}`:        {`{"x":`, `{"x":"a`, `{"x":"ab"}`},
		`{"x":"abc"}`:       {``, `{`, `{"x":"abc"}`, `{"x":"abc"}`},
		`{"x":{"x":1}}`:     {`{"x":`, `{"x":1}}`},
		`{"x":[{"x":1},2]}`: {`{"x":[`, `{"x":1}`, `,2]}`},
		`{"x":"a`:           {`{"x":`, `{"x":"a`},
		`{"x":"a"`:          {`{"x":`, `"a"`},
	} {
		var events []string
		for n, piece := range pieces {
			call := kit.Object{kit.Field("index", []byte("0")), kit.Field("function", kit.Quoted("arguments", piece))}
			if n == 0 {
				call = kit.Object{kit.TextField("id", "a"), kit.Field("function", kit.Quoted("name", "f", "arguments", piece))}
			}
			events = append(events, `{"choices":[{"delta":{"tool_calls":[`+string(call.JSON())+`]}}]}`)
		}
		reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(append(events, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)...))
		assert.Equal(t, []message.Call{{ID: "a", Name: "f", Arguments: want}}, reply.Calls)
	}
}

// Some servers of the Responses API send no pieces: a caller who listens gets what the end of the stream has.
func TestWhatOnlyTheEndOfAStreamHasIsStreamed(t *testing.T) {
	const (
		thought = `{"type":"reasoning","id":"r","content":[{"type":"reasoning_text","text":"Hm."}],"summary":[]}`
		said    = `{"type":"message","content":[{"type":"output_text","text":"Yes."}]}`
		called  = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
		piece   = `{"type":"response.output_text.delta","output_index":1,"delta":"Yes."}`
		end     = `{"type":"response.completed","response":{"status":"completed","output":[` + thought + `,` + said + `,` + called + `]}}`
	)
	for name, says := range map[string]string{"no pieces": streamOf(end), "pieces of the text": streamOf(piece, end)} {
		var told loop.Delta
		req := hello()
		req.Stream = func(d loop.Delta) {
			told = loop.Delta{Text: told.Text + d.Text, Thinking: told.Thinking + d.Thinking, Name: told.Name + d.Name, Arguments: told.Arguments + d.Arguments}
		}
		s := kittest.Serve(t, "200 OK\nContent-Type: text/event-stream\n\n"+says)
		model, err := overResponses(chat.Config{Model: "m"}).New(s.URL, s.Client)
		require.NoError(t, err)
		_, err = model.Reply(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, loop.Delta{Text: "Yes.", Thinking: "Hm.", Name: "f", Arguments: "{}"}, told, name)
	}
}

// A gateway may write the index that says which call a piece is of as a text.
func TestAnIndexMayBeAText(t *testing.T) {
	piece := func(call string) string { return `{"choices":[{"delta":{"tool_calls":[` + call + `]}}]}` }
	reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(
		piece(`{"index":"0","id":"a","function":{"name":"f","arguments":"{\"x\":"}}`), piece(`{"index":"1","id":"b","function":{"name":"g","arguments":"{\"y\":"}}`),
		piece(`{"index":"0","function":{"arguments":"1}"}}`), piece(`{"index":"1","function":{"arguments":"2}"}}`),
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`))
	assert.Equal(t, []message.Call{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: `{"y":2}`}}, reply.Calls)
}

// Some servers tell the usage in every event, with zeros where they know nothing yet or any more, and some by
// the names of the other API (https://github.com/router-for-me/CLIProxyAPI/issues/3076,
// https://github.com/MiXaiLL76/auto_ai_router/pull/142).
func TestUsageThatIsToldSeveralTimesIsKept(t *testing.T) {
	told := func(usage string) string {
		return `{"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}],"usage":` + usage + `}`
	}
	zeros := `{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`
	want := message.Usage{InputTokens: 19, OutputTokens: 13, CacheReadTokens: 12, APICalls: 1}
	for name, events := range map[string][]string{
		"zeros first and last": {told(zeros), told(`{"prompt_tokens":19,"completion_tokens":13,"prompt_tokens_details":{"cached_tokens":12}}`), told(zeros)},
		"apart":                {told(`{"prompt_tokens":19,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":12}}`), told(`{"prompt_tokens":0,"completion_tokens":13}`)},
		"the other names":      {told(`{"input_tokens":19,"output_tokens":13,"input_tokens_details":{"cached_tokens":12}}`)},
	} {
		reply := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(append(events, "[DONE]")...))
		assert.Equal(t, want, reply.Usage, name)
	}
	other := replyOf(t, overResponses(chat.Config{Model: "m"}), false, `{"status":"completed","output":[],"usage":{"prompt_tokens":19,"completion_tokens":13,"prompt_tokens_details":{"cached_tokens":12}}}`)
	assert.Equal(t, want, other.Usage, "of the other API")
}

// MiniMax answers 200 with an empty choice, and says beside it what went wrong.
func TestAnErrorBesideAChoiceIsNoReply(t *testing.T) {
	const failed = `"base_resp":{"status_code":1027,"status_msg":"output new_sensitive"}`
	for stream, says := range map[bool]string{
		false: `{"choices":[{"finish_reason":"stop","message":{"content":""}}],` + failed + `}`,
		true:  streamOf(`{"choices":[{"delta":{"content":"ha"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}],`+failed+`}`),
	} {
		_, err := ended(t, overChat(chat.Config{Model: "m", Provider: "minimax"}), stream, says)
		own, is := errors.AsType[*kit.Error](err)
		require.True(t, is)
		assert.Equal(t, fault.ContentFilter, own.Class)
	}
	fine := replyOf(t, overChat(chat.Config{Model: "m", Provider: "minimax"}), false, `{"choices":[{"finish_reason":"stop","message":{"content":"4"}}],"base_resp":{"status_code":0,"status_msg":""}}`)
	assert.Equal(t, "4", fine.Text)
}

// DashScope and gateways tell an error within a stream in an event of its own form, and mark the end all the
// same: what came before is half a reply.
func TestAMarkedEndAfterAnErrorOfAnyFormEndsNoReply(t *testing.T) {
	for failed, want := range map[string]fault.Class{
		`{"code":"InternalError.Algo","message":"An internal error has occurred.","request_id":"r"}`: fault.Unavailable,
		`{"detail":"Internal Server Error"}`:                   fault.Unavailable,
		`{"status":429,"message":"Too many requests"}`:         fault.RateLimit,
		`{"error_code":"REQUEST_LIMIT_EXCEEDED","msg":"Wait"}`: fault.RateLimit,
		`{"type":"stream_interrupted","reason":"worker lost"}`: fault.Network, // in words that nobody knows
	} {
		_, err := ended(t, overChat(chat.Config{Model: "m"}), true, streamOf(`{"choices":[{"delta":{"content":"ha"}}]}`, failed, "[DONE]"))
		own, is := errors.AsType[*kit.Error](err)
		if assert.True(t, is, failed) {
			assert.Equal(t, want, own.Class, failed)
		}
	}
	fine := replyOf(t, overChat(chat.Config{Model: "m"}), true, streamOf(`{"choices":[],"message":"queued"}`, `{"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}`))
	assert.Equal(t, "4", fine.Text)
}

// A second reason does not make a reply whole that was cut off.
func TestAReplyThatIsCutOffStaysSo(t *testing.T) {
	reply := replyOf(t, overChat(chat.Config{Model: "m"}), true,
		streamOf(`{"choices":[{"delta":{"content":"ha"},"finish_reason":"length"}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]"))
	assert.Equal(t, message.Length, reply.Finish)
}

// A response that calls itself completed may say of a call, or of its last message, that it is not: those are
// never run. What the API ran itself may be incomplete.
func TestAnItemThatIsIncompleteIsCutOff(t *testing.T) {
	const (
		call, said = `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"`, `{"type":"message","content":[{"type":"output_text","text":"4"}]`
		ran        = `{"type":"code_interpreter_call","id":"c","code":"1","status":"incomplete"}`
		half       = `,"status":"incomplete"}`
	)
	for output, want := range map[string]message.FinishReason{
		call + half: message.Length, said + half: message.Length, said + half + "," + call + "}": message.ToolUse, call + "}," + call + half: message.Length,
		ran + "," + said + "}": message.Stop, call + `,"status":null}`: message.ToolUse,
	} {
		reply := replyOf(t, overResponses(chat.Config{Model: "m"}), false, `{"id":"r","status":"completed","output":[`+output+`]}`)
		assert.Equal(t, want, reply.Finish, output)
	}
}

// A response that failed without a word is the server's failure. ChatGPT's backend ends a stream by an event
// of its own name.
func TestTheEndOfAResponseInOtherForms(t *testing.T) {
	const failed, whole = `{"id":"r","status":"failed","error":null,"output":[]}`, `{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"4"}]}]}`
	for stream, says := range map[bool]string{false: failed, true: streamOf(`{"type":"response.failed","response":` + failed + `}`)} {
		_, err := ended(t, overResponses(chat.Config{Model: "m"}), stream, says)
		own, is := errors.AsType[*kit.Error](err)
		require.True(t, is)
		assert.Equal(t, fault.Unavailable, own.Class)
	}
	assert.Equal(t, "4", replyOf(t, overResponses(chat.Config{Model: "m"}), true, streamOf(`{"type":"response.output_text.delta","delta":"4"}`, `{"type":"response.done","response":`+whole+`}`)).Text)

	// A response that does not say how it ended ended as its event says.
	const begun = `{"id":"r","output":[{"type":"message","content":[{"type":"output_text","text":"4"}]}]}`
	over := overResponses(chat.Config{Model: "m"})
	assert.Equal(t, message.Stop, replyOf(t, over, true, streamOf(`{"type":"response.completed","response":`+begun+`}`)).Finish)
	assert.Equal(t, message.Length, replyOf(t, over, true, streamOf(`{"type":"response.incomplete","response":`+begun+`}`)).Finish)
	for says, class := range map[string]fault.Class{
		`{"type":"response.failed","response":` + begun + `}`:                                    fault.Unavailable,
		`{"type":"response.failed","error":{"code":"rate_limit_exceeded","message":"Slow."}}`:    fault.RateLimit,
		`{"type":"response.failed","response":{"id":"r","error":{"code":"insufficient_quota"}}}`: fault.Billing,
	} {
		_, err := ended(t, over, true, streamOf(says))
		own, is := errors.AsType[*kit.Error](err)
		require.True(t, is, says)
		assert.Equal(t, class, own.Class, says)
	}
}

// Some servers tell a text or arguments only at their end.
func TestWhatComesOnlyAtItsEndIsStreamed(t *testing.T) {
	const call, text = `{"type":"function_call","call_id":"c","name":"f","arguments":"{\"x\":1}"}`, `{"type":"message","content":[{"type":"output_text","text":"4"}]}`
	says := streamOf(`{"type":"response.output_text.done","output_index":0,"text":"4"}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f","arguments":""}}`,
		`{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{\"x\":1}"}`,
		`{"type":"response.output_item.added","output_index":2,"item":`+call+`}`, `{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"x\":1}"}`,
		`{"type":"response.completed","response":{"status":"completed","output":[`+text+`,`+call+`,`+call+`]}}`)
	s := kittest.Serve(t, "200 OK\nContent-Type: text/event-stream\n\n"+says)
	model, err := overResponses(chat.Config{Model: "m"}).New(s.URL, s.Client)
	require.NoError(t, err)
	told := map[int]string{}
	req := hello()
	req.Stream = func(d loop.Delta) { told[d.Call] += d.Text + d.Arguments }
	_, err = model.Reply(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, map[int]string{-1: "4", 0: `{"x":1}`, 1: `{"x":1}`}, told)
}

// Perplexity announces a search of its own as a call, which then turns into what was found.
func TestAnAnnouncedCallThatTurnsIntoSomethingElseIsNone(t *testing.T) {
	const (
		search = `{"type":"function_call","call_id":"s","name":"search_web","arguments":"{}","status":"completed"}`
		found  = `{"type":"search_results","results":[]}`
		call   = `{"type":"function_call","call_id":"c","name":"f","arguments":"{\"x\":1}","status":"completed"}`
	)
	var told strings.Builder
	s := kittest.Serve(t, streamType+streamOf(
		`{"type":"response.output_item.added","output_index":0,"item":`+search+`}`,
		`{"type":"response.output_item.done","output_index":0,"item":`+found+`}`,
		`{"type":"response.output_item.added","output_index":1,"item":`+call+`}`,
		`{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{\"x\":1}"}`,
		`{"type":"response.output_item.done","output_index":1,"item":`+call+`}`,
		`{"type":"response.completed","response":{"status":"completed","output":[`+found+`,`+call+`]}}`))
	model, err := overResponses(chat.Config{Model: "m"}).New(s.URL, s.Client)
	require.NoError(t, err)
	req := hello()
	req.Stream = func(d loop.Delta) { fmt.Fprint(&told, d.Call, d.Name, d.Arguments, ";") }
	reply, err := model.Reply(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []message.Call{{ID: "c", Name: "f", Arguments: `{"x":1}`}}, reply.Calls)
	assert.Equal(t, `0f{"x":1};`, told.String())
}

// xAI tells how long the last prompt was, where tools of its own took several.
func TestTheLastPromptAtXAIIsTold(t *testing.T) {
	for beside, want := range map[string]int64{`,"context_details":{"input_tokens":4087,"output_tokens":489}`: 4087, `,"context_details":{"input_tokens":5165}`: 0, "": 0} {
		reply := replyOf(t, overResponses(chat.Config{Model: "m"}), false, `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"4"}]}],`+
			`"usage":{"input_tokens":5165,"output_tokens":891`+beside+`}}`)
		assert.EqualValues(t, 5165, reply.Usage.InputTokens)
		assert.Equal(t, want, reply.PromptTokens)
	}
}

// mistral.rs tells thoughts beside the items, where OpenAI has the settings of the request.
func TestThoughtsBesideTheItemsAreRead(t *testing.T) {
	const items = `"output":[{"type":"message","content":[{"type":"output_text","text":"4"}]}]}`
	for beside, want := range map[string]string{`"reasoning":"Hm.",`: "Hm.", `"reasoning":{"effort":"low","summary":null},`: "", `"reasoning":null,`: ""} {
		reply := replyOf(t, overResponses(chat.Config{Model: "m"}), false, `{"status":"completed",`+beside+items)
		assert.Equal(t, want, reply.Thinking)
		assert.Equal(t, "4", reply.Text)
	}
}

// vLLM calls a stream of calls whole although the bound cut it off
// (https://github.com/vllm-project/vllm/issues/53269).
func TestACallThatTheBoundCutsOffIsNotWhole(t *testing.T) {
	ended := func(arguments string, written int) message.FinishReason {
		says := streamOf(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":`+string(kit.Quote(arguments))+`}}]}}]}`,
			fmt.Sprintf(`{"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, written), "[DONE]")
		return replyOf(t, overChat(chat.Config{Model: "m", Provider: "vllm", MaxTokens: 64}), true, says).Finish
	}
	assert.Equal(t, message.Length, ended(`{"x":"a`, 64))
	assert.Equal(t, message.ToolUse, ended(`{"x":"a"}`, 64), "the last token ended it")
	assert.Equal(t, message.ToolUse, ended(`{"x":"a`, 63), "the model's own mistake")
}

// Google's server writes what Gemini and Gemma think into the content, in tags, and flags it but for the last
// tag.
func TestGooglesThoughtsAreNoPartOfTheText(t *testing.T) {
	const flag = `"extra_content":{"google":{"thought":true}}`
	a := overChat(chat.Config{Model: "gemma-4-31b-it", Provider: "gemini"})
	whole := replyOf(t, a, false, `{"choices":[{"message":{"content":"<thought>Two and two.</thought>4",`+flag+`},"finish_reason":"stop"}]}`)
	pieces := replyOf(t, a, true, streamOf(`{"choices":[{"delta":{"content":"<thought>Two and ",`+flag+`}}]}`, `{"choices":[{"delta":{"content":"two.",`+flag+`}}]}`,
		`{"choices":[{"delta":{"role":"assistant"}}]}`, `{"choices":[{"delta":{"content":"</thought>4"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`))
	for how, reply := range map[string]message.Reply{"whole": whole, "in pieces": pieces} {
		assert.Equal(t, []string{"4", "Two and two."}, []string{reply.Text, reply.Thinking}, how)
		assert.NotContains(t, sent(t, a, chatSays, after(reply)), "thought", how)
	}
	called := replyOf(t, a, true, streamOf(`{"choices":[{"delta":{"content":"<thought>Call f.",`+flag+`}}]}`,
		`{"choices":[{"delta":{"content":"</thought>","tool_calls":[{"extra_content":{"google":{"thought_signature":"s1"}},"id":"c1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`))
	assert.Equal(t, []string{"", "Call f."}, []string{called.Text, called.Thinking})
	assert.Contains(t, sent(t, a, chatSays, after(called)), `"thought_signature":"s1"`)
	for says, want := range map[string][]string{
		`"content":"<thought>Two and",` + flag: {"", "Two and"},
		`"content":"4",` + flag:                {"", "4"},
		`"content":"<thought>Two.</thought>4"`: {"<thought>Two.</thought>4", ""},
	} {
		reply := replyOf(t, a, false, `{"choices":[{"message":{`+says+`},"finish_reason":"length"}]}`)
		assert.Equal(t, want, []string{reply.Text, reply.Thinking}, says)
	}
	signed := replyOf(t, a, false, `{"choices":[{"message":{"content":"<thought>Hm.</thought>4","extra_content":{"google":{"thought":true,"thought_signature":"s2"}}},"finish_reason":"stop"}]}`)
	assert.Contains(t, sent(t, a, chatSays, after(signed)), `"thought_signature":"s2"`)
}
