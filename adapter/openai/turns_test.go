package openai

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

var (
	goodID   = regexp.MustCompile(`^[!-~]{1,40}$`)
	goodName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

func drawMessage(t *rapid.T) message.Message {
	ids := rapid.SampledFrom([]string{"", "c1", "call-1", "call-2", "c 1", strings.Repeat("x", 41)})
	names := rapid.SampledFrom([]string{"f", "a.b", "", "ü", strings.Repeat("y", 70)})
	texts := rapid.SampledFrom([]string{"", "one", "two"})
	m := message.Message{
		Role: rapid.SampledFrom([]message.Role{message.System, message.User, message.Assistant, message.Tool, "odd"}).Draw(t, "role"),
		Text: texts.Draw(t, "text"),
	}
	switch m.Role {
	case message.Tool:
		m.CallID, m.Name, m.IsError = ids.Draw(t, "id"), names.Draw(t, "name"), rapid.Bool().Draw(t, "error")
	case message.Assistant:
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.Calls = append(m.Calls, message.Call{ID: ids.Draw(t, "id"), Name: names.Draw(t, "name"), Arguments: texts.Draw(t, "arguments")})
		}
	}
	return m
}

// ordered is a transcript in the order of the API.
func ordered(cfg Config, said []message.Message) []turn {
	c := caller{cfg, cfg.quirks()}
	return turns(said, c.rules(chatAdapter, said))
}

func TestAnyTranscriptBecomesAConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var transcript []message.Message
		answers := 0
		for range rapid.IntRange(0, 12).Draw(t, "messages") {
			m := drawMessage(t)
			transcript = append(transcript, m)
			if m.Role == message.Tool {
				answers++
			}
		}
		seen := map[string]bool{}
		others, kept := 0, 0
		for _, u := range ordered(Config{}, transcript) {
			require.False(t, u.Text == "" && len(u.calls) == 0, "an empty turn")
			if u.Role != message.System {
				others++
			}
			for _, c := range u.calls {
				require.Regexp(t, goodID, c.ID)
				require.Regexp(t, goodName, c.Name)
				require.NotEmpty(t, answer(c))
				require.False(t, seen[c.ID], "two calls are %s", c.ID)
				seen[c.ID] = true
				if c.Text != kit.NotRun {
					kept++
				}
			}
		}
		require.Positive(t, others)
		require.LessOrEqual(t, kept, answers)
	})
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
