package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/responses"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/message"
)

// keptItems is message.Reply.Opaque of a [Responses]: the output items of a reply that says more than text
// and calls.
type keptItems struct {
	origin
	Items []json.RawMessage `json:"items"`
}

// opaque keeps the items of a reply; empty where text and calls say it all.
func (o origin) opaque(items []json.RawMessage) string {
	if !telling(items) {
		return ""
	}
	doc, err := json.Marshal(keptItems{o, items})
	if err != nil {
		return ""
	}
	return string(doc)
}

// telling reports whether items say more than a text followed by calls.
func telling(items []json.RawMessage) bool {
	called, texts := false, 0
	for _, raw := range items {
		item := readItem(raw)
		switch item.Type {
		case "function_call":
			called = true
		case "message":
			texts++
			if called || texts > 1 || item.Phase != "" {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// items are those that were kept of a turn, under the ids that its calls go by now; nil where there are none
// of this origin, or where they are not what the turn says. Reasoning that is not stored, and neither
// encrypted nor in plain text (DeepSeek, gpt-oss), would be refused, and so would the items that came of it.
func (o origin) items(t turn, stored bool) []json.RawMessage {
	var k keptItems
	if t.Opaque == "" || json.Unmarshal([]byte(t.Opaque), &k) != nil || k.origin != o {
		return nil
	}
	said := readItems(k.Items)
	if cmpText(said) != t.Text || len(said.calls) != len(t.calls) {
		return nil
	}
	wire.NameCalls(said.calls)
	n := 0
	items := slices.Clone(k.Items)
	for i, raw := range items {
		item := readItem(raw)
		if item.Type == "reasoning" && item.EncryptedContent == "" && len(item.Content) == 0 && !stored {
			return nil
		}
		if item.Type != "function_call" {
			continue
		}
		c, was := t.calls[n], said.calls[n]
		if was.ID != c.Made.ID || was.Arguments != c.Made.Arguments || safeName(was.Name) != c.Name {
			return nil
		}
		o, _ := wire.ReadObject(raw)
		items[i] = o.With("call_id", wire.Quote(c.ID)).JSON()
		n++
	}
	return items
}

// cmpText is the text that the core keeps of a reply.
func cmpText(s said) string {
	if s.text == "" {
		return s.refusal
	}
	return s.text
}

// said is what output items say.
type said struct {
	text, refusal, thinking string
	calls                   []message.Call
}

// readItems reads output items. What a model says to itself while it works (phase commentary) is no part of
// its text.
func readItems(items []json.RawMessage) said {
	var s said
	var texts, thoughts []string
	for _, raw := range items {
		item := readItem(raw)
		switch {
		case item.Type == "reasoning":
			if t := thoughtsOf(item); t != "" {
				thoughts = append(thoughts, t)
			}
		case item.Type == "function_call":
			s.calls = append(s.calls, message.Call{ID: item.CallID, Name: item.Name, Arguments: item.Arguments.OfString})
		case item.Type == "message" && item.Phase != responses.ResponseOutputMessagePhaseCommentary:
			var text strings.Builder
			for _, c := range item.Content {
				text.WriteString(c.Text)
				s.refusal += c.Refusal
			}
			if text.Len() > 0 {
				texts = append(texts, text.String())
			}
		}
	}
	s.text, s.thinking = strings.Join(texts, betweenTexts), strings.Join(thoughts, betweenTexts)
	return s
}

// thoughtsOf is the text of a reasoning item: what was thought, or else its summary.
func thoughtsOf(item responses.ResponseOutputItemUnion) string {
	var thought, summary []string
	for _, c := range item.Content {
		thought = append(thought, c.Text)
	}
	for _, s := range item.Summary {
		summary = append(summary, s.Text)
	}
	return cmp.Or(strings.Join(thought, ""), strings.Join(summary, betweenTexts))
}

// betweenTexts stands between the texts of several messages of a reply, and between its thoughts.
const betweenTexts = "\n\n"

// readItem reads one output item; of what is none, nothing.
func readItem(raw json.RawMessage) (item responses.ResponseOutputItemUnion) {
	_ = json.Unmarshal(raw, &item)
	return item
}
