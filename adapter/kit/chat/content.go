package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
)

// This file reads what a message, or a piece of one, says.

// textParts are the types of parts that are text.
var textParts = []string{"", "text", "output_text", "summary_text"}

// textOf returns the text of content: a string, or the text parts of a list, or one of them alone. Thoughts
// are no part of the answer.
func textOf(raw json.RawMessage) string {
	if text, ok := kit.ReadText(raw); ok {
		return text
	}
	var b strings.Builder
	for _, part := range objects(raw) {
		if slices.Contains(textParts, part.Text("type")) {
			b.WriteString(part.Text("text"))
		}
	}
	return b.String()
}

// otherParts are the types of parts that are no text.
var otherParts = []string{"thinking", "reasoning", "refusal", "image_url"}

// contentOf returns the text of the content of a message. An object that is no part is the answer itself:
// some gateways send it in place of its text.
func contentOf(raw json.RawMessage) string {
	one, alone := kit.ReadObject(raw)
	kind := one.Text("type")
	isPart := kind != "" && slices.Contains(textParts, kind) || slices.Contains(otherParts, kind) ||
		len(one) == 1 && one.Get("text") != nil
	if alone && len(one) > 0 && !isPart {
		return string(raw)
	}
	return textOf(raw)
}

// refusalIn returns the refusal among the parts of the content.
func refusalIn(from kit.Object) (refusal string) {
	for _, part := range objects(from.Get("content")) {
		if part.Text("type") == "refusal" {
			refusal += part.Text("refusal")
		}
	}
	return refusal
}

// objects returns the objects of a list, or the only one.
func objects(raw json.RawMessage) (all []kit.Object) {
	if one, alone := kit.ReadObject(raw); alone {
		return []kit.Object{one}
	}
	return listed(raw)
}

// listed returns the objects of a list. An item that is no object is an empty one.
func listed(raw json.RawMessage) (all []kit.Object) {
	for _, item := range kit.Items(raw) {
		o, _ := kit.ReadObject(item)
		all = append(all, o)
	}
	return all
}

// thoughtNames are the members with thoughts: of DeepSeek; of OpenRouter and Groq; of GitHub Copilot.
var thoughtNames = []string{"reasoning_content", "reasoning", "reasoning_text"}

// thoughtIn returns the first member with thoughts.
func thoughtIn(from kit.Object) (said json.RawMessage) {
	for _, name := range thoughtNames {
		if said = from.Get(name); kit.Text(said) != "" {
			break
		}
	}
	return said
}

// The tags around a thought in a text.
const thoughtStart, thoughtEnd = "<thought>", "</thought>"

// divide takes the thought out of the text of a message, or of a piece of one, and collects it: Google's
// server writes it in tags, and flags it but for the last one.
func (p *chatParts) divide(from kit.Object, text string) (said, thought string) {
	flagged := isFlagged(from)
	if text == "" || !flagged && !p.inTags {
		return text, ""
	}
	thought, said, ended := strings.Cut(strings.TrimPrefix(text, thoughtStart), thoughtEnd)
	if !flagged && !ended {
		thought, said = "", text
	}
	p.inTags = flagged && !ended
	p.thinking.WriteString(thought)
	return said, thought
}

// isFlagged reports whether the text of a message, or of a piece of one, is a thought.
func isFlagged(from kit.Object) bool {
	return string(from.Object("extra_content").Object("google").Get("thought")) == "true"
}

// unflagged returns a message, or a piece of one, without a flag that is all that Google says beside it: the
// thought does not go back.
func unflagged(from kit.Object) kit.Object {
	if isFlagged(from) && len(from.Object("extra_content").Object("google")) == 1 {
		return from.Without("extra_content")
	}
	return from
}
