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

// Object is a JSON object in order: models tend to answer in the order of the schema. The zero value is
// the empty object.
type Object []Member

// ReadObject parses a JSON object; false if raw is none. It ignores what follows the object.
func ReadObject(raw []byte) (Object, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var o Object
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return nil, false
		}
		m := Member{Name: name}
		if d.Decode(&m.Value) != nil {
			return nil, false
		}
		o = append(o, m)
	}
	_, err := d.Token()
	return o, err == nil
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

// Get returns the value of a member; nil if there is none.
func (o Object) Get(name string) json.RawMessage {
	if n := slices.IndexFunc(o, func(m Member) bool { return m.Name == name }); n >= 0 {
		return o[n].Value
	}
	return nil
}

// Text returns the value of a string member; empty if there is none.
func (o Object) Text(name string) string { return Text(o.Get(name)) }

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

// Items returns the items of a JSON array; nil if raw is none.
func Items(raw []byte) []json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
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
// none, or negative.
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
