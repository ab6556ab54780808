package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// The formats of Opaque, by API.
const (
	chatAdapter      = "retake/openai/chat"
	responsesAdapter = "retake/openai/responses"
)

// origin identifies who wrote the kept data: another model or another server cannot read it.
func (m *Model) origin() kit.Origin {
	adapter := chatAdapter
	if m.cfg.API == Responses {
		adapter = responsesAdapter
	}
	return kit.Origin{Adapter: adapter, Provider: m.cfg.provider(), Model: m.cfg.Model}
}

// members are members of a JSON object.
type members = map[string]json.RawMessage

// kept is message.Reply.Opaque under [Chat]: the extra members that a server wants back.
type kept struct {
	kit.Origin
	// Thinking is what the model thought, if the server wants it as a part of the content, and Signature
	// that of the part.
	Thinking  string    `json:"thinking,omitempty"`
	Signature string    `json:"signature,omitempty"`
	Message   members   `json:"message,omitempty"`
	Calls     []members `json:"calls,omitempty"`
	// Custom are the places of the calls of custom tools.
	Custom []int `json:"custom,omitempty"`
	// OwnIDs is set if the calls have ids that only the server which gave them takes.
	OwnIDs bool `json:"own_ids,omitempty"`
}

// fill adds the members that a message with calls must have and that were not kept.
func (k *kept) fill(q Quirks) {
	for name, v := range q.FillMessage {
		if k.Message[name] == nil {
			set(&k.Message, name, v)
		}
	}
	for name, v := range q.FillCall {
		if slices.ContainsFunc(k.Calls, func(c members) bool { return c[name] != nil }) {
			continue
		}
		if len(k.Calls) == 0 {
			k.Calls = make([]members, 1)
		}
		set(&k.Calls[0], name, v)
	}
}

// readKept decodes the kept data of a message and drops the members that are not echoed. It returns nothing
// for data of another origin.
func (m *Model) readKept(of message.Message) (k kept) {
	if !kit.ReadOpaque(of, m.origin(), &k) {
		return kept{}
	}
	unasked := func(name string, _ json.RawMessage) bool { return !slices.Contains(m.echo, name) }
	maps.DeleteFunc(k.Message, unasked)
	for _, c := range k.Calls {
		maps.DeleteFunc(c, unasked)
	}
	return k
}

// opaque encodes k; it is empty if there is nothing to keep.
func (k kept) opaque() string {
	if k.Thinking == "" && len(k.Message)+len(k.Custom) == 0 && !k.OwnIDs && !slices.ContainsFunc(k.Calls,
		func(c members) bool { return len(c) > 0 }) {
		return ""
	}
	return kit.KeepOpaque(k)
}

// pieces are the members to keep, as they arrive: one piece of a whole reply, many of a stream.
type pieces map[string][]json.RawMessage

// pick adds the echoed members of a JSON object.
func (p *pieces) pick(from kit.Object, echo []string) {
	for _, name := range echo {
		if v := from.Get(name); v != nil && string(v) != "null" {
			set(p, name, append((*p)[name], v))
		}
	}
}

// join returns the members, each joined.
func (p pieces) join() members {
	m := make(members, len(p))
	for name, all := range p {
		m[name] = joined(all)
	}
	return m
}

// joined joins pieces: it concatenates texts and merges the items of lists. Of anything else it takes the
// last piece.
func joined(all []json.RawMessage) json.RawMessage {
	if len(all) == 1 {
		return all[0]
	}
	var text strings.Builder
	var list []json.RawMessage
	var read kit.Pieces
	texts, lists := true, true
	for _, piece := range all {
		_, isText := kit.ReadText(piece)
		items := kit.Items(piece)
		text.WriteString(read.Add(piece))
		list = append(list, items...)
		texts, lists = texts && isText, lists && items != nil
	}
	switch {
	case texts:
		return kit.Quote(text.String())
	case lists:
		return kit.List(merged(list)...)
	}
	return all[len(all)-1]
}

// growing are the members of an item whose pieces are concatenated. Of other members the last piece that
// is not empty counts.
var growing = []string{"text", "summary", "data", "thinking", "transcript"}

// merged joins the items of one index and type in a list (OpenRouter's reasoning_details), and the pieces of
// a thought up to the one with its signature (LiteLLM's thinking_blocks, which have no index).
func merged(list []json.RawMessage) []json.RawMessage {
	var keys itemKeys
	places := map[itemKey]int{}
	var whole []pieces
	var order [][]string
	var out []json.RawMessage
	for n, raw := range list {
		item, ok := kit.ReadObject(raw)
		k := keys.of(n, item)
		at, known := places[k]
		if !ok || k.index == "" || !known {
			at = len(out)
			out, whole, order = append(out, raw), append(whole, pieces{}), append(order, nil)
			if ok && k.index != "" {
				places[k] = at
			}
		}
		for _, m := range item {
			if whole[at][m.Name] == nil {
				order[at] = append(order[at], m.Name)
			} else if m.Name == "thinking" && item.Text("signature") != "" && sameText(joined(whole[at][m.Name]), m.Value) {
				continue // newer LiteLLM says the whole thought again beside its signature
			}
			whole[at].add(m)
		}
	}
	for n, members := range whole {
		if len(order[n]) == 0 {
			continue
		}
		var o kit.Object
		for _, name := range order[n] {
			o = append(o, kit.Field(name, joined(members[name])))
		}
		out[n] = o.JSON()
	}
	return out
}

// sameText reports whether both are the same text.
func sameText(a, b json.RawMessage) bool {
	x, ok := kit.ReadText(a)
	y, okay := kit.ReadText(b)
	return ok && okay && x == y
}

// itemKey is the same for all pieces of an item. Without an index an item has one piece.
type itemKey struct{ index, kind string }

// itemKeys finds keys.
type itemKeys struct {
	// thought is the index made for the thought that has begun; empty if none has.
	thought string
}

// of returns the key of the n-th piece.
func (k *itemKeys) of(n int, item kit.Object) itemKey {
	own := itemKey{string(item.Get("index")), item.Text("type")}
	if own.kind != "thinking" || own.index != "" {
		k.thought = ""
		return own
	}
	own.index = cmp.Or(k.thought, fmt.Sprintf("thought %d", n))
	if k.thought = own.index; item.Text("signature") != "" {
		k.thought = ""
	}
	return own
}

// add adds a piece of a member.
func (p pieces) add(m kit.Member) {
	had := p[m.Name]
	switch {
	case had == nil || string(had[0]) == "null":
		p[m.Name] = []json.RawMessage{m.Value}
	case string(m.Value) == "null" || string(m.Value) == `""`:
	case slices.Contains(growing, m.Name):
		p[m.Name] = append(had, m.Value)
	default:
		p[m.Name] = []json.RawMessage{m.Value}
	}
}
