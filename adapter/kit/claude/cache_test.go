package claude_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// promptCache is the API's prompt cache as its documents describe it: a mark writes the prompt up to it,
// unless that is too short, and reads the longest prompt that was written at one of the 20 blocks before it.
// There may be four marks.
type promptCache struct {
	written map[string]bool
	// turns are the requests so far; prices is what they cost, in tokens of plain input.
	turns  int
	prices float64
	// all are their tokens of input, and read those that were billed as read from the cache.
	all, read int
}

const lookBack, mostMarks, leastTokens = 20, 4, 1024

// answer answers a request with calls, and with the tokens as the API counts them, one a byte.
func (c *promptCache) answer(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	prompts, marked := prefixes(body)
	if len(marked) > mostMarks {
		return answer(400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"A maximum of 4 blocks with cache_control may be provided."}}`)(r)
	}
	marked = slices.DeleteFunc(marked, func(at int) bool { return len(prompts[at]) < leastTokens })
	all := len(prompts[len(prompts)-1])
	read, end := 0, 0
	for _, at := range marked {
		for back := at; back >= 0 && back > at-lookBack; back-- {
			if c.written[prompts[back]] {
				read = max(read, len(prompts[back]))
			}
		}
		end = len(prompts[at])
	}
	for _, at := range marked {
		c.written[prompts[at]] = true
	}
	c.turns++
	c.all, c.read = c.all+all, c.read+read
	c.prices += float64(all-end) + 1.25*float64(end-read) + 0.1*float64(read)
	var calls []string
	for n := range 1 + 30*(c.turns%2) { // every other turn has more blocks than the API looks back
		calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":"c%d_%d","name":"book_room","input":{"city":"Porto"}}`, c.turns, n))
	}
	says := fmt.Sprintf(`{"type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":"tool_use","usage":{"input_tokens":%d,`+
		`"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":9}}`, strings.Join(calls, ","), all-end, end-read, read)
	return answer(200, "application/json", says)(r)
}

// prefixes returns the prompt up to each of its blocks, without the marks, and the blocks with marks.
func prefixes(body []byte) (prompts []string, marked []int) {
	request, _ := kit.ReadObject(body)
	blocks := append(kit.Items(request.Get("tools")), kit.Items(request.Get("system"))...)
	for _, m := range kit.Items(request.Get("messages")) {
		turn, _ := kit.ReadObject(m)
		blocks = append(blocks, kit.Items(turn.Get("content"))...)
	}
	prompt := ""
	for n, b := range blocks {
		o, _ := kit.ReadObject(b)
		if o.Get("cache_control") != nil {
			marked = append(marked, n)
		}
		prompt += string(o.Without("cache_control").JSON())
		prompts = append(prompts, prompt)
	}
	return prompts, marked
}

// A loop of calls sends its transcript again in each turn. All of the request before is read from the cache,
// however many calls a turn has, so that the price does not grow with the square of the turns.
func TestATranscriptIsReadFromTheCache(t *testing.T) {
	bill := func(cache claude.Cache) (price, read float64) {
		c := &promptCache{written: map[string]bool{}}
		m, err := claude.New(&http.Client{Transport: answering(c.answer)}, claude.Config{Model: "m", MaxTokens: 100, Cache: cache})
		require.NoError(t, err)
		req := kittest.Asks()["tools"]
		req.System = strings.Repeat("Book what is asked for. ", 50)
		var before int64
		for turn := range 12 {
			reply, err := m.Reply(t.Context(), req)
			require.NoError(t, err)
			if cache != claude.NoCache {
				assert.Equal(t, before, reply.Usage.CacheReadTokens, "turn %d reads what the turn before sent", turn+1)
				assert.Equal(t, reply.Usage.InputTokens, reply.Usage.CacheReadTokens+reply.Usage.CacheWriteTokens, "all of a turn is written")
			}
			before = reply.Usage.InputTokens
			req.Messages = append(req.Messages, message.Message{Role: message.Assistant, Calls: reply.Calls})
			for _, call := range reply.Calls {
				req.Messages = append(req.Messages, message.Message{Role: message.Tool, CallID: call.ID, Name: call.Name, Text: strings.Repeat("receipt ", 50)})
			}
		}
		return c.prices, float64(c.read) / float64(c.all)
	}
	with, read := bill(claude.Cache5m)
	without, none := bill(claude.NoCache)
	t.Logf("12 turns cost %.0f tokens of plain input with the cache, %.0f without; %.1f%% of the input is billed as read from the cache, %.1f%% without it",
		with, without, 100*read, 100*none)
	assert.Less(t, with, without/3)
	assert.InDelta(t, 0.836, read, 0.001, "as docs/wire.md says")
	assert.Zero(t, none)
}

