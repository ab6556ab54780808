package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"
)

// member is one member of a JSON object. Objects are lists of them here: models tend to answer in the order in which a
// schema names things.
type member struct {
	name  string
	value json.RawMessage
}

// members reads a JSON object; false where it is none.
func members(raw []byte) ([]member, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var list []member
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
		list = append(list, m)
	}
	_, err := d.Token()
	return list, err == nil
}

// object writes members as a JSON object.
func object(list ...member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for n, m := range list {
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
func get(list []member, name string) json.RawMessage {
	for _, m := range list {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// text reads a JSON string; empty where it is none.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
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

func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) }
