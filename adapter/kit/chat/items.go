package chat

import (
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
	Items []json.RawMessage `json:"items"`
	// Custom are the custom tools of ours that are called among them.
	Custom []string `json:"custom,omitempty"`
}

// keepItems encodes the items of a reply; it is empty if text and calls say it all.
func keepItems(by kit.Origin, items []json.RawMessage, isOurs func(item) bool) string {
	if !telling(items) {
		return ""
	}
	k := keptItems{Origin: by, Items: items}
	for _, raw := range items {
		if item := readItem(raw); item.Type == customCall && isOurs(item) {
			k.Custom = append(k.Custom, bareName(item.Name))
		}
	}
	return kit.KeepOpaque(k)
}

// telling reports whether items hold more than a text followed by calls.
func telling(items []json.RawMessage) bool {
	called, texts := false, 0
	for _, raw := range items {
		item := readItem(raw)
		switch item.Type {
		case "function_call":
			if called = true; item.Namespace != "" || item.caller() != nil {
				return true
			}
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

// items returns the kept items of a turn, under the current ids of its calls. It returns nil if there are
// none of this origin, or if the turn has changed since. Reasoning that is neither stored, nor encrypted,
// nor plain text (as of DeepSeek and gpt-oss) would be refused, and so would the items that depend on it.
func (m *Model) items(t turn) []json.RawMessage {
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
	items := slices.Clone(k.Items)
	for i, raw := range items {
		item := readItem(raw)
		if item.Type == "reasoning" && item.EncryptedContent == "" && len(item.Content) == 0 && !m.cfg.Store {
			return nil
		}
		if !isOurs(item) {
			continue
		}
		c, was := t.calls[n], said.calls[n]
		if was.ID != c.Made.ID || was.Arguments != c.Made.Arguments || safeName(bareName(was.Name)) != c.Name {
			return nil
		}
		o, _ := kit.ReadObject(raw)
		if bareName(item.Name) != item.Name {
			o = o.With("name", kit.Quote(c.Name))
		}
		items[i] = o.With("call_id", kit.Quote(c.ID)).JSON()
		n++
	}
	return items
}

// said is the content of output items.
type said struct {
	text, refusal, thinking string
	calls                   []message.Call
}

// readItems reads output items. What a model says to itself while it works (phase commentary) is not part
// of its text. Tools that the API ran itself (web_search_call and others) are no calls of ours.
func readItems(items []json.RawMessage, isOurs func(item) bool) said {
	var s said
	var texts, thoughts []string
	for _, raw := range items {
		item := readItem(raw)
		switch {
		case item.Type == "reasoning":
			if t := thoughtsOf(item); t != "" {
				thoughts = append(thoughts, t)
			}
		case isOurs(item):
			s.calls = append(s.calls, message.Call{ID: item.CallID, Name: item.Name,
				Arguments: item.arguments()})
		case item.Type == "message" && item.Phase != commentary:
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
func waiting(items []json.RawMessage, isOurs func(item) bool) string {
	var all []item
	answered := map[string]bool{}
	for _, raw := range items {
		item := readItem(raw)
		all = append(all, item)
		answered[item.CallID] = answered[item.CallID] ||
			item.CallID != "" && strings.HasSuffix(item.Type, "_output")
	}
	n := slices.IndexFunc(all, func(i item) bool {
		isClients := slices.Contains(clientCalls, i.Type) || i.Type == "tool_search_call" && i.Execution == "client"
		return isClients && !answered[i.CallID]
	})
	if last := len(all) - 1; n < 0 && last >= 0 && all[last].Type == customCall && !isOurs(all[last]) {
		n = last
	}
	if n < 0 {
		return ""
	}
	return all[n].Type
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
func madeIn(items []json.RawMessage) (made map[string]item) {
	for _, raw := range items {
		if item := readItem(raw); item.isOurs(func(string) bool { return true }) {
			set(&made, item.CallID, item)
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

// readItem reads one output item; the zero item if raw is none.
func readItem(raw json.RawMessage) (i item) {
	_ = json.Unmarshal(raw, &i) // what cannot be read is not said
	return i
}