// No transcript leads to more marks than the API allows, or to one without a block.
func TestLawThereAreNeverMoreThanFourMarks(t *testing.T) {
	m := model(t, func(c *claude.Config) { c.Cache = claude.Cache5m })
	medium := message.Part{Kind: message.ImagePart, MediaType: "image/png", Data: "aGk="}
	rapid.Check(t, func(r *rapid.T) {
		req := kittest.Asks()[rapid.SampledFrom([]string{"tools", "corrected"}).Draw(r, "ask")]
		req.System = rapid.SampledFrom([]string{"", " ", "Be brief."}).Draw(r, "system")
		req.Messages = rapid.SliceOfN(rapid.Custom(func(r *rapid.T) message.Message {
			said := message.Message{
				Role: rapid.SampledFrom([]message.Role{message.System, message.User, message.Assistant, message.Tool}).Draw(r, "role"),
				Text: rapid.SampledFrom([]string{"", " ", "Hm."}).Draw(r, "text"),
			}
			switch said.Role {
			case message.Assistant:
				for n := range rapid.IntRange(0, 3).Draw(r, "calls") {
					said.Calls = append(said.Calls, message.Call{ID: fmt.Sprint("c", n), Name: "book_room", Arguments: "{}"})
				}
				said.Opaque = rapid.SampledFrom([]string{"", `{"adapter":"anthropic","model":"m","blocks":[` +
					`{"raw":{"type":"thinking","thinking":"Hm.","signature":"s","cache_control":{"type":"ephemeral"}}}]}`}).Draw(r, "opaque")
			case message.Tool:
				said.CallID, said.Name = "c0", "book_room"
			}
			if said.Role != message.Assistant && rapid.Bool().Draw(r, "medium") {
				said.Parts = []message.Part{medium}
			}
			return said
		}), 0, 8).Draw(r, "messages")
		body := params(t, m, req)
		require.LessOrEqual(r, strings.Count(body, `"cache_control"`), 4, body)
	})
}

// The newest turns are marked whatever they end with, and there are never more marks than the API allows.
func TestTheNewestTurnsAreMarked(t *testing.T) {
	medium := message.Part{Kind: message.ImagePart, MediaType: "image/png", Data: "aGk="}
	for name, last := range map[string]message.Message{
		"text": {Role: message.User, Text: "Well?"}, "an image": {Role: message.User, Parts: []message.Part{medium}},
		"a result": {Role: message.Tool, CallID: "c9", Name: "book_room", Text: "R-1"}, "an answer of the model": {Role: message.Assistant, Text: "Hm."},
	} {
		req := kittest.Asks()["corrected"]
		req.Messages = append(req.Messages, message.Message{Role: message.Assistant, Text: "One moment.", Calls: []message.Call{{ID: "c9", Name: "book_room", Arguments: "{}"}}}, last)
		body := params(t, model(t, func(c *claude.Config) { c.Cache = claude.Cache1h }), req)
		prompts, marked := prefixes([]byte(body))
		assert.Len(t, marked, 4, name)
		assert.Equal(t, 4, strings.Count(body, `"cache_control":{"ttl":"1h","type":"ephemeral"}`), name)
		assert.Equal(t, len(prompts)-1, marked[3], "the last block: "+name)
		assert.True(t, json.Valid([]byte(body)))
	}
}

// A request that asks once pays no more for its turn than without the cache: nobody reads what it would
// write.
func TestOnlyWhatIsReadAgainIsMarked(t *testing.T) {
	once := loop.Request{System: "Be brief.", Messages: []message.Message{{Role: message.User, Text: "2+2?"}}}
	tools := kittest.Asks()["tools"]
	tools.System, tools.Messages = once.System, once.Messages
	corrected := once
	corrected.Messages = append(once.Messages[:1:1], message.Message{Role: message.Assistant, Text: "5"}, message.Message{Role: message.User, Text: "No."})
	for name, c := range map[string]struct {
		req  loop.Request
		want []bool // which blocks are marked
	}{
		"a question":             {once, []bool{true, false}},
		"a question with tools":  {tools, []bool{true, true, true}},
		"a conversation goes on": {corrected, []bool{true, true, false, true}},
	} {
		prompts, marked := prefixes([]byte(params(t, model(t, func(c *claude.Config) { c.Cache = claude.Cache5m }), c.req)))
		got := make([]bool, len(prompts))
		for _, at := range marked {
			got[at] = true
		}
		assert.Equal(t, c.want, got, name)
	}
}
