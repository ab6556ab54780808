package console

import (
	"bytes"
	"encoding/json"

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
