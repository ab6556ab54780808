package feedback

import (
	"bytes"
	stdjson "encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// safeJSON writes a value as JSON that reads back as the same value and has no marker in it: within strings a
// marker's first character is escaped, between values a space breaks it up.
func safeJSON(v any) (string, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return "", &callError{reason: "json: the value has no JSON form", cause: err}
	}
	return neutralJSON(string(raw)), nil
}

// QuoteJSON renders JSON that a tool made so that it is safe to stand in a prompt: as the same value, on one
// line, and without anything a template engine or a chat format gives meaning to. It is whole, however long.
// What is no JSON is rendered as safely, as some other text.
func QuoteJSON(raw string) string {
	if plain(raw) {
		return raw
	}
	return neutralJSON(raw)
}

func neutralJSON(raw string) string {
	b := make([]byte, 0, len(raw)+16)
	inString := false
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		switch {
		case inString && r == '\\' && i+1 < len(raw) && raw[i+1] < utf8.RuneSelf && raw[i+1] >= ' ':
			size = 2
			b = append(b, raw[i:i+size]...)
		case inString && (breaks(raw, i) || unseen(r) || r == utf8.RuneError):
			b = appendUnicodeEscape(b, r)
		case unseen(r) || r == utf8.RuneError:
			b = append(b, ' ')
		default:
			b = append(b, raw[i:i+size]...)
			if breaks(raw, i) {
				b = append(b, ' ')
			}
			inString = inString != (r == '"')
		}
		i += size
	}
	return string(b)
}

// appendUnicodeEscape writes JSON's \uXXXX, twice beyond the basic plane.
func appendUnicodeEscape(b []byte, r rune) []byte {
	units := []rune{r}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		units = []rune{high, low}
	}
	for _, u := range units {
		b = append(b, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	return b
}

// decode reads one JSON value for a template: whole numbers as int64 where they fit, others as float64.
func decode(raw []byte) (any, error) {
	dec := stdjson.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return plainNumbers(v), nil
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case stdjson.Number:
		return plainNumber(v)
	case []any:
		for n := range v {
			v[n] = plainNumbers(v[n])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = plainNumbers(v[name])
		}
	}
	return v
}

// plainNumber keeps a number as its text where neither form holds it exactly enough.
func plainNumber(n stdjson.Number) any {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(string(n), 64); err == nil && !wholeNumber(string(n)) {
		return f
	}
	return string(n)
}

func wholeNumber(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && s[i] != '-' {
			return false
		}
	}
	return true
}
