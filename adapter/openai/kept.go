package openai

import (
	"encoding/json"
	"slices"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// chatAdapter names the form of what [Model] keeps.
const chatAdapter = "retake/openai/chat"

// kept is what a server wants back of a reply beside OpenAI's own members: message.Reply.Opaque of a [Model].
type kept struct {
	Adapter string                       `json:"adapter"`
	Message map[string]json.RawMessage   `json:"message,omitempty"`
	Calls   []map[string]json.RawMessage `json:"calls,omitempty"`
}

// readKept reads what was kept, and of that what is to be echoed. What another adapter wrote is nothing.
func readKept(opaque string, echo []string) kept {
	var k kept
	if opaque == "" || json.Unmarshal([]byte(opaque), &k) != nil || k.Adapter != chatAdapter {
		return kept{}
	}
	only := func(m map[string]json.RawMessage) {
		for name := range m {
			if !slices.Contains(echo, name) {
				delete(m, name)
			}
		}
	}
	only(k.Message)
	for _, c := range k.Calls {
		only(c)
	}
	return k
}

// opaque is k as it goes into a reply; empty where there is nothing to keep.
func (k kept) opaque() string {
	if len(k.Message) == 0 && !slices.ContainsFunc(k.Calls, func(c map[string]json.RawMessage) bool { return len(c) > 0 }) {
		return ""
	}
	k.Adapter = chatAdapter
	doc, err := json.Marshal(k)
	if err != nil {
		return ""
	}
	return string(doc)
}

// ofCall is what was kept of call n, for the SDK.
func (k kept) ofCall(n int) map[string]any {
	if n >= len(k.Calls) {
		return nil
	}
	return asAny(k.Calls[n])
}

func asAny(m map[string]json.RawMessage) map[string]any {
	if len(m) == 0 {
		return nil
	}
	all := make(map[string]any, len(m))
	for name, v := range m {
		all[name] = v
	}
	return all
}

// pick is what of a JSON object is to be kept; nil where nothing is.
func pick(doc string, echo []string) map[string]json.RawMessage {
	var all, m map[string]json.RawMessage
	if len(echo) == 0 || json.Unmarshal([]byte(doc), &all) != nil {
		return nil
	}
	for _, name := range echo {
		if v := all[name]; v != nil && string(v) != "null" {
			m = grown(m, name, v)
		}
	}
	return m
}

// grown is m with one more piece of a member: a stream's strings are joined and its lists appended; of anything else the last
// piece counts.
func grown(m map[string]json.RawMessage, name string, piece json.RawMessage) map[string]json.RawMessage {
	if m == nil {
		m = map[string]json.RawMessage{}
	}
	var had, more string
	hadList, moreList := wire.Items(m[name]), wire.Items(piece)
	switch {
	case m[name] == nil:
	case json.Unmarshal(m[name], &had) == nil && json.Unmarshal(piece, &more) == nil:
		piece = wire.Quote(had + more)
	case hadList != nil && moreList != nil:
		piece = wire.List(append(hadList, moreList...)...)
	}
	m[name] = piece
	return m
}
