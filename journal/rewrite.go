package journal

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
)

// swap is shown a value and where it stands, as the parts of its JSON Pointer, and returns what is to stand in its place; nil
// to leave it, and to be shown what is in it.
type swap func(at []string, value jsontext.Value) ([]byte, error)

// rename is shown the name of a member and where that stands, its own name included, and returns what it is to be called.
type rename func(at []string, name string) (string, error)

// rewrite copies a JSON value with what s puts in the place of its parts, and r in the place of names. Numbers and the order of members
// stay as they are.
func rewrite(value jsontext.Value, at []string, s swap, r rename) ([]byte, error) {
	with, err := s(at, value)
	if err != nil || with != nil {
		return with, err
	}
	kind := value.Kind()
	if kind != '{' && kind != '[' {
		return value, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out := []byte{byte(kind)}
	for n := 0; dec.PeekKind() != '}' && dec.PeekKind() != ']'; n++ {
		if n > 0 {
			out = append(out, ',')
		}
		part := strconv.Itoa(n)
		if kind == '{' {
			if out, part, err = appendName(out, dec, at, r); err != nil {
				return nil, err
			}
		}
		member, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		copied, err := rewrite(member, append(at[:len(at):len(at)], part), s, r)
		if err != nil {
			return nil, err
		}
		out = append(out, copied...)
	}
	return append(out, byte(kind)+2), nil
}

// appendName copies the name of a member of the object at at, or what r puts in its place, and returns what it says.
func appendName(to []byte, dec *jsontext.Decoder, at []string, r rename) (out []byte, name string, err error) {
	quoted, err := dec.ReadValue()
	if err == nil {
		name, err = unquote(quoted)
	}
	if err != nil {
		return nil, "", err
	}
	called, err := r(append(at[:len(at):len(at)], name), name)
	if err == nil && called != name {
		quoted, err = canon.Marshal(called)
	}
	return append(append(to, quoted...), ':'), name, err
}

func unquote(value jsontext.Value) (string, error) {
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}

// parsePointer splits a JSON Pointer; "*" stands for any part.
func parsePointer(p string) (parts []string, ok bool) {
	if p == "" {
		return nil, true
	}
	if p[0] != '/' {
		return nil, false
	}
	parts = strings.Split(p[1:], "/")
	for n, part := range parts {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(part), "~") {
			return nil, false
		}
		parts[n] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts, true
}

// matches reports whether a place is that of a pattern; "**" at its end stands for that place and all below it.
func matches(pattern, at []string) bool {
	if last := len(pattern) - 1; last >= 0 && pattern[last] == "**" && len(at) >= last {
		pattern, at = pattern[:last], at[:last]
	}
	if len(pattern) != len(at) {
		return false
	}
	for n, part := range pattern {
		if part != "*" && part != at[n] {
			return false
		}
	}
	return true
}
