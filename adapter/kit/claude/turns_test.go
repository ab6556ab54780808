package claude_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

func model(t require.TestingT, change ...func(*claude.Config)) *claude.Model {
	cfg := claude.Config{Version: claude.Version2023, Key: "k", Model: "m", MaxTokens: 4096}
	for _, c := range change {
		c(&cfg)
	}
	m, err := claude.New(nil, cfg)
	require.NoError(t, err)
	return m
}

func params(t require.TestingT, m *claude.Model, req loop.Request) string {
	raw, err := m.Params(req)
	require.NoError(t, err)
	return string(raw)
}

func said(messages ...message.Message) []message.Message { return messages }

const thought = `{"type":"thinking","thinking":"Hm.","signature":"s"}`

// opaques are data that the adapter could have kept, and some that it could not have.
func opaques(model string) []string {
	return []string{
		opaque(model, `{"raw":`+thought+`}`), opaque(model, `{"raw":`+thought+`},{"text":4}`),
		opaque(model, `{"raw":`+thought+`},{"text":5},{"call":1}`), opaque(model, `{"raw":5},{"text":-1},{"call":9}`),
	}
}

func opaque(model, blocks string) string {
	return `{"adapter":"anthropic","model":"` + model + `","blocks":[` + blocks + `]}`
}

// Earlier requests stay a prefix of later ones. Otherwise no prompt cache would be read.
func TestWhatFollowsChangesNothingBefore(t *testing.T) {
	m := model(t)
	rapid.Check(t, func(t *rapid.T) {
		before := append(kittest.Transcripts(opaques("m")...).Draw(t, "before"), message.Message{Role: message.User, Text: "And?"})
		after := append(before[:len(before):len(before)], kittest.Transcripts(opaques("m")...).Draw(t, "after")...)
		var short, long struct{ Messages []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(params(t, m, loop.Request{Messages: said(before...)})), &short))
		require.NoError(t, json.Unmarshal([]byte(params(t, m, loop.Request{Messages: said(after...)})), &long))
		kept := len(short.Messages) - 1
		require.Equal(t, short.Messages[:kept], long.Messages[:kept])
	})
}

