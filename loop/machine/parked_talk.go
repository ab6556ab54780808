package machine

import (
	"github.com/retake-go/retake/internal/packed"
	"github.com/retake-go/retake/message"
)

// maxTalk is how many messages are kept as texts: all are made anew afterwards.
const maxTalk = 16

// isTalk reports whether a transcript is a few messages of a role and a text.
func isTalk(t message.Transcript) bool {
	if t.Len() > maxTalk {
		return false
	}
	for _, m := range t.All() {
		if m.Calls != nil || m.CallID != "" || m.Name != "" || m.IsError || m.Opaque != "" {
			return false
		}
	}
	return true
}

// layTalk lays who said the texts that it returns.
func layTalk(r *packed.Room, t message.Transcript) []string {
	texts := make([]string, 0, t.Len())
	for _, m := range t.All() {
		layRole(r, &m)
		texts = append(texts, m.Text)
	}
	return texts
}

// talk is the transcript of texts, whose roles were laid.
func talk(r *packed.Room, texts []string) (t message.Transcript) {
	for _, text := range texts {
		var m *message.Message
		t, m = t.Next(len(texts) + 1) // what it waits for is mostly said next
		m.Text = text
		layRole(r, m)
	}
	return t
}

func layRole(r *packed.Room, m *message.Message) {
	packed.Word(r, &m.Role, message.User, message.Assistant, message.System, message.Tool)
}
