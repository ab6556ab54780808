package claude_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
