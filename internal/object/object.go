package object

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Member is one member of an object.
type Member struct {
	Name string
	// Value is as it was written: JSON, whose own members may still stand twice.
	Value json.RawMessage
	// Twice is set where a member of this name stands before it.
	Twice bool
}

// Members are the members of a JSON object in the order in which they stand. problem says what is wrong where data is no object.
func Members(data []byte) (members []Member, problem string) {
	switch {
	case !utf8.Valid(data) || !json.Valid(data):
		return nil, "want a JSON object, got no JSON"
	case Kind(data) != "an object":
		return nil, "want a JSON object, got " + Kind(data)
	}
	seen := map[string]bool{}
	in := json.NewDecoder(bytes.NewReader(data))
	_, _ = in.Token() // the brace; nothing fails in good JSON
	for in.More() {
		name, _ := in.Token()
		m := Member{Name: name.(string)}
		_ = in.Decode(&m.Value)
		m.Twice, seen[m.Name] = seen[m.Name], true
		members = append(members, m)
	}
	return members, ""
}

// Kind names the kind of a JSON value by its first byte.
func Kind(value []byte) string {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) == 0 {
		return "nothing"
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
