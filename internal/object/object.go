package object

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Member is one member of an object.
type Member struct {
	Name string
	// Value is as it was written, a part of the object's text: JSON, whose own members may still stand twice.
	Value json.RawMessage
	// Twice is set where a member of this name stands before it.
	Twice bool
}

// few is the number of members that most objects do not exceed.
const few = 8

// Members are the members of a JSON object in the order in which they stand. problem says what is wrong where data is no object.
func Members(data []byte) (members []Member, problem string) {
	switch {
	case !utf8.Valid(data) || !json.Valid(data):
		return nil, "want a JSON object, got no JSON"
	case Kind(data) != "an object":
		return nil, "want a JSON object, got " + Kind(data)
	}
	members = make([]Member, 0, few)
	seen := make(map[string]bool, few)
	for at := skip(data, bytes.IndexByte(data, '{')+1); data[at] != '}'; {
		end := value(data, at)
		m := Member{Name: text(data[at:end])}
		at = skip(data, end)
		end = value(data, at)
		m.Value = data[at:end:end]
		m.Twice, seen[m.Name] = seen[m.Name], true
		members, at = append(members, m), skip(data, end)
	}
	return members, ""
}

// skip is the offset of the next byte that is no space, comma or colon. Like value, it is for good JSON alone.
func skip(data []byte, at int) int {
	for strings.IndexByte(" \t\r\n,:", data[at]) >= 0 {
		at++
	}
	return at
}

// value is the offset behind the value that begins at an offset.
func value(data []byte, at int) int {
	for depth := 0; ; at++ {
		switch data[at] {
		case '"':
			at = closing(data, at)
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default: // a number or a word, or what stands between the values of one that is open
			for depth == 0 && strings.IndexByte(" \t\r\n,]}", data[at+1]) < 0 {
				at++
			}
		}
		if depth == 0 {
			return at + 1
		}
	}
}

// closing is the offset of the quote that ends the string at an offset.
func closing(data []byte, at int) int {
	for at++; data[at] != '"'; at++ {
		if data[at] == '\\' {
			at++
		}
	}
	return at
}

// text is a string without its quotes and escapes.
func text(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var plain string
	if json.Unmarshal(quoted, &plain) != nil {
		return string(quoted)
	}
	return plain
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
