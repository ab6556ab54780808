package schema

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical returns a value of a document, which was read, as canonical JSON: see package canon. Numbers and
// words stay as they are written.
func (v value) canonical() []byte { return v.appendTo(make([]byte, 0, v.end-v.start)) }

// appendTo appends the value as canonical JSON.
func (v value) appendTo(to []byte) []byte {
	switch {
	case v.kind == kindObject:
		return v.appendMembers(to)
	case v.kind == kindArray:
		to = append(to, '[')
		for item := v.first(); item.isThere(); item = item.sibling() {
			to = append(item.appendTo(to), ',')
		}
		return closed(to, ']')
	case v.escaped:
		return appendQuoted(to, v.text())
	}
	return append(to, v.in.text[v.start:v.end]...)
}

// appendMembers appends an object, whose members are in the order of their names.
func (v value) appendMembers(to []byte) []byte {
	var few [16]value
	members := few[:0]
	for m := v.first(); m.isThere(); m = m.sibling() {
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b value) int { return compareNames(a.name(), b.name()) })
	to = append(to, '{')
	for _, m := range members {
		if m.nameEnd < 0 {
			to = appendQuoted(to, m.name())
		} else {
			to = append(to, m.in.text[m.named:m.nameEnd]...)
		}
		to = append(m.appendTo(append(to, ':')), ',')
	}
	return closed(to, '}')
}

// appendQuoted appends a text with the escapes that it needs.
func appendQuoted(to []byte, text string) []byte {
	to, _ = jsontext.AppendQuote(to, text) // cannot fail: it is UTF-8
	return to
}

// closed replaces the last comma, if there is one, by the closing bracket.
func closed(to []byte, end byte) []byte {
	if last := len(to) - 1; to[last] == ',' {
		to = to[:last]
	}
	return append(to, end)
}

// compareNames compares texts by their UTF-16 code units. That is the order of their bytes but for one thing:
// a character of four bytes is two surrogates, which are below the last ones of three bytes. Those begin with
// 0xEE or 0xEF, and only the first byte of a character is that high.
func compareNames(a, b string) int {
	for n := range min(len(a), len(b)) {
		switch x, y := a[n], b[n]; {
		case x == y:
		case min(x, y) >= 0xEE && min(x, y) < 0xF0 && max(x, y) >= 0xF0:
			return cmp.Compare(y, x)
		default:
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}
