// Package masked leaves values out of JSON by their places.
package masked

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
)

// Mark stands for a value that is left out.
const Mark = "[secret]"

// JSON returns a document with [Mark] in the place of each value at places: JSON Pointers, in which "*" is
// any member or item. What else is in the document stays in its order, without white space. A document that
// is no valid JSON is left out as a whole, because the values may be anywhere in it.
func JSON(document []byte, places []string) []byte {
	switch {
	case len(places) == 0:
		return document
	case !jsontext.Value(document).IsValid():
		return []byte(strconv.Quote(Mark))
	}
	paths := make([][]string, len(places))
	for n, place := range places {
		paths[n] = canon.Path(place)
	}
	return appendMasked(nil, bytes.TrimSpace(document), paths)
}

// appendMasked appends a value without what is at paths.
func appendMasked(out []byte, value jsontext.Value, paths [][]string) []byte {
	isWhole := func(path []string) bool { return len(path) == 0 }
	kind := value.Kind()
	switch {
	case slices.ContainsFunc(paths, isWhole):
		return strconv.AppendQuote(out, Mark)
	case len(paths) == 0, kind != '{' && kind != '[':
		return append(out, value...)
	}
	in := jsontext.NewDecoder(bytes.NewReader(value))
	_, err := in.ReadToken()
	out = append(out, byte(kind))
	for n := 0; err == nil && in.PeekKind() != '}' && in.PeekKind() != ']'; n++ {
		if n > 0 {
			out = append(out, ',')
		}
		name := strconv.Itoa(n)
		if kind == '{' {
			quoted, _ := in.ReadValue() // it is valid
			unquoted, _ := jsontext.AppendUnquote(nil, quoted)
			name = string(unquoted)
			out = append(append(out, quoted...), ':')
		}
		var within jsontext.Value
		within, err = in.ReadValue()
		out = appendMasked(out, within, below(paths, name))
	}
	return append(out, byte(kind)+2)
}

// below returns the rest of each path that begins with a name.
func below(paths [][]string, name string) (rest [][]string) {
	for _, path := range paths {
		if path[0] == "*" || path[0] == name {
			rest = append(rest, path[1:])
		}
	}
	return rest
}
