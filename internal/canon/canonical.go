package canon

import (
	"bytes"
	"unicode/utf8"
)

// Is reports whether a text is known to be in canonical form without being written anew. It allocates nothing; a text that it is false for
// may be canonical all the same.
func Is(raw []byte) bool { return isCanonical(raw) }

// isCanonical reports whether a text is in canonical form. It knows what texts are mostly made of, and is false for any other.
func isCanonical(raw []byte) bool {
	return utf8.Valid(raw) && valueEnd(raw, 0, 0) == len(raw)
}

// nowhere is where a value ends that is not in canonical form, or not known to be.
const nowhere = -1

// valueEnd is where the value ends that begins at an offset.
func valueEnd(raw []byte, at, depth int) int {
	if at >= len(raw) {
		return nowhere
	}
	switch raw[at] {
	case '"':
		return stringEnd(raw, at)
	case '{':
		return objectEnd(raw, at+1, depth+1)
	case '[':
		return arrayEnd(raw, at+1, depth+1)
	case 't':
		return wordEnd(raw, at, "true")
	case 'f':
		return wordEnd(raw, at, "false")
	case 'n':
		return wordEnd(raw, at, "null")
	}
	return numberEnd(raw, at)
}

func wordEnd(raw []byte, at int, word string) int {
	if end := at + len(word); end <= len(raw) && string(raw[at:end]) == word {
		return end
	}
	return nowhere
}

// stringEnd is where a string ends whose escapes are the shortest.
func stringEnd(raw []byte, at int) int {
	for at++; ; at += 2 {
		at += PlainRun(raw[at:])
		switch {
		case at == len(raw):
			return nowhere
		case raw[at] == '"':
			return at + 1
		case raw[at] != '\\' || at+1 == len(raw) || !isShort(raw[at+1]):
			return nowhere
		}
	}
}

// isShort reports whether a backslash and the letter are the shortest escape of something.
func isShort(c byte) bool {
	switch c {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// numberEnd is where a number ends; all numbers stand as they were written.
func numberEnd(raw []byte, at int) int {
	if at < len(raw) && raw[at] == '-' {
		at++
	}
	end := digitsEnd(raw, at)
	if end > at+1 && raw[at] == '0' {
		return nowhere
	}
	if end >= 0 && end < len(raw) && raw[end] == '.' {
		end = digitsEnd(raw, end+1)
	}
	if end >= 0 && end < len(raw) && raw[end]|0x20 == 'e' {
		if end++; end < len(raw) && (raw[end] == '+' || raw[end] == '-') {
			end++
		}
		end = digitsEnd(raw, end)
	}
	return end
}

// digitsEnd is where one digit or more end.
func digitsEnd(raw []byte, at int) int {
	end := at
	for end < len(raw) && raw[end]-'0' <= 9 {
		end++
	}
	if end == at {
		return nowhere
	}
	return end
}

func arrayEnd(raw []byte, at, depth int) int {
	if at == len(raw) || depth > quickDepth {
		return nowhere
	}
	if raw[at] == ']' {
		return at + 1
	}
	for {
		if at = valueEnd(raw, at, depth); at < 0 || at == len(raw) {
			return nowhere
		}
		switch raw[at] {
		case ']':
			return at + 1
		case ',':
			at++
		default:
			return nowhere
		}
	}
}

// objectEnd is where an object ends whose names are plain ASCII, and in order.
func objectEnd(raw []byte, at, depth int) int {
	if at == len(raw) || depth > quickDepth {
		return nowhere
	}
	if raw[at] == '}' {
		return at + 1
	}
	for before := []byte(nil); ; {
		if at == len(raw) || raw[at] != '"' {
			return nowhere
		}
		from := at + 1
		end := from + PlainRun(raw[from:])
		if end+1 >= len(raw) || raw[end] != '"' || raw[end+1] != ':' {
			return nowhere
		}
		name := raw[from:end]
		if !IsPlain(name) || before != nil && bytes.Compare(before, name) >= 0 {
			return nowhere
		}
		if at = valueEnd(raw, end+2, depth); at < 0 || at == len(raw) {
			return nowhere
		}
		switch before = name; raw[at] {
		case '}':
			return at + 1
		case ',':
			at++
		default:
			return nowhere
		}
	}
}
