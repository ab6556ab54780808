package claude_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

const paused = "200 OK\nContent-Type: application/json\n\n" +
	`{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"…"}],"stop_reason":"pause_turn"}`

// A model that pauses its turn again and again is not asked forever, and no request is repeated.
func TestATurnThatIsPausedForEver(t *testing.T) {
	server := kittest.Serve(t, slices.Repeat([]string{paused}, 11)...)
	model, err := adapter(claude.Version2023).New(server.URL, server.Client)
	require.NoError(t, err)
	_, err = model.Reply(t.Context(), loop.Request{System: "Search."})
	assert.ErrorContains(t, err, "the model paused its turn more than 10 times (pause_turn)")
	var failed interface{ Failure() fault.Failure }
	require.True(t, errors.As(err, &failed))
	assert.True(t, failed.Failure().Final)
}

// A user may have the API pause once it has summed up the conversation (pause_after_compaction). The turn
// goes on with the summary, which is no answer.
func TestATurnThatIsPausedAfterACompactionGoesOn(t *testing.T) {
	const summary = `{"type":"compaction","content":"They said hi."}`
	reply := func(content, stop string) string {
		return "200 OK\nContent-Type: application/json\n\n" + `{"id":"m","type":"message","role":"assistant","model":"m","content":[` +
			content + `],"stop_reason":"` + stop + `","usage":{"input_tokens":5,"output_tokens":2}}`
	}
	server := kittest.Serve(t, reply(summary, "compaction"), reply(`{"type":"text","text":"Hi."}`, "end_turn"))
	model, err := adapter(claude.Version2023).New(server.URL, server.Client)
	require.NoError(t, err)
	got, err := model.Reply(t.Context(), loop.Request{System: "Search."})
	require.NoError(t, err)
	assert.Equal(t, []any{"Hi.", message.Stop, int64(2)}, []any{got.Text, got.Finish, got.Usage.APICalls})
	assert.Contains(t, got.Opaque, summary)
	assert.Contains(t, server.Requests()[1], `"content": "They said hi."`)
}

// The API tells the file of a cited document, and refuses to be told it: neither what follows a reply nor
// what continues a paused turn has it.
func TestCitationsGoBackWithoutTheirFile(t *testing.T) {
	const cited = `{"type":"text","text":"Grass is green.","citations":[{"type":"char_location","cited_text":"Green.","document_index":0,` +
		`"document_title":null,"file_id":null,"start_char_index":0,"end_char_index":6},{"type":"page_location","file_id":"file_1","start_page_number":1}]}`
	reply := func(stop string) string {
		return "200 OK\nContent-Type: application/json\n\n" +
			`{"id":"m","type":"message","role":"assistant","model":"m","content":[` + cited + `],"stop_reason":"` + stop + `"}`
	}
	server := kittest.Serve(t, reply("pause_turn"), reply("end_turn"), reply("end_turn"))
	model, err := adapter(claude.Version2023).New(server.URL, server.Client)
	require.NoError(t, err)
	user := message.Message{Role: message.User, Text: "Hi."}
	got, err := model.Reply(t.Context(), loop.Request{Messages: said(user)})
	require.NoError(t, err)
	again := message.Message{Role: message.Assistant, Text: got.Text, Opaque: got.Opaque}
	_, err = model.Reply(t.Context(), loop.Request{Messages: said(user, again, user)})
	require.NoError(t, err)
	for _, request := range server.Requests()[1:] {
		assert.Contains(t, request, `"start_char_index": 0`)
		assert.Contains(t, request, `"document_title": null`)
		assert.Contains(t, request, `"start_page_number": 1`)
		assert.NotContains(t, request, "file_id")
	}
}

// Where a model declines within its answer, another one of the list goes on with its text alone (fallbacks).
// The calls of the first one are not run, and neither they nor its thoughts go back
// (https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback).
func TestWhatADecliningModelBeganIsLeftOut(t *testing.T) {
	const first = `{"type":"thinking","thinking":"Old.","signature":"s1"},{"type":"text","text":"First, "},` +
		`{"type":"server_tool_use","id":"searched","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"searched","content":[]},` +
		`{"type":"server_tool_use","id":"cut","name":"web_search","input":{}},{"type":"tool_use","id":"c1","name":"book_room","input":{}}`
	const then = `{"type":"fallback","from":{"model":"claude-fable-5"},"to":{"model":"claude-opus-5"}},` +
		`{"type":"thinking","thinking":"New.","signature":"s2"},{"type":"text","text":"then."},{"type":"tool_use","id":"c2","name":"book_room","input":{}}`
	const counts = `"usage":{"input_tokens":40,"output_tokens":9,"iterations":[{"type":"message","input_tokens":100,"output_tokens":0},` +
		`{"type":"message","input_tokens":50,"output_tokens":7},{"type":"fallback_message","input_tokens":40,"output_tokens":9}]}`
	server := kittest.Serve(t, "200 OK\n\n"+`{"id":"m","type":"message","role":"assistant","model":"claude-fable-5","stop_reason":"tool_use","content":[`+first+`,`+then+`],`+counts+`}`,
		"200 OK\n\n"+yes)
	var told kit.Response
	model, err := claude.New(server.Client, claude.Config{URL: server.URL, Model: "claude-fable-5", MaxTokens: 9, OnResponse: func(r kit.Response) { told = r }})
	require.NoError(t, err)
	user := message.Message{Role: message.User, Text: "Hi."}
	got, err := model.Reply(t.Context(), loop.Request{Messages: said(user)})
	require.NoError(t, err)
	assert.Equal(t, []message.Call{{ID: "c2", Name: "book_room", Arguments: "{}"}}, got.Calls)
	assert.Equal(t, "First, then. New. claude-opus-5", got.Text+" "+got.Thinking+" "+got.Model)
	assert.Equal(t, message.Usage{InputTokens: 90, OutputTokens: 16, APICalls: 1}, got.Usage, "what came to nothing costs nothing")
	assert.EqualValues(t, 40, got.PromptTokens)
	assert.Equal(t, "claude-opus-5", told.Model)
	assert.Contains(t, string(told.Extra["content"]), `"c1"`, "all that came is told")

	again := message.Message{Role: message.Assistant, Text: got.Text, Calls: got.Calls, Opaque: got.Opaque}
	_, err = model.Reply(t.Context(), loop.Request{Messages: said(user, again, user)})
	require.NoError(t, err)
	body := server.Requests()[1]
	for sent, want := range map[string]bool{`"fallback"`: true, `"s2"`: true, `"searched"`: true, `"First, "`: true, `"s1"`: false, `"cut"`: false, `"c1"`: false} {
		assert.Equal(t, want, strings.Contains(body, sent), sent)
	}
}
