package canon

import (
	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends a string in canonical form; ok is false where it is not UTF-8, and has no such form.
func AppendString(dst []byte, s string) (to []byte, ok bool) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			quoted, err := jsontext.AppendQuote(dst, s)
			return quoted, err == nil
		}
	}
	return append(append(append(dst, '"'), s...), '"'), true
}

// AppendJSON appends the canonical form of one JSON text; ok is false where [JSON] refuses it.
func AppendJSON(dst, raw []byte) (to []byte, ok bool) {
	if isCanonical(raw) {
		return append(dst, raw...), true
	}
	text, err := JSON(raw)
	return append(dst, text...), err == nil
}

// simpleDepth is how deep a text may be that isCanonical looks at.
const simpleDepth = 16

// isCanonical reports whether a text is surely in canonical form already. It knows the simple ones, of plain strings and
// members in order: any other is for [JSON].
func isCanonical(raw []byte) bool {
	end := simpleValue(raw, 0, 0)
	return end > 0 && end == len(raw)
}

// simpleValue returns the end of the simple value at i; -1 where there is none.
func simpleValue(b []byte, i, depth int) int {
	if i >= len(b) || depth > simpleDepth {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return simpleString(b, i)
	case c == '{':
		return simpleObject(b, i, depth)
	case c == '[':
		return simpleArray(b, i, depth)
	case c == '-' || '0' <= c && c <= '9':
		return simpleInteger(b, i)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
			return end
		}
	}
	return -1
}

// simpleString is for strings of ASCII without an escape.
func simpleString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ' || c >= 0x80 || c == '\\':
			return -1
		}
	}
	return -1
}

// simpleInteger is for integers of at most 15 digits.
func simpleInteger(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	from := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	digits := i - from
	if digits == 0 || digits > 15 || b[from] == '0' && (digits > 1 || from > 0 && b[from-1] == '-') {
		return -1
	}
	if i < len(b) && (b[i] == '.' || b[i] == 'e' || b[i] == 'E') {
		return -1
	}
	return i
}

func simpleArray(b []byte, i, depth int) int {
	if i++; i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if i = simpleValue(b, i, depth+1); i < 0 || i >= len(b) {
			return -1
		}
		switch b[i] {
		case ',':
			i++
		case ']':
			return i + 1
		default:
			return -1
		}
	}
}

func simpleObject(b []byte, i, depth int) int {
	if i++; i < len(b) && b[i] == '}' {
		return i + 1
	}
	for last := -1; ; {
		from := i
		if i >= len(b) || b[i] != '"' {
			return -1
		}
		if i = simpleString(b, i); i < 0 || i >= len(b) || b[i] != ':' {
			return -1
		}
		if last >= 0 && string(name(b, last)) >= string(name(b, from)) {
			return -1
		}
		last = from
		if i = simpleValue(b, i+1, depth+1); i < 0 || i >= len(b) {
			return -1
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			return i + 1
		default:
			return -1
		}
	}
}

// name is the simple string at i without its quotation marks.
func name(b []byte, i int) []byte { return b[i+1 : simpleString(b, i)-1] }
