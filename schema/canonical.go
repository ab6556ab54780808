package schema

import (
	"cmp"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// appendCanonical appends a value as canonical JSON: see package canon.
func (v value) appendCanonical(to []byte) []byte {
	switch v.kind {
	case kindObject:
		return v.appendMembers(to)
	case kindArray:
		to = append(to, '[')
		for item := range v.children {
			to = append(item.appendCanonical(to), ',')
		}
		return closed(to, ']')
	case kindString:
		return v.appendString(to)
	}
	return append(to, v.in.text[v.start:v.end]...)
}

// appendMembers appends an object, its members by their names in UTF-16.
func (v value) appendMembers(to []byte) []byte {
	var few [16]value
	members := few[:0]
	for m := range v.children {
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b value) int { return compareUTF16(a.name(), b.name()) })
	to = append(to, '{')
	for _, m := range members {
		name := datum{}
		to = append(m.nameIn(&name).appendString(to), ':')
		to = append(m.appendCanonical(to), ',')
	}
	return closed(to, '}')
}

// closed puts an end in the place of the last comma.
func closed(to []byte, end byte) []byte {
	if last := len(to) - 1; to[last] == ',' {
		to = to[:last]
	}
	return append(to, end)
}

// appendString appends a string. One without escapes needs none.
func (v value) appendString(to []byte) []byte {
	if !v.escaped {
		return append(to, v.in.text[v.start:v.end]...)
	}
	to, _ = jsontext.AppendQuote(to, v.text()) // cannot fail: it is UTF-8
	return to
}

// compareUTF16 compares texts by their UTF-16 code units.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		x, width := utf8.DecodeRuneInString(a)
		y, other := utf8.DecodeRuneInString(b)
		if x != y {
			return cmp.Or(cmp.Compare(firstUnit(x), firstUnit(y)), cmp.Compare(x, y))
		}
		a, b = a[width:], b[other:]
	}
	return cmp.Compare(len(a), len(b))
}

// firstUnit is the first of the UTF-16 code units of a rune.
func firstUnit(r rune) rune {
	if high, _ := utf16.EncodeRune(r); high != utf8.RuneError {
		return high
	}
	return r
}
