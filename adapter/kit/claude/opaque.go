package claude

import (
	"encoding/json"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// name identifies this adapter in errors and in the opaque part of a message.
const name = "anthropic"

// opaque is the part of a message that only the API reads: the blocks that are neither text nor calls of
// ours (thoughts with their signatures, tools that the API ran itself, and their results), unchanged, with
// their place among the other blocks.
type opaque struct {
	kit.Origin
	// Container is the API's container in which code waits for the results of the calls; empty if none
	// does.
	Container string `json:"container,omitempty"`
	// Prefix is what the thoughts are bound to: see [conversation.bind]. It is empty if they are not bound.
	Prefix string `json:"prefix,omitempty"`
	Blocks []part `json:"blocks"`
}

func origin(model string) kit.Origin { return kit.Origin{Adapter: name, Model: model} }

// part is one block: Raw as it came, or the next Text bytes of the message's text, or its Call-th call,
// from 1. An empty text is a part without any of these.
type part struct {
	Raw  json.RawMessage `json:"raw,omitempty"`
	Text int             `json:"text,omitempty"`
	Call int             `json:"call,omitempty"`
	// Citations are the citations of the text, Caller the code that made the call. Both may be empty.
	Citations json.RawMessage `json:"citations,omitempty"`
	Caller    json.RawMessage `json:"caller,omitempty"`
}

// text encodes o; it is empty if there is nothing to keep.
func (o opaque) text() string {
	kept := false
	for _, p := range o.Blocks {
		kept = kept || len(p.Raw)+len(p.Citations)+len(p.Caller) > 0
	}
	if !kept {
		return ""
	}
	return kit.KeepOpaque(o)
}

// kept decodes the opaque part of a message. It ignores what another adapter or another model wrote.
func kept(m message.Message, model string) opaque {
	var o opaque
	if !kit.ReadOpaque(m, origin(model), &o) {
		return opaque{}
	}
	return o
}

// layout returns the parts of a message in the order in which they go back. If the message has changed
// since, the raw blocks go first.
func (o opaque) layout(m message.Message) []part {
	if fits(o.Blocks, m) {
		return o.Blocks
	}
	var parts []part
	for _, p := range o.Blocks {
		if isBlock(p.Raw) {
			parts = append(parts, part{Raw: p.Raw})
		}
	}
	parts = append(parts, part{Text: len(m.Text)})
	for n := range m.Calls {
		parts = append(parts, part{Call: n + 1})
	}
	return parts
}

// fits reports whether the parts cover the message, each piece once and in order.
func fits(parts []part, m message.Message) bool {
	text, call := 0, 0
	for _, p := range parts {
		switch {
		case len(p.Raw) > 0:
			if !isBlock(p.Raw) || p.Text != 0 || p.Call != 0 {
				return false
			}
		case p.Call != 0:
			if call++; p.Call != call || p.Text != 0 {
				return false
			}
		case p.Text < 0 || p.Text > len(m.Text)-text:
			return false
		}
		text += p.Text
	}
	return len(parts) > 0 && text == len(m.Text) && call == len(m.Calls)
}

// isBlock reports whether a kept block is valid: an object with a type, in strict JSON.
func isBlock(raw json.RawMessage) bool {
	list, ok := kit.ReadObject(raw)
	return ok && list.Text("type") != "" && kit.IsStrict(raw)
}
