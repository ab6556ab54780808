package genai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// member is one member of a JSON object. Objects are lists of them here, for models tend to answer in the order in which a
// schema names things.
type member struct {
	name  string
	value json.RawMessage
}

type object []member

// readObject reads a JSON object; false where it is none.
func readObject(raw []byte) (object, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var o object
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return nil, false
		}
		m := member{name: name}
		if d.Decode(&m.value) != nil {
			return nil, false
		}
		o = append(o, m)
	}
	_, err := d.Token()
	return o, err == nil
}

// json writes the object.
func (o object) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for n, m := range o {
		if n > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// get is the value of a member; nil where there is none.
func (o object) get(name string) json.RawMessage {
	if n := slices.IndexFunc(o, func(m member) bool { return m.name == name }); n >= 0 {
		return o[n].value
	}
	return nil
}

// without is the object without some members.
func (o object) without(names ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return slices.Contains(names, m.name) })
}

// text reads a JSON string; false where it is none.
func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// quoted writes a JSON string.
func quoted(s string) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return json.RawMessage(`""`)
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
