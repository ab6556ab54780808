package claude_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// begunAgain is a stream that a gateway restarted in the middle.
const begunAgain = `event: message_start
data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"old\"}"}}

`

func TestOfTwoMessagesInAStreamNoneIsRun(t *testing.T) {
	again := begunAgain + strings.Replace(begunAgain, "old", "new", 1) + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	_, err := through(t, answer(200, "text/event-stream", again), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	require.EqualError(t, err, "anthropic: 200 invalid_response: unreadable response: a stream with two messages")
}

// Some gateways say twice that a message begins. That is one message as long as there is nothing of it.
func TestAMessageMayBeginTwice(t *testing.T) {
	const start = `data: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}` + "\n\n"
	const rest = `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Yes."}}` + "\n\n" +
		`data: {"type":"content_block_stop","index":0}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
	ask := func(body string) (message.Reply, error) {
		return through(t, answer(200, "text/event-stream", body), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	}
	reply, err := ask(start + start + rest)
	require.NoError(t, err)
	assert.Equal(t, "Yes.", reply.Text)
	assert.EqualValues(t, 9, reply.Usage.InputTokens)
	_, err = ask(start + strings.Replace(start, "m1", "m2", 1) + rest)
	require.ErrorContains(t, err, "a stream with two messages")
}

// Where code that the API runs goes on after the result of a call, the message begins with what came of it.
func TestWhatAMessageBeginsWithIsStreamed(t *testing.T) {
	const says = `data: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","stop_reason":"tool_use","container":{"id":"box"},"content":[` +
		`{"type":"code_execution_tool_result","tool_use_id":"s1","content":{"type":"code_execution_result","stdout":"5"}},` +
		`{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"Next."},` +
		`{"type":"tool_use","id":"c1","name":"book_room","input":{"city":"Faro"},"caller":{"type":"code_execution_20250825","tool_id":"s0"}}]}}` + "\n\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c2","name":"book_room","input":{}}}` + "\n\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}` + "\n\n" +
		`data: {"type":"content_block_stop","index":0}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
	var told strings.Builder
	reply, err := through(t, answer(200, "text/event-stream", says), small).Reply(t.Context(),
		loop.Request{Stream: func(d loop.Delta) { fmt.Fprintf(&told, "%d%s%s%s%s;", d.Call, d.Thinking, d.Text, d.Name, d.Arguments) }})
	require.NoError(t, err)
	assert.Equal(t, []message.Call{{ID: "c1", Name: "book_room", Arguments: `{"city":"Faro"}`}, {ID: "c2", Name: "book_room", Arguments: "{}"}}, reply.Calls)
	assert.Equal(t, `-1Hm.;-1Next.;0book_room;0{"city":"Faro"};1book_room;1{};`, told.String())
}

// endless is a body of empty lines without an end.
type endless struct {
	read   int
	closed bool
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat(": nothing\n", 1+len(p)/10))
	e.read += n
	return n, nil
}

func (e *endless) Close() error {
	e.closed = true
	return nil
}

func TestAResponseThatComesAsTheCallerLeavesIsLetGo(t *testing.T) {
	for name, stream := range map[string]func(loop.Delta){"whole": nil, "stream": func(loop.Delta) {}} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			body := &endless{}
			m := through(t, func(r *http.Request) (*http.Response, error) {
				leave()
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
			}, small)
			_, err := m.Reply(ctx, loop.Request{Stream: stream})
			require.ErrorIs(t, err, context.Canceled)
			assert.True(t, body.closed)
		})
	}
}

func TestResponsesWithoutAnEndAreCutOff(t *testing.T) {
	for name, kind := range map[string]string{"whole": "application/json", "stream": "text/event-stream"} {
		for _, status := range []int{200, 500} {
			body := &endless{}
			m := through(t, func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: body, Request: r}, nil
			}, small)
			req := loop.Request{}
			if name == "stream" {
				req.Stream = func(loop.Delta) {}
			}
			_, err := m.Reply(t.Context(), req)
			own, ok := errors.AsType[*kit.Error](err)
			require.True(t, ok, "%s %d: %v", name, status, err)
			assert.Equal(t, status, own.Status)
			assert.LessOrEqual(t, body.read, 64<<20+1<<20)
			want := map[int]fault.Class{200: fault.InvalidResponse, 500: fault.Unavailable}[status]
			assert.Equal(t, want, own.Failure().Class, name)
		}
	}
}

// streamOf is a reply of n pieces of four bytes each of a thought, a text, and the arguments of a call.
func streamOf(n int) string {
	var b strings.Builder
	event := func(doc string) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(doc, `{"type":"`), `"`)
		b.WriteString("event: " + kind + "\ndata: " + doc + "\n\n")
	}
	event(`{"type":"message_start","message":{"type":"message","role":"assistant","model":"m-1","content":[]}}`)
	for at, c := range [][2]string{
		{`{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"abc "}`},
		{`{"type":"text","text":""}`, `{"type":"text_delta","text":"abc "}`},
		{`{"type":"tool_use","id":"c1","name":"f","input":{}}`, `{"type":"input_json_delta","partial_json":"abc "}`},
	} {
		index := `"index":` + itoa(at)
		event(`{"type":"content_block_start",` + index + `,"content_block":` + c[0] + `}`)
		for range n {
			event(`{"type":"content_block_delta",` + index + `,"delta":` + c[1] + `}`)
		}
		event(`{"type":"content_block_stop",` + index + `}`)
	}
	event(`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`)
	event(`{"type":"message_stop"}`)
	return b.String()
}

// Four times as many pieces need four times the memory, not sixteen times.
func TestManyPiecesTakeMemoryInProportion(t *testing.T) {
	taken := func(n int) float64 {
		m := through(t, answer(200, "text/event-stream", streamOf(n)), small)
		var before, then runtime.MemStats
		runtime.ReadMemStats(&before)
		reply, err := m.Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
		runtime.ReadMemStats(&then)
		require.NoError(t, err)
		for _, all := range []string{reply.Text, reply.Thinking, reply.Calls[0].Arguments} {
			assert.Equal(t, strings.Repeat("abc ", n), all)
		}
		return float64(then.TotalAlloc - before.TotalAlloc)
	}
	taken(500) // what is made once
	assert.Less(t, taken(8000)/taken(2000), 5.0, "4 times as many pieces")
}

// A summary that the API makes of the conversation goes back whole.
func TestACompactionInPiecesIsKept(t *testing.T) {
	says := strings.Replace(yesEvents, "event: message_delta", `data: {"type":"content_block_start","index":9,"content_block":{"type":"compaction","content":null}}

data: {"type":"content_block_delta","index":9,"delta":{"type":"compaction_delta","content":"All "}}

data: {"type":"content_block_delta","index":9,"delta":{"type":"compaction_delta","content":"of it."}}

event: message_delta`, 1)
	reply, err := through(t, answer(200, "text/event-stream", says), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	require.NoError(t, err)
	assert.Contains(t, reply.Opaque, `{"type":"compaction","content":"All of it."}`)
}

// One event may hold all of a reply.
func TestALargeEventTakesAFewTimesItsSize(t *testing.T) {
	const size = 1 << 20
	stream := strings.ReplaceAll(streamOf(1), "abc ", strings.Repeat("abc ", size/4))
	for name, c := range map[string]struct{ form, says string }{
		"whole":    {"application/json", strings.Replace(yes, "Yes.", strings.Repeat("Yes.", size/4), 1)},
		"streamed": {"text/event-stream", stream},
	} {
		m := through(t, answer(200, c.form, c.says), small)
		var before, then runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := m.Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
		runtime.ReadMemStats(&then)
		require.NoError(t, err)
		assert.Less(t, float64(then.TotalAlloc-before.TotalAlloc)/float64(len(c.says)), 15.0, name)
	}
}

// Each event that tells more of the message is not charged for all before it.
func TestVeryManyMembersOfAMessageTakeTimeInProportion(t *testing.T) {
	var b strings.Builder
	for n := range 4000 {
		fmt.Fprintf(&b, "data: {\"type\":\"message_delta\",\"delta\":{\"m%d\":1},\"usage\":{\"u%[1]d\":1}}\n\n", n)
	}
	says := strings.Replace(yesEvents, "event: message_delta", b.String()+"event: message_delta", 1)
	var before, then runtime.MemStats
	runtime.ReadMemStats(&before)
	reply, err := through(t, answer(200, "text/event-stream", says), small).Reply(t.Context(), loop.Request{})
	runtime.ReadMemStats(&then)
	require.NoError(t, err)
	assert.Equal(t, message.Stop, reply.Finish)
	assert.Less(t, then.TotalAlloc-before.TotalAlloc, uint64(150<<20))
}

func BenchmarkStream(b *testing.B) {
	for _, n := range []int{2000, 8000, 32_000} {
		b.Run(fmt.Sprintf("pieces=%d", 3*n), func(b *testing.B) {
			says := streamOf(n)
			m, err := claude.New(&http.Client{Transport: answer(200, "text/event-stream", says)}, small)
			require.NoError(b, err)
			b.SetBytes(int64(len(says)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Reply(b.Context(), loop.Request{Stream: func(loop.Delta) {}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A line of a stream may be as long as a reply. A longer one has a class and says so.
func TestALineThatIsTooLongSaysSo(t *testing.T) {
	line := `data: {"type":"content_block_delta","delta":{"text":"` + strings.Repeat("x", 64<<20)
	_, err := through(t, answer(200, "text/event-stream", line), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	require.EqualError(t, err, "anthropic: 200 invalid_response: unreadable response: more than 64 MiB")
	own, _ := errors.AsType[*kit.Error](err)
	assert.Equal(t, fault.InvalidResponse, own.Class)
}

// The type of an event stands in its data, too. Some servers leave the line with its name out.
func TestEventsWithoutTheirNamesAreRead(t *testing.T) {
	says := strings.ReplaceAll(streamOf(1), "event: ", ": ")
	reply, err := through(t, answer(200, "text/event-stream", says), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	require.NoError(t, err)
	assert.Equal(t, "abc ", reply.Text)
	_, err = through(t, answer(200, "text/event-stream", `data: {"type":"error","error":{"type":"overloaded_error","message":"Busy."}}`+"\n\n"), small).
		Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	require.EqualError(t, err, "anthropic: 200 overloaded_error: Busy.")
}

// A block that is told to be over once more is not copied again.
func TestABlockEndsOnce(t *testing.T) {
	const stop = `data: {"type":"content_block_stop","index":0}` + "\n\n"
	says := strings.Replace(yesEvents, "event: message_delta", strings.Repeat(stop, 1000)+"event: message_delta", 1)
	says = strings.Replace(says, "Yes.", strings.Repeat("Yes.", 25_000), 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	reply, err := through(t, answer(200, "text/event-stream", says), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.Len(t, reply.Text, 100_000)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(60<<20))
}

// Gateways to other APIs end a stream by [DONE], or by nothing
// (https://github.com/esengine/DeepSeek-Reasonix/pull/8756). Without the stop reason before it the reply is
// cut off, also if a gateway ends each stream that breaks by message_stop
// (https://github.com/NVIDIA/TensorRT-LLM/pull/18289).
func TestAnyEndEndsAMessageThatHasItsStopReason(t *testing.T) {
	ask := func(body string) (message.Reply, error) {
		return through(t, answer(200, "text/event-stream", body), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	}
	whole, _, _ := strings.Cut(yesEvents, "event: message_stop")
	const done = "data: [DONE]\n\n"
	for _, end := range []string{done, "", "event: ping\ndata: {\"type\":\"ping\"}\n\n"} {
		reply, err := ask(whole + end)
		require.NoError(t, err)
		assert.Equal(t, "Yes.", reply.Text)
		assert.Equal(t, message.Stop, reply.Finish)
	}
	begun, _, _ := strings.Cut(yesEvents, "event: message_delta")
	for _, end := range []string{done, "", "data: {\"type\":\"message_stop\"}\n\n"} {
		_, err := ask(begun + end)
		require.ErrorContains(t, err, "the response ended before the reply was complete", end)
	}
}

// What a compaction and an adviser took is not in the counts of the whole, which sum up the requests of the
// model itself (https://platform.claude.com/docs/en/build-with-claude/compaction-threshold). The next prompt
// is as long as that of the last of them.
func TestWhatTheAPIAskedOnItsOwnIsCounted(t *testing.T) {
	const counts = `{"input_tokens":50,"cache_read_input_tokens":10,"output_tokens":9,"iterations":[` +
		`{"type":"compaction","input_tokens":900,"output_tokens":70,"cache_read_input_tokens":30,"cache_creation_input_tokens":5},` +
		`{"type":"message","input_tokens":20,"output_tokens":4},{"type":"advisor_message","model":"n","input_tokens":40,"output_tokens":6},` +
		`{"type":"message","input_tokens":30,"output_tokens":5,"cache_read_input_tokens":10}]}`
	want := message.Usage{InputTokens: 60 + 935 + 40, OutputTokens: 9 + 70 + 6, CacheReadTokens: 40, CacheWriteTokens: 5, APICalls: 1}
	streamed := strings.Replace(yesEvents, `{"output_tokens":1}`, counts, 1)
	for name, c := range map[string]struct{ kind, body string }{
		"whole":    {"application/json", strings.TrimSuffix(yes, "}") + `,"usage":` + counts + `}`},
		"streamed": {"text/event-stream", streamed},
	} {
		reply, err := through(t, answer(200, c.kind, c.body), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
		require.NoError(t, err)
		assert.Equal(t, want, reply.Usage, name)
		assert.EqualValues(t, 40, reply.PromptTokens, name)
	}
}

// No count of a server makes another one negative.
func TestHugeCountsAreCapped(t *testing.T) {
	const huge = `,"usage":{"input_tokens":40,"cache_read_input_tokens":9223372036854775807,"cache_creation_input_tokens":9223372036854775807}}`
	reply, err := through(t, answer(200, "application/json", strings.TrimSuffix(yes, "}")+huge), small).Reply(t.Context(), loop.Request{})
	require.NoError(t, err)
	assert.Equal(t, int64(math.MaxInt64), reply.Usage.InputTokens)
}

// Some servers tell the prompt's tokens at the beginning, and zeros at the end.
func TestTokensOfThePromptAreKeptFromTheBeginning(t *testing.T) {
	const zeros = `"usage":{"output_tokens":9,"input_tokens":0,"cache_read_input_tokens":0}`
	says := strings.Replace(streamOf(1), `"content":[]`, `"content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":50}`, 1)
	says = strings.Replace(says, `"usage":{"output_tokens":1}`, zeros, 1)
	require.Contains(t, says, zeros)
	reply, err := through(t, answer(200, "text/event-stream", says), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	require.NoError(t, err)
	assert.Equal(t, message.Usage{InputTokens: 155, OutputTokens: 9, CacheReadTokens: 100, CacheWriteTokens: 50, APICalls: 1}, reply.Usage)
}

// Searches and citations are told as they came, whole and streamed.
func TestCountsOfSearchesAreTold(t *testing.T) {
	const used = `"usage":{"input_tokens":1,"output_tokens":2,"server_tool_use":{"web_search_requests":3,"web_fetch_requests":0}}`
	streamed := strings.Replace(yesEvents, `"usage":{"output_tokens":1}`, used, 1)
	for kind, body := range map[string]string{"application/json": strings.TrimSuffix(yes, "}") + "," + used + "}", "text/event-stream": streamed} {
		var told kit.Response
		cfg := small
		cfg.OnResponse = func(r kit.Response) { told = r }
		_, err := through(t, answer(200, kind, body), cfg).Reply(t.Context(), loop.Request{})
		require.NoError(t, err)
		assert.Contains(t, string(told.Extra["usage"]), `"web_search_requests":3`, kind)
		assert.Contains(t, string(told.Extra["content"]), `"Yes."`, kind)
	}
}

// A character that a gateway cuts in two is one character of the reply and of what is streamed.
func TestACharacterThatIsCutInTwoIsOne(t *testing.T) {
	cut := strings.Replace(yesEvents, "event: message_delta", "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xe2\x82\"}}\n\n"+
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xac\"}}\n\nevent: message_delta", 1)
	var told string
	reply, err := through(t, answer(200, "text/event-stream", cut), small).Reply(t.Context(), loop.Request{Stream: func(d loop.Delta) { told += d.Text }})
	require.NoError(t, err)
	assert.Equal(t, "Yes.€", reply.Text)
	assert.Equal(t, reply.Text, told)
}

// The index says which block an event is of. Gateways leave gaps, end blocks that never began, and give an
// index again once its block is over (https://github.com/jundot/omlx/issues/1353,
// https://github.com/QuantumNous/new-api/issues/5482,
// https://github.com/anthropics/anthropic-sdk-typescript/issues/879).
func TestTheIndexSaysWhichBlockAnEventIsOf(t *testing.T) {
	event := func(doc string) string { return "data: " + doc + "\n\n" }
	begins := func(index, block string) string {
		return event(`{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`)
	}
	goesOn := func(index, delta string) string {
		return event(`{"type":"content_block_delta","index":` + index + `,"delta":` + delta + `}`)
	}
	ends := func(index string) string { return event(`{"type":"content_block_stop","index":` + index + `}`) }
	const text, first, second = `{"type":"text","text":""}`, `{"type":"tool_use","id":"c1","name":"f","input":{}}`, `{"type":"tool_use","id":"c2","name":"g","input":{}}`
	const says, x, y = `{"type":"text_delta","text":"Hm."}`, `{"type":"input_json_delta","partial_json":"{\"x\":1}"}`, `{"type":"input_json_delta","partial_json":"{\"y\":2}"}`
	ask := func(events ...string) (message.Reply, error) {
		body := event(`{"type":"message_start","message":{"type":"message","role":"assistant","model":"m","content":[]}}`) + strings.Join(events, "") +
			event(`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`) + event(`{"type":"message_stop"}`)
		return through(t, answer(200, "text/event-stream", body), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	}
	for name, events := range map[string][]string{
		"gaps, in turns":  {begins("1", text), begins("4", first), goesOn("1", says), begins("7", second), goesOn("7", y), goesOn("4", x), ends("7"), ends("4")},
		"an index again":  {begins("0", text), goesOn("0", says), ends("0"), begins("1", first), goesOn("1", x), ends("1"), begins("1", second), goesOn("1", y), ends("1")},
		"ends of nothing": {ends("0"), begins("1", text), goesOn("1", says), ends("1"), ends("2"), begins("3", first), goesOn("3", x), ends("3"), begins("4", second), goesOn("4", y), ends("4")},
	} {
		reply, err := ask(events...)
		require.NoError(t, err, name)
		assert.Equal(t, "Hm.", reply.Text, name)
		assert.Equal(t, []message.Call{{ID: "c1", Name: "f", Arguments: `{"x":1}`}, {ID: "c2", Name: "g", Arguments: `{"y":2}`}}, reply.Calls, name)
	}
	for want, events := range map[string][]string{
		"block 0 begins twice":  {begins("0", first), begins("0", second)},
		"block 1 has not begun": {begins("0", text), begins("2", first), goesOn("1", says)},
	} {
		_, err := ask(events...)
		require.EqualError(t, err, "anthropic: 200 invalid_response: unreadable response: a stream out of order: "+want)
	}
	late := begins("0", text) + event(`{"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}`) + ends("0") + event(`{"type":"message_stop"}`)
	_, err := through(t, answer(200, "text/event-stream", late), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	require.EqualError(t, err, "anthropic: 200 invalid_response: unreadable response: a stream out of order: block 0 begins before its message")
}

// What gateways make of a stream is read by what it is: an error in the form of another API, a stop reason
// that a second message_delta does not repeat, and arguments that come as a text, or after an empty object.
func TestStreamsOfGatewaysAreReadByWhatTheyAre(t *testing.T) {
	event := func(doc string) string { return "data: " + doc + "\n\n" }
	ask := func(events ...string) (message.Reply, error) {
		body := event(`{"type":"message_start","message":{"type":"message","role":"assistant","model":"m","content":[]}}`) + strings.Join(events, "")
		return through(t, answer(200, "text/event-stream", body), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	}
	_, err := ask(event(`{"error":{"message":"Slow down.","type":"rate_limit_error"}}`))
	require.EqualError(t, err, "anthropic: 200 rate_limit_error: Slow down.")
	own, _ := errors.AsType[*kit.Error](err)
	assert.Equal(t, fault.RateLimit, own.Class)

	end := event(`{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":1}}`) +
		event(`{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":7}}`) + event(`{"type":"message_stop"}`)
	called := func(input string) string {
		return event(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":` + input + `}}`)
	}
	piece := func(json string) string {
		return event(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + json + `"}}`)
	}
	stop := event(`{"type":"content_block_stop","index":0}`)
	for name, events := range map[string][]string{
		"an object": {called(`{"x":1}`), stop}, "a text": {called(`"{\"x\":1}"`), stop},
		"an empty object first": {called("{}"), piece("{}"), piece(`{\"x\":1}`), stop},
	} {
		reply, err := ask(append(events, end)...)
		require.NoError(t, err)
		assert.Equal(t, []message.Call{{ID: "c", Name: "f", Arguments: `{"x":1}`}}, reply.Calls, name)
		assert.Equal(t, message.Length, reply.Finish, name)
		assert.Equal(t, int64(7), reply.Usage.OutputTokens, name)
	}
}

// What the API took out of the prompt before the model read it is told, of a stream, too: thoughts that did
// not fit, and what edits of the context cleared.
func TestWhatTheAPITookOutOfThePromptIsTold(t *testing.T) {
	const dropped = `[{"type":"thinking_dropped","path":"messages.1.content.0","reason":"prefix_binding_mismatch"}]`
	const edits = `{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":2}]}`
	const message = `"id":"m","type":"message","role":"assistant","model":"m","input_transformations":` + dropped
	for kind, body := range map[string]string{
		"application/json": `{` + message + `,"content":[{"type":"text","text":"Yes."}],"stop_reason":"end_turn","context_management":` + edits + `}`,
		"text/event-stream": `data: {"type":"message_start","message":{` + message + `,"content":[]}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"context_management":null}` + "\n\n" +
			`data: {"type":"message_delta","delta":{},"context_management":` + edits + `}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
	} {
		var told kit.Response
		cfg := small
		cfg.OnResponse = func(r kit.Response) { told = r }
		_, err := through(t, answer(200, kind, body), cfg).Reply(t.Context(), loop.Request{})
		require.NoError(t, err)
		assert.JSONEq(t, dropped, string(told.Extra["input_transformations"]), kind)
		assert.JSONEq(t, edits, string(told.Extra["context_management"]), kind)
	}
}

// Whatever a server answers, whole or as a stream, is an error of ours or a reply. What is streamed is its
// text, and it goes back as JSON.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{yes, yesEvents, begunAgain, streamOf(1), `{"type":"message","content":[{"type":"text","text":"\ud83d"},` +
		`{"type":"tool_use","id":"c","name":"f","input":{},"caller":{"type":"x"}},{"type":"fallback","to":{"model":"m"}}],"stop_reason":"tool_use"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, says string) {
		var told strings.Builder
		m := through(t, answer(200, "", says), small)
		reply, err := m.Reply(t.Context(), loop.Request{Stream: func(d loop.Delta) { told.WriteString(d.Text) }})
		if err != nil {
			_, ours := errors.AsType[*kit.Error](err)
			require.True(t, ours, err)
			return
		}
		assert.Equal(t, reply.Text, told.String())
		again := message.Message{Role: message.Assistant, Text: reply.Text, Calls: reply.Calls, Opaque: reply.Opaque}
		require.True(t, kit.IsStrict([]byte(params(t, m, loop.Request{Messages: said(again)}))))
	})
}
