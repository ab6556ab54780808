package kit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
)

// Member is one member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Field returns a member.
func Field(name string, value json.RawMessage) Member { return Member{name, value} }

// TextField returns a member that is a text.
func TextField(name, text string) Member { return Member{name, Quote(text)} }

// Object is a JSON object in order: models tend to answer in the order of the schema. The zero value is
// the empty object.
type Object []Member

// ReadObject parses a JSON object; false if raw is none. It ignores what follows the object. The values are
// parts of raw, which must not change while they are used.
func ReadObject(raw []byte) (Object, bool) {
	all, _, ok := parts(raw, '{')
	if !ok {
		return nil, false
	}
	o := make(Object, len(all)/2)
	for n := range o {
		o[n] = Member{Text(all[2*n]), all[2*n+1]}
	}
	return o, true
}

// blank are the characters that say nothing between and before values; between are those between the parts of
// an object or a list.
const (
	blank   = " \t\r\n"
	between = blank + ",:"
)

// parts cuts the object or the list at the beginning of raw, which begins with open, into its names and
// values in turn, or its items; false if there is none. Nothing is copied: replies are large. rest is what
// follows.
func parts(raw []byte, open byte) (all []json.RawMessage, rest []byte, ok bool) {
	raw = bytes.TrimLeft(raw, blank)
	if len(raw) == 0 || raw[0] != open {
		return nil, nil, false
	}
	end := extent(raw)
	if !json.Valid(raw[:end]) {
		return nil, nil, false
	}
	all = []json.RawMessage{}
	left := bytes.TrimLeft(raw[1:end-1], between)
	for len(left) > 0 {
		n := extent(left)
		all, left = append(all, left[:n:n]), bytes.TrimLeft(left[n:], between)
	}
	return all, raw[end:], true
}

// extent returns the length of the JSON value at the beginning of raw; all of raw if it has no end.
func extent(raw []byte) int {
	depth, quoted := 0, false
	for n := 0; n < len(raw); n++ {
		switch c := raw[n]; {
		case quoted && c == '\\':
			n++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return n + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return n + 1
			}
		case depth == 0 && strings.IndexByte(between, c) >= 0:
			return n
		}
	}
	return len(raw)
}

// cut reports whether raw is a truncated JSON text, or empty: the connection broke, and the body is not
// garbage.
func cut(raw []byte) bool {
	var v json.RawMessage
	return isEnd(json.NewDecoder(bytes.NewReader(raw)).Decode(&v))
}

// isEnd reports whether an error is the end of what is read.
func isEnd(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }

// JSON encodes the object.
func (o Object) JSON() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for n, m := range o {
		if n > 0 {
			b.WriteByte(',')
		}
		b.Write(Quote(m.Name))
		b.WriteByte(':')
		b.Write(m.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// MarshalJSON returns what JSON does, so that an object may be a part of other values.
func (o Object) MarshalJSON() ([]byte, error) { return o.JSON(), nil }

// Get returns the value of a member; nil if there is none.
func (o Object) Get(name string) json.RawMessage {
	if n := slices.IndexFunc(o, func(m Member) bool { return m.Name == name }); n >= 0 {
		return o[n].Value
	}
	return nil
}

// Text returns the value of a string member; empty if there is none.
func (o Object) Text(name string) string { return Text(o.Get(name)) }

// Object returns the value of a member that is an object; nil if there is none.
func (o Object) Object(name string) Object {
	inner, _ := ReadObject(o.Get(name))
	return inner
}

// Items returns the items of a member that is a list: see [Items].
func (o Object) Items(name string) []json.RawMessage { return Items(o.Get(name)) }

// Count returns the value of a member that is a count: see [Count].
func (o Object) Count(name string) int64 { return Count(o.Get(name)) }

// With returns the object with a member set, at its place or at the end.
func (o Object) With(name string, value json.RawMessage) Object {
	o = slices.Clone(o)
	for n := range o {
		if o[n].Name == name {
			o[n].Value = value
			return o
		}
	}
	return append(o, Member{name, value})
}

// Without returns the object without some members.
func (o Object) Without(names ...string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(m Member) bool { return slices.Contains(names, m.Name) })
}

// Items returns the items of a JSON array; nil if raw is none. They are parts of raw, as in [ReadObject].
func Items(raw []byte) []json.RawMessage {
	items, rest, _ := parts(raw, '[')
	if len(bytes.TrimLeft(rest, blank)) > 0 {
		return nil
	}
	return items
}

// List encodes a JSON array.
func List(items ...json.RawMessage) json.RawMessage {
	return slices.Concat(json.RawMessage("["), bytes.Join(asBytes(items), []byte(",")), json.RawMessage("]"))
}

func asBytes(items []json.RawMessage) [][]byte {
	all := make([][]byte, len(items))
	for n, item := range items {
		all[n] = item
	}
	return all
}

// JoinLists joins pieces of an object that come one after another: of members that are lists all items, of
// others the last value. A single piece stays as it came.
func JoinLists(pieces []json.RawMessage) json.RawMessage {
	if len(pieces) == 1 {
		return pieces[0]
	}
	lists, places := map[string][]json.RawMessage{}, map[string]int{}
	var all Object
	for _, piece := range pieces {
		o, _ := ReadObject(piece)
		for _, m := range o {
			if items := Items(m.Value); items != nil {
				lists[m.Name] = append(lists[m.Name], items...)
			}
			n, known := places[m.Name]
			if !known {
				places[m.Name] = len(all)
				all = append(all, m)
			} else if lists[m.Name] == nil {
				all[n].Value = m.Value
			}
		}
	}
	for n, m := range all {
		if lists[m.Name] != nil {
			all[n].Value = List(lists[m.Name]...)
		}
	}
	return all.JSON()
}

// ReadText parses a JSON string; false if raw is none.
func ReadText(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// Text returns the value of a JSON string; empty if raw is none.
func Text(raw json.RawMessage) string {
	s, _ := ReadText(raw)
	return s
}

// Count returns a number of a server's counts, without its fraction and at most [math.MaxInt64]; 0 if raw is
// none, or negative. It is exact up to 2^53.
func Count(raw json.RawMessage) int64 {
	var n float64
	_ = json.Unmarshal(raw, &n) // what cannot be read is not said
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(max(n, 0))
}

// Quote encodes a JSON string. It does not escape HTML characters, because models read patterns.
func Quote(s string) json.RawMessage {
	raw, _ := Marshal(s) // a string has always a JSON form
	return raw
}

// Marshal encodes a value as JSON without escaping HTML characters.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// Blank reports whether a text is empty or white space.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// Join joins the texts that are not blank, with an empty line between them.
func Join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), Blank), "\n\n")
}
