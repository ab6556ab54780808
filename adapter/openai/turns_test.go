package openai

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

func TestAnyTranscriptBecomesAConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var transcript message.Transcript
		answers := 0
		for range rapid.IntRange(0, 12).Draw(t, "messages") {
			m := drawMessage(t)
			transcript = transcript.Append(m)
			if m.Role == message.Tool {
				answers++
			}
		}
		seen := map[string]bool{}
		others, kept := 0, 0
		for _, u := range turns(transcript) {
			require.False(t, u.text == "" && len(u.calls) == 0, "an empty turn")
			if u.role != message.System {
				others++
			}
			for _, c := range u.calls {
				require.Regexp(t, goodID, c.id)
				require.Regexp(t, goodName, c.name)
				require.NotEmpty(t, c.answer)
				require.False(t, seen[c.id], "two calls are %s", c.id)
				seen[c.id] = true
				if c.answered {
					kept++
				}
			}
		}
		require.Positive(t, others)
		require.LessOrEqual(t, kept, answers)
	})
}

func TestAnswersFindTheirCalls(t *testing.T) {
	var said message.Transcript
	said = said.Append(
		message.Message{Role: message.Assistant, Calls: []message.Call{{ID: "c1", Name: "f"}, {ID: "c1", Name: "f"}, {Name: "g"}}},
		message.Message{Role: message.Tool, CallID: "call-3", Name: "g", Text: "three"},
		message.Message{Role: message.Tool, CallID: "c1", Name: "f", Text: "one"},
		message.Message{Role: message.User, Text: "Well?"},
		message.Message{Role: message.Tool, CallID: "c1", Name: "f"},
		message.Message{Role: message.Tool, CallID: "c1", Name: "f", Text: "again"},
		message.Message{Role: message.Tool, CallID: "c1", Name: "f", Text: "wrong", IsError: true},
	)
	all := turns(said)
	require.Len(t, all, 4)
	assert.Equal(t, []call{
		{own: "c1", id: "c1", name: "f", answer: "one", answered: true},
		{own: "c1", id: "call-2", name: "f", answer: emptyWords, answered: true},
		{own: "call-3", id: "call-3", name: "g", answer: "three", answered: true},
	}, all[0].calls)
	assert.Equal(t, []turn{{role: message.User, text: "Well?"}, {role: message.User, text: "Result of f: again"}, {role: message.User, text: "wrong"}}, all[1:])
}
