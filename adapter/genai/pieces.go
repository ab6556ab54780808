package genai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// This file reads the arguments of calls that come in pieces, by a setting that the user added to the request
// (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#streaming-fc).

// partialArg is a piece: a value, or more of a text, and where it is ("$.rows[0].name").
type partialArg struct {
	Path   string          `json:"jsonPath"`
	Text   kit.Piece       `json:"stringValue"`
	Number json.RawMessage `json:"numberValue"`
	Bool   json.RawMessage `json:"boolValue"`
	Null   json.RawMessage `json:"nullValue"`
}

// inPieces reports whether a part is a piece of a call, or the end of one.
func (g *received) inPieces(p wirePart) bool {
	return p.Call != nil && (g.open != nil || p.Call.WillContinue || p.Call.PartialArgs != nil)
}

// piece adds a piece of a call. Only the first has a name.
func (g *received) piece(p wirePart, names map[string]string, tell func(loop.Delta)) error {
	switch {
	case (g.open == nil) == (p.Call.Name == ""):
		return errPieces
	case g.open == nil:
		g.open = &grown{}
		g.call(p, message.Call{ID: p.Call.ID}, names, tell)
	}
	n := len(g.calls) - 1
	for _, a := range p.Call.PartialArgs {
		at, err := g.open.at(a.Path)
		if err == nil {
			err = at.add(a)
		}
		if err != nil {
			return err
		}
	}
	if last := &g.parts[len(g.parts)-1]; last.Call == n+1 && last.Signature == "" {
		last.Signature = p.Signature
	}
	if !p.Call.WillContinue {
		g.calls[n].Arguments, g.open = string(g.open.json()), nil
		tell(loop.Delta{Call: n, Arguments: g.calls[n].Arguments})
	}
	return nil
}

// errPieces are pieces of arguments that do not fit together.
var errPieces = &kit.UnreadableError{Got: "pieces of arguments that do not fit together"}

// maxDepth bounds how deep the arguments are.
const maxDepth = 64

// grown is a value that comes in pieces: an object, a list, a text, or any other value.
type grown struct {
	// kind is "{", "[", a quotation mark, "v", or 0 before the first piece.
	kind   byte
	names  []string
	places map[string]int
	inner  []*grown
	text   strings.Builder
	pieces kit.Pieces
	raw    json.RawMessage
}

// is reports whether the value is of a kind, which it becomes with its first piece.
func (v *grown) is(kind byte) bool {
	if v.kind == 0 {
		v.kind = kind
	}
	return v.kind == kind
}

// at returns the value at a path, which begins with the first piece of it.
func (v *grown) at(path string) (*grown, error) {
	rest, rooted := strings.CutPrefix(path, "$")
	for depth := 0; rooted && rest != ""; depth++ {
		name, more, isName := nameIn(rest)
		digits, after, closed := strings.Cut(strings.TrimPrefix(rest, "["), "]")
		index, err := strconv.Atoi(digits)
		switch {
		case depth == maxDepth:
			return nil, errPieces
		case isName && v.is('{'):
			v, rest = v.member(name), more
		case rest == "[]" && v.is('['): // the end of a list, which may be empty
			rest = ""
		case !isName && rest[0] == '[' && closed && err == nil && index >= 0 && index <= len(v.inner) && v.is('['):
			if index == len(v.inner) {
				v.inner = append(v.inner, &grown{})
			}
			v, rest = v.inner[index], after
		default:
			return nil, errPieces
		}
	}
	if !rooted {
		return nil, errPieces
	}
	return v, nil
}

// nameIn returns the name of a member at the beginning of a path, and what follows it: ".name" or "['name']".
func nameIn(path string) (name, rest string, ok bool) {
	for _, quote := range []string{"'", `"`} {
		if quoted, is := strings.CutPrefix(path, "["+quote); is {
			return strings.Cut(quoted, quote+"]")
		}
	}
	plain, is := strings.CutPrefix(path, ".")
	end := strings.IndexAny(plain, ".[")
	if end < 0 {
		end = len(plain)
	}
	return plain[:end], plain[end:], is && end > 0
}

// member returns a member of an object.
func (v *grown) member(name string) *grown {
	n, known := v.places[name]
	if !known {
		if v.places == nil {
			v.places = map[string]int{}
		}
		n = len(v.inner)
		v.places[name], v.names, v.inner = n, append(v.names, name), append(v.inner, &grown{})
	}
	return v.inner[n]
}

// add adds a piece to the value.
func (v *grown) add(a partialArg) error {
	if a.Text != nil {
		if !v.is('"') {
			return errPieces
		}
		v.text.WriteString(v.pieces.Add(json.RawMessage(a.Text)))
		return nil
	}
	for _, raw := range []json.RawMessage{a.Number, a.Bool} {
		if raw != nil && string(raw) != "null" {
			v.raw = bytes.Clone(raw)
		}
	}
	if a.Null != nil && v.raw == nil {
		v.raw = json.RawMessage("null")
	}
	if v.raw != nil && !v.is('v') {
		return errPieces
	}
	return nil
}

// json returns the value. Arguments of which nothing came are an empty object.
func (v *grown) json() json.RawMessage {
	switch v.kind {
	case '[':
		var items []json.RawMessage
		for _, item := range v.inner {
			items = append(items, item.json())
		}
		return kit.List(items...)
	case '"':
		return kit.Quote(v.text.String())
	case 'v':
		return v.raw
	}
	var o kit.Object
	for n, name := range v.names {
		o = append(o, kit.Field(name, v.inner[n].json()))
	}
	return o.JSON()
}
