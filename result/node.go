package result

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// node is a JSON value in canonical form, of which objects are taken apart only where somebody looks into them.
type node struct {
	raw  json.RawMessage
	kids map[string]*node // not nil: an object, whose raw is out of date
}

// kindOf is the kind of a canonical JSON value. Numbers are all Number.
func kindOf(v json.RawMessage) fault.Kind {
	if len(v) == 0 {
		return ""
	}
	switch v[0] {
	case '{':
		return fault.Object
	case '[':
		return fault.Array
	case '"':
		return fault.String
	case 't', 'f':
		return fault.Boolean
	case 'n':
		return fault.Null
	}
	return fault.Number
}

func membersOf(v json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	_ = canon.Unmarshal(v, &members)
	return members
}

func itemsOf(v json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	_ = canon.Unmarshal(v, &items)
	return items
}

func sortedNames[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// open takes an object apart; false for what is none.
func (n *node) open() bool {
	if n.kids == nil && kindOf(n.raw) == fault.Object {
		members := membersOf(n.raw)
		n.kids = make(map[string]*node, len(members))
		for _, name := range sortedNames(members) {
			n.kids[name] = &node{raw: members[name]}
		}
	}
	return n.kids != nil
}

// get is the value at a pointer; nil where there is none.
func (n *node) get(pointer string) json.RawMessage {
	for _, name := range steps(pointer) {
		if !n.open() || n.kids[name] == nil {
			return nil
		}
		n = n.kids[name]
	}
	if n.kids != nil {
		return n.render(nil)
	}
	return n.raw
}

// put sets the value at a pointer, and makes the objects on the way. Nothing happens where something else is in the way.
func (n *node) put(pointer string, v json.RawMessage) {
	path := steps(pointer)
	for i, name := range path {
		if !n.open() {
			return
		}
		next := n.kids[name]
		switch {
		case i == len(path)-1:
			n.kids[name] = &node{raw: v}
			return
		case next == nil:
			next = &node{kids: map[string]*node{}}
			n.kids[name] = next
		}
		n = next
	}
}

// render writes the value.
func (n *node) render(b []byte) json.RawMessage {
	if n.kids == nil {
		return append(b, n.raw...)
	}
	b = append(b, '{')
	for i, name := range sortedNames(n.kids) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, quote(name)...), ':')
		b = n.kids[name].render(b)
	}
	return append(b, '}')
}

func renderList(items []json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	return append(b, ']')
}

// quote writes a text as JSON; bytes that are no UTF-8 become U+FFFD.
func quote(s string) json.RawMessage {
	b, err := canon.Marshal(canon.UTF8(s))
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}

// Escapes of RFC 6901.
var (
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
)

func steps(pointer string) []string {
	path := strings.Split(pointer, "/")[1:]
	for i, s := range path {
		path[i] = pointerUnescape.Replace(s)
	}
	return path
}
