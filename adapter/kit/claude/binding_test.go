package claude_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// thinker answers each request with thoughts that are signed by its number, and keeps the requests.
type thinker struct {
	t     *testing.T
	model string
	asked []string
}

func (k *thinker) ask(req loop.Request) message.Message {
	k.t.Helper()
	n := string(rune('0' + len(k.asked)))
	s := kittest.Serve(k.t, "200 OK\nContent-Type: application/json\n\n"+`{"type":"message","role":"assistant","id":"m","stop_reason":"tool_use","content":[`+
		`{"type":"thinking","thinking":"Hm.","signature":"signed-`+n+`"},{"type":"tool_use","id":"c`+n+`","name":"book_room","input":{}}]}`)
	m, err := claude.New(s.Client, claude.Config{URL: s.URL, Key: kittest.Key, Model: k.model, MaxTokens: 4096, Cache: claude.Cache5m})
	require.NoError(k.t, err)
	reply, err := m.Reply(k.t.Context(), req)
	require.NoError(k.t, err)
	k.asked = append(k.asked, s.Requests()[0])
	return message.Message{Role: message.Assistant, Calls: reply.Calls, Opaque: reply.Opaque}
}

// Newer models bind their thoughts to the system prompt, the tools and the messages before them: the API
// refuses a request in which those differ
// (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking).
func TestThoughtsGoBackOnlyAfterWhatTheyCameFrom(t *testing.T) {
	answer := func(id string) message.Message {
		return message.Message{Role: message.Tool, CallID: id, Name: "book_room", Text: "full"}
	}
	sent := func(body string) (signed string) {
		for _, n := range "012" {
			if strings.Contains(body, "signed-"+string(n)) {
				signed += string(n)
			}
		}
		return signed
	}
	for name, c := range map[string]struct {
		model  string
		change func(*loop.Request)
		// second and third are the thoughts in the second request, where something changes, and in the third.
		second, third string
	}{
		"nothing":                   {"claude-opus-5-5", func(*loop.Request) {}, "0", "01"},
		"the system prompt":         {"claude-opus-5-5", func(r *loop.Request) { r.System = "You book flats." }, "", "1"},
		"the tools":                 {"claude-fable-5-1", func(r *loop.Request) { r.Tools = append(r.Tools, kittest.HotelFind()) }, "", "1"},
		"a message before":          {"anthropic.claude-sonnet-5-5-v1:0", func(r *loop.Request) { r.Messages[0].Text = "Three nights." }, "", "1"},
		"a model that binds none":   {"claude-opus-5", func(r *loop.Request) { r.System = "You book flats." }, "0", "01"},
		"the same, with its date":   {"claude-fable-5-20260801", func(r *loop.Request) { r.System = "You book flats." }, "0", "01"},
		"the choice, and the marks": {"claude-haiku-5-5", func(r *loop.Request) { r.ToolChoice = message.NoTool }, "0", "01"},
	} {
		t.Run(name, func(t *testing.T) {
			k := thinker{t: t, model: c.model}
			req := kittest.Asks()["tools"]
			req.Messages = append(req.Messages, k.ask(req), answer("c0"))
			c.change(&req)
			req.Messages = append(req.Messages, k.ask(req), answer("c1"))
			k.ask(req)
			assert.Equal(t, c.second, sent(k.asked[1]))
			assert.Equal(t, c.third, sent(k.asked[2]))
			assert.Contains(t, k.asked[2], `"c0"`)
		})
	}
}

// What was kept before the adapter kept a prefix goes back as it did.
func TestThoughtsOfUnknownOriginGoBack(t *testing.T) {
	const newest = "claude-opus-5-5"
	m := model(t, func(c *claude.Config) { c.Model = newest })
	body := params(t, m, loop.Request{Messages: said(message.Message{Role: message.User, Text: "Hi."},
		message.Message{Role: message.Assistant, Text: "Four", Opaque: opaque(newest, `{"raw":`+thought+`},{"text":4}`)})})
	assert.Contains(t, body, thought)
}
