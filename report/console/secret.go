package console

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/schema"
)

// secretMark stands for a value that is left out.
const secretMark = "[secret]"

// masked are arguments without the values that their schema marks as secret.
func masked(doc, arguments json.RawMessage) json.RawMessage {
	s, err := schema.Compile(doc)
	if len(doc) == 0 || err != nil {
		return arguments
	}
	places := s.Secrets()
	var value any
	dec := json.NewDecoder(bytes.NewReader(arguments))
	dec.UseNumber()
	if len(places) == 0 || dec.Decode(&value) != nil {
		return arguments
	}
	for _, place := range places {
		value = mask(value, canon.Path(place))
	}
	return json.RawMessage(jsonText(value))
}

// mask replaces the value at a place, where "*" stands for any member or item.
func mask(value any, at []string) any {
	if len(at) == 0 {
		return secretMark
	}
	switch in := value.(type) {
	case map[string]any:
		for name := range in {
			if at[0] == "*" || at[0] == name {
				in[name] = mask(in[name], at[1:])
			}
		}
	case []any:
		for n := range in {
			if at[0] == "*" {
				in[n] = mask(in[n], at[1:])
			}
		}
	}
	return value
}

// hides reports whether a text of any length must not be shown: a part of it has the form of a key or a
// password.
func (c *Console) hides(text string) bool {
	if c.settings.ShowSecrets {
		return false
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsGraphic(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, text)
	return fault.ScrubText(text) != text
}

// whole are arguments for people, whole but for values that must not be shown.
func (c *Console) whole(arguments json.RawMessage) string {
	if !c.hides(string(arguments)) {
		return string(arguments)
	}
	var value any
	dec := json.NewDecoder(bytes.NewReader(arguments))
	dec.UseNumber()
	if dec.Decode(&value) == nil {
		if text := jsonText(c.veil(value)); !c.hides(text) {
			return text
		}
	}
	return c.scrub(string(arguments))
}

// veil puts a mark in the place of each value that must not be shown.
func (c *Console) veil(value any) any {
	switch in := value.(type) {
	case map[string]any:
		for name, member := range in {
			switch in[name] = c.veil(member); member.(type) {
			case map[string]any, []any:
			default:
				if c.hides(jsonText(map[string]any{name: in[name]})) {
					in[name] = secretMark
				}
			}
		}
	case []any:
		for n := range in {
			in[n] = c.veil(in[n])
		}
	case string:
		if c.hides(in) {
			return secretMark
		}
	}
	return value
}
