package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// keptItems is message.Reply.Opaque under [Responses]: the output items of a reply that has more than text
// and calls.
type keptItems struct {
	kit.Origin
	Items []output `json:"items"`
	// Custom are the custom tools of ours that are called among them.
	Custom []string `json:"custom,omitempty"`
}

// keepItems encodes the items of a reply; it is empty if text and calls say it all.
func keepItems(by kit.Origin, items []output, isOurs func(item) bool) string {
	if !telling(items) {
		return ""
	}
	k := keptItems{Origin: by, Items: items}
	for _, o := range items {
		if o.Type == customCall && isOurs(o.item) {
			k.Custom = append(k.Custom, bareName(o.Name))
		}
	}
	return kit.KeepOpaque(k)
}

// telling reports whether items hold more than a text followed by calls.
func telling(items []output) bool {
	called, texts := false, 0
	for _, o := range items {
		switch o.Type {
		case "function_call":
			if called = true; o.Namespace != "" || o.caller() != nil {
				return true
			}
		case "message":
			texts++
			if called || texts > 1 || o.Phase != "" {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// items returns the kept items of a turn, under the current ids of its calls. It returns nil if there are
// none of this origin, or if the turn has changed since. Reasoning that is neither stored, nor encrypted,
// nor plain text (as of DeepSeek and gpt-oss) would be refused, and so would the items that depend on it.
func (m *Model) items(t turn) []output {
	var k keptItems
	if !kit.ReadOpaque(t.Message, m.origin(), &k) {
		return nil
	}
	isOurs := func(i item) bool {
		return i.isOurs(func(tool string) bool { return slices.Contains(k.Custom, tool) })
	}
	said := readItems(k.Items, isOurs)
	// The core keeps the text of a reply, or else its refusal.
	if cmp.Or(said.text, said.refusal) != t.Text || len(said.calls) != len(t.calls) {
		return nil
	}
	kit.NameCalls(said.calls)
	n := 0
	for i := range k.Items {
		o := &k.Items[i]
		if o.Type == "reasoning" && o.EncryptedContent == "" && len(o.Content) == 0 && !m.cfg.Store {
			return nil
		}
		o.raw = withoutNulls(o.raw)
		if !isOurs(o.item) {
			continue
		}
		c, was := t.calls[n], said.calls[n]
		if was.ID != c.Made.ID || was.Arguments != c.Made.Arguments || safeName(bareName(was.Name)) != c.Name {
			return nil
		}
		sent, _ := kit.ReadObject(o.raw)
		if bareName(o.Name) != o.Name {
			sent = sent.With("name", kit.Quote(c.Name))
		}
		o.CallID, o.raw = c.ID, sent.With("call_id", kit.Quote(c.ID)).JSON()
		n++
	}
	return k.Items
}

// withoutNulls returns an item without the members that the API wants to be left out in place of null.
func withoutNulls(raw json.RawMessage) json.RawMessage {
	o, _ := kit.ReadObject(raw)
	for _, name := range []string{"status", "content"} {
		if string(o.Get(name)) == "null" {
			o = o.Without(name)
			raw = o.JSON()
		}
	}
	return raw
}

// said is the content of output items.
type said struct {
	text, refusal, thinking string
	calls                   []message.Call
}

// readItems reads output items. What a model says to itself while it works (phase commentary) is not part
// of its text. Tools that the API ran itself (web_search_call and others) are no calls of ours.
func readItems(items []output, isOurs func(item) bool) said {
	var s said
	var texts, thoughts []string
	for _, o := range items {
		switch {
		case o.Type == "reasoning":
			if t := thoughtsOf(o.item); t != "" {
				thoughts = append(thoughts, t)
			}
		case isOurs(o.item):
			s.calls = append(s.calls, message.Call{ID: o.CallID, Name: o.Name, Arguments: o.arguments()})
		case o.Type == "message" && o.Phase != commentary:
			var text strings.Builder
			for _, c := range o.Content {
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

// thoughtsOf returns the thoughts of a reasoning item, or else its summary.
func thoughtsOf(item item) string {
	var thought, summary []string
	for _, c := range item.Content {
		thought = append(thought, c.Text)
	}
	for _, s := range item.Summary {
		summary = append(summary, s.Text)
	}
	return cmp.Or(strings.Join(thought, ""), strings.Join(summary, betweenTexts))
}

// betweenTexts separates the texts of several messages of a reply, and its thoughts.
const betweenTexts = "\n\n"

// commentary is the phase of what a model says to itself while it works.
const commentary = "commentary"

// output is an output item as it came, and what is used of it. What cannot be read is not said.
type output struct {
	item
	raw json.RawMessage
}

func (o *output) UnmarshalJSON(raw []byte) error {
	o.raw = bytes.Clone(raw)
	_ = json.Unmarshal(raw, &o.item)
	return nil
}

// MarshalJSON writes the item as it came.
func (o output) MarshalJSON() ([]byte, error) { return o.raw, nil }

// item is the part of an output item that is used.
type item struct {
	Type, Phase, Name string
	Status            string
	Arguments         arguments
	Input             arguments
	Execution         string
	CallID            string                  `json:"call_id"`
	EncryptedContent  string                  `json:"encrypted_content"`
	Content           contents                `json:"content"`
	Summary           []struct{ Text string } `json:"summary"`
	// Namespace is where the function of a call is, Caller the program that made it.
	Namespace string          `json:"namespace"`
	Caller    json.RawMessage `json:"caller"`
}

// customCall is a call of a custom tool, whose arguments are a text of any form.
const customCall = "custom_tool_call"

// clientCalls are the types of items that wait for a client which shows, runs or approves something.
var clientCalls = []string{"mcp_approval_request", "local_shell_call", "shell_call", "apply_patch_call",
	"computer_call"}

// waiting returns the type of an item that waits for such a client; empty if there is none. Some run at the
// API: then their outputs are among the items. A custom tool that we do not have ran there if more follows.
func waiting(items []output, isOurs func(item) bool) string {
	answered := map[string]bool{}
	for _, o := range items {
		answered[o.CallID] = answered[o.CallID] || o.CallID != "" && strings.HasSuffix(o.Type, "_output")
	}
	n := slices.IndexFunc(items, func(o output) bool {
		isClients := slices.Contains(clientCalls, o.Type) || o.Type == "tool_search_call" && o.Execution == "client"
		return isClients && !answered[o.CallID]
	})
	if last := len(items) - 1; n < 0 && last >= 0 && items[last].Type == customCall && !isOurs(items[last].item) {
		n = last
	}
	if n < 0 {
		return ""
	}
	return items[n].Type
}

// isHalf reports whether the last message, or a call of ours, says that it is incomplete.
func isHalf(items []output, isOurs func(item) bool) bool {
	for n, o := range items {
		isAnswer := o.Type == "message" && n == len(items)-1
		if o.Status == "incomplete" && (isAnswer || isOurs(o.item)) {
			return true
		}
	}
	return false
}

// isOurs reports whether an item is a call of ours. A call of a custom tool is ours where we have the tool:
// xAI reports calls that it made itself in the same form.
func (i item) isOurs(has func(tool string) bool) bool {
	return i.Type == "function_call" || i.Type == customCall && has(bareName(i.Name))
}

// arguments returns those of a call.
func (i item) arguments() string {
	if i.Type == customCall {
		return string(i.Input)
	}
	return string(i.Arguments)
}

// caller returns the program that made a call; nil if the model made it itself.
func (i item) caller() json.RawMessage {
	if by, _ := kit.ReadObject(i.Caller); by.Text("type") == "" || by.Text("type") == "direct" {
		return nil
	}
	return i.Caller
}

// madeIn returns the calls among items by their ids.
func madeIn(items []output) (made map[string]item) {
	for _, o := range items {
		if o.isOurs(func(string) bool { return true }) {
			set(&made, o.CallID, o.item)
		}
	}
	return made
}

// arguments are those of a call. Some servers send an object in place of its text.
type arguments string

func (a *arguments) UnmarshalJSON(raw []byte) error {
	*a = arguments(kit.ArgumentText(raw))
	return nil
}

// contents are those of a message. Some servers send a text in place of the list.
type contents []struct{ Text, Refusal string }

func (c *contents) UnmarshalJSON(raw []byte) error {
	if text, isText := kit.ReadText(raw); isText {
		*c = contents{{Text: text}}
		return nil
	}
	return json.Unmarshal(raw, (*[]struct{ Text, Refusal string })(c))
}
