package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/schema"
)

// secretsOf are the places of the values that a schema marks as secret.
func secretsOf(doc json.RawMessage) []string {
	if s, err := schema.Compile(doc); err == nil && len(doc) > 0 {
		return s.Secrets()
	}
	return nil
}

// secretsIn are the places of values in the arguments of tools that a journal says to be secret, by tool. A
// schema is in it once a person was asked about a call of the tool, in any run.
func secretsIn(in io.Reader) map[string][]string {
	all, lines := map[string][]string{}, bufio.NewReaderSize(in, 256<<10)
	for {
		text, err := lines.ReadSlice('\n')
		var line struct{ Record journal.Record }
		if bytes.Contains(text, isForm) && json.Unmarshal(text, &line) == nil && line.Record.Note != nil {
			n := line.Record.Note
			for _, place := range secretsOf(n.Schema) {
				if !slices.Contains(all[n.Tool], place) { // each run may have the same schema
					all[n.Tool] = append(all[n.Tool], place)
				}
			}
		}
		if err != nil && err != bufio.ErrBufferFull {
			return all
		}
	}
}

// isForm is in each line with the schema of a tool.
var isForm = []byte(`"kind":"` + journal.AskForm + `"`)

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
	if decoded(arguments, &value) {
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
					in[name] = masked.Mark
				}
			}
		}
	case []any:
		for n := range in {
			in[n] = c.veil(in[n])
		}
	case string:
		if c.hides(in) {
			return masked.Mark
		}
	}
	return value
}
