package extract_test

import (
	"encoding/json"
	"strings"

	"github.com/retake-go/retake/extract"
)

// stands reports whether the text has every string and number of c's arguments as it was written. For a call
// with escapes or respelled numbers it only checks that the arguments are JSON.
func stands(text string, c extract.Call) bool {
	if has(c, "python_number") || has(c, "string_arguments") || strings.Contains(text[c.Offset:c.End], `\`) {
		return json.Valid(c.Arguments)
	}
	own := text[c.Offset:c.End]
	d := json.NewDecoder(strings.NewReader(string(c.Arguments)))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return err.Error() == "EOF"
		}
		switch v := token.(type) {
		case string:
			if !strings.Contains(own, v) {
				return false
			}
		case json.Number:
			if !strings.Contains(own, v.String()) {
				return false
			}
		}
	}
}

func has(c extract.Call, kind extract.Form) bool {
	for _, r := range c.Repairs {
		if r.Kind == kind {
			return true
		}
	}
	return false
}
