package genai

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// opaque is the part of a message that only the API reads: the layout of its parts, each with its thought
// signature. Parts that are neither text nor a call of ours (such as code that the API ran) stay
// unchanged.
type opaque struct {
	kit.Origin
	Parts []part `json:"parts"`
}

func origin(model string) kit.Origin { return kit.Origin{Adapter: name, Model: model} }

// part is one part: Raw as it came, or the Call-th call, from 1, or else the next Text bytes of the
// message's text.
type part struct {
	Raw       json.RawMessage `json:"raw,omitempty"`
	Call      int             `json:"call,omitempty"`
	Text      int             `json:"text,omitempty"`
	Signature string          `json:"signature,omitempty"`
}

// text encodes o; it is empty if there is nothing to keep.
func (o opaque) text() string {
	kept := false
	for _, p := range o.Parts {
		kept = kept || len(p.Raw) > 0 || p.Signature != ""
	}
	if !kept {
		return ""
	}
	return kit.KeepOpaque(o)
}

// layout returns the parts of a message in the order in which they go back. It ignores what another
// adapter or another model wrote, and what does not fit the message. It marks the first call as unchecked if
// the model requires signatures and the call has none.
func layout(m message.Message, model string) []part {
	var o opaque
	parts := []part{{Text: len(m.Text)}}
	for n := range m.Calls {
		parts = append(parts, part{Call: n + 1})
	}
	if kit.ReadOpaque(m, origin(model), &o) && fits(o.Parts, m) {
		parts = o.Parts
	}
	n := slices.IndexFunc(parts, func(p part) bool { return p.Call == 1 })
	if n >= 0 && parts[n].Signature == "" && kit.NeedsSignature(model) {
		parts[n].Signature = kit.UncheckedSignature
	}
	return parts
}

// fits reports whether the parts cover the message, each piece once and in order.
func fits(parts []part, m message.Message) bool {
	text, call := 0, 0
	for _, p := range parts {
		switch {
		case len(p.Raw) > 0 && !bytes.HasPrefix(p.Raw, []byte("{")), p.Text < 0, p.Text > len(m.Text)-text,
			p.Call != 0 && p.Call != call+1:
			return false
		}
		text += p.Text
		if p.Call > 0 {
			call++
		}
	}
	return text == len(m.Text) && call == len(m.Calls)
}