func TestTurns(t *testing.T) {
	user := message.Message{Role: message.User, Text: "Hi."}
	for name, c := range map[string]struct {
		said []message.Message
		want string
	}{
		"nothing": {nil, `[{"role":"user","content":[{"type":"text","text":"Continue."}]}]`},
		"the model began and ended": {[]message.Message{{Role: message.Assistant, Text: "Yes. \n"}},
			`[{"role":"user","content":[{"type":"text","text":"Continue."}]},{"role":"assistant","content":[{"type":"text","text":"Yes. \n"}]},` +
				`{"role":"user","content":[{"type":"text","text":"Continue."}]}]`},
		"the model twice": {[]message.Message{user, {Role: message.Assistant, Text: "A."}, {Role: message.Assistant, Text: "B."}, user},
			`[{"role":"user","content":[{"type":"text","text":"Hi."}]},{"role":"assistant","content":[{"type":"text","text":"A."},{"type":"text","text":"B."}]},` +
				`{"role":"user","content":[{"type":"text","text":"Hi."}]}]`},
		"a late system message": {[]message.Message{user, {Role: message.System, Text: "Be brief."}},
			`[{"role":"user","content":[{"type":"text","text":"Hi."},{"type":"text","text":"Be brief."}]}]`},
		"results out of order, and an id given again": {[]message.Message{user,
			{Role: message.Assistant, Calls: []message.Call{{ID: "a", Name: "f", Arguments: "{}"}, {ID: "b", Name: "f", Arguments: "{}"}}},
			user,
			{Role: message.Tool, CallID: "b", Name: "f", Text: "2"}, {Role: message.Tool, CallID: "a", Name: "f", IsError: true},
			{Role: message.Assistant, Calls: []message.Call{{ID: "a", Name: "f", Arguments: "{}"}}},
			{Role: message.Tool, CallID: "a", Name: "f"}},
			`[{"role":"user","content":[{"type":"text","text":"Hi."}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"The call failed."}]},
			{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"2"}]},{"type":"text","text":"Hi."}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"call-1","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-1"}]}]`},
		"a call answered twice": {[]message.Message{user, {Role: message.Assistant, Calls: []message.Call{{ID: "a", Name: "f"}}},
			{Role: message.Tool, CallID: "a", Name: "f", Text: "1"}, {Role: message.Tool, CallID: "a", Name: "f", Text: "2"}},
			`[{"role":"user","content":[{"type":"text","text":"Hi."}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"}]},{"type":"text","text":"Result of f: 2"}]}]`},
		"thoughts between texts, in their place": {[]message.Message{user,
			{Role: message.Assistant, Text: "A.B.", Opaque: opaque("m", `{"raw":`+thought+`},{"text":2},{"raw":`+thought+`},{"text":2}`)}, user},
			`[{"role":"user","content":[{"type":"text","text":"Hi."}]},{"role":"assistant","content":[` + thought + `,{"type":"text","text":"A."},` +
				thought + `,{"type":"text","text":"B."}]},{"role":"user","content":[{"type":"text","text":"Hi."}]}]`},
		"thoughts of a text that changed go first": {[]message.Message{user,
			{Role: message.Assistant, Text: "Another.", Opaque: opaque("m", `{"text":2},{"raw":`+thought+`}`)}, user},
			`[{"role":"user","content":[{"type":"text","text":"Hi."}]},{"role":"assistant","content":[` + thought + `,{"type":"text","text":"Another."}]},` +
				`{"role":"user","content":[{"type":"text","text":"Hi."}]}]`},
		"thoughts with an empty text between them": {[]message.Message{user,
			{Role: message.Assistant, Text: "A.", Opaque: opaque("m", `{"raw":`+thought+`},{},{"raw":`+thought+`},{"text":2}`)}, user},
			`[{"role":"user","content":[{"type":"text","text":"Hi."}]},{"role":"assistant","content":[` + thought + `,{"type":"text","text":"..."},` +
				thought + `,{"type":"text","text":"A."}]},{"role":"user","content":[{"type":"text","text":"Hi."}]}]`},
		"thoughts with blanks between them, and after them": {[]message.Message{user,
			{Role: message.Assistant, Text: "\n\nA.\n", Opaque: opaque("m", `{"raw":`+thought+`},{"text":2},{"raw":`+thought+`},{},{"text":2},{"text":1}`)}, user},
			`[{"role":"user","content":[{"type":"text","text":"Hi."}]},{"role":"assistant","content":[` + thought + `,{"type":"text","text":"..."},` +
				thought + `,{"type":"text","text":"A."}]},{"role":"user","content":[{"type":"text","text":"Hi."}]}]`},
		"thoughts alone say nothing": {[]message.Message{user, {Role: message.Assistant, Text: " ", Opaque: opaque("m", `{"raw":`+thought+`},{"text":1}`)}, user},
			`[{"role":"user","content":[{"type":"text","text":"Hi."},{"type":"text","text":"Hi."}]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			var got struct{ Messages json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(params(t, model(t), loop.Request{Messages: said(c.said...)})), &got))
			assert.JSONEq(t, c.want, string(got.Messages))
		})
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add("Yes.", "c1", "book_room", `{"a":1}`, opaque("m", `{"raw":`+thought+`},{"text":4},{"call":1}`), "c1", "done", false)
	f.Add("", "", "", `{"a":"\ud800"}`, `{"adapter":"anthropic","model":"m","blocks":[{"raw":{"type":""}},{"text":9223372036854775807},{"call":-1}]}`, "", "", true)
	m := model(f)
	f.Fuzz(func(t *testing.T, text, id, name, arguments, kept, answers, result string, failed bool) {
		sent := params(t, m, loop.Request{Messages: said(
			message.Message{Role: message.User, Text: text},
			message.Message{Role: message.Assistant, Text: text, Opaque: kept, Calls: []message.Call{{ID: id, Name: name, Arguments: arguments}, {ID: id, Name: name}}},
			message.Message{Role: message.Tool, CallID: answers, Name: name, Text: result, IsError: failed},
			message.Message{Role: message.Assistant, Text: text, Opaque: kept},
		)})
		// The adapter does not interpret the type of a kept block.
		require.Empty(t, refusals([]byte(sent)), sent)
	})
}

// A system message that ends a turn of the user stays one for the models that take it. The API has no place
// for any other, and older models for none.
func TestASystemMessageInMidConversation(t *testing.T) {
	system := message.Message{Role: message.System, Text: "Prices are in euros."}
	user, answer := message.Message{Role: message.User, Text: "Hi."}, message.Message{Role: message.Assistant, Text: "Hm."}
	call := message.Message{Role: message.Assistant, Calls: []message.Call{{ID: "c1", Name: "book_room", Arguments: "{}"}}}
	result := message.Message{Role: message.Tool, CallID: "c1", Name: "book_room", Text: "R-1"}
	roles := func(name string, all ...message.Message) string {
		m := model(t, func(c *claude.Config) { c.Model = name })
		var sent struct{ Messages []struct{ Role string } }
		require.NoError(t, json.Unmarshal([]byte(params(t, m, loop.Request{Messages: all})), &sent))
		var roles []string
		for _, m := range sent.Messages {
			roles = append(roles, m.Role)
		}
		return strings.Join(roles, " ")
	}
	for name, takes := range map[string]bool{
		"claude-opus-4-8": true, "anthropic.claude-opus-5-20260801-v1:0": true, "claude-sonnet-5-5": true, "claude-haiku-5-5": true, "claude-fable-5": true,
		"claude-opus-4-7": false, "claude-opus-4-20250514": false, "claude-sonnet-4-5": false, "claude-sonnet-5": false, "claude-3-7-sonnet-latest": false, "my-deployment": false,
	} {
		want := "user assistant user"
		if takes {
			want = "user assistant user system"
		}
		assert.Equal(t, want, roles(name, user, call, result, system, system), name)
	}
	const newest = "claude-opus-5"
	assert.Equal(t, "user system assistant user", roles(newest, user, system, answer, user))
	assert.Equal(t, "user assistant user", roles(newest, user, answer, system), "after the model's turn")
	assert.Equal(t, "user", roles(newest, user, system, user), "between two messages of the user")
	assert.Equal(t, "user", roles(newest, system, user), "the first ones open the conversation")
}
