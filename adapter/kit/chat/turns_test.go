package chat

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/message"
)

// ordered is a transcript in the order of the API.
func ordered(cfg Config, said []message.Message) []turn {
	m := &Model{cfg: cfg}
	m.quirks, m.echo = cfg.quirks()
	return turns(said, m.rules(said))
}

func TestAnswersFindTheirCalls(t *testing.T) {
	said := []message.Message{
		{Role: message.Assistant, Calls: []message.Call{{ID: "c1", Name: "f"}, {ID: "c1", Name: "f"}, {Name: "g"}}},
		{Role: message.Tool, CallID: "call-3", Name: "g", Text: "three"},
		{Role: message.Tool, CallID: "c1", Name: "f", Text: "one"},
		{Role: message.User, Text: "Well?"},
		{Role: message.Tool, CallID: "c1", Name: "f"},
		{Role: message.Tool, CallID: "c1", Name: "f", Text: "again"},
		{Role: message.Tool, CallID: "c1", Name: "f", Text: "wrong", IsError: true},
	}
	all := ordered(Config{}, said)
	require.Len(t, all, 4)
	var got []string
	for _, c := range all[0].calls {
		got = append(got, c.ID+" "+c.Name+" "+answer(c))
	}
	assert.Equal(t, []string{"c1 f one", "call-1 f (empty)", "call-2 g three"}, got)
	got = nil
	for _, u := range all[1:] {
		got = append(got, string(u.Role)+" "+u.Text)
	}
	assert.Equal(t, []string{"user Well?", "user Result of f: again", "user Result of f: wrong"}, got)
}

// Mistral only accepts ids of nine letters and digits. Its own go back unchanged.
func TestMistralsIds(t *testing.T) {
	var said []message.Message
	for _, id := range []string{"call_VrtIe6Ngj9pFHcIGCiIp5O0R", "", "D681PevKs", "D681PevKs"} {
		said = append(said,
			message.Message{Role: message.Assistant, Calls: []message.Call{{ID: id, Name: "get", Arguments: "{}"}}},
			message.Message{Role: message.Tool, CallID: id, Name: "get", Text: "1"})
	}
	var ids []string
	for _, turn := range ordered(Config{Provider: "Mistral"}, said) {
		for _, c := range turn.calls {
			assert.Equal(t, "1", c.Text)
			ids = append(ids, c.ID)
		}
	}
	assert.Equal(t, []string{"000000001", "000000002", "D681PevKs", "000000003"}, ids)
}
