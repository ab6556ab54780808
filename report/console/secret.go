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
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/schema"
)

// secretsOf returns the places of the values that a schema marks as secret.
func secretsOf(doc json.RawMessage) []string {
	if s, err := schema.Compile(doc); err == nil && len(doc) > 0 {
		return s.Secrets()
	}
	return nil
}

// secretsIn returns the places of values in the arguments of tools that a journal says to be secret, by tool.
// A schema is in it once a person was asked about a call of the tool, in any run.
func secretsIn(in io.Reader) map[string][]string {
	all, lines := map[string][]string{}, bufio.NewReaderSize(in, 256<<10)
	for {
		text, err := lines.ReadSlice('\n')
		tool, places := secretsOfLine(text)
		for _, place := range places {
			if !slices.Contains(all[tool], place) { // each run may have the same schema
				all[tool] = append(all[tool], place)
			}
		}
		if err != nil && err != bufio.ErrBufferFull {
			return all
		}
	}
}

// secretsOfLine returns those that a line of a journal says to be secret, and the tool.
func secretsOfLine(text []byte) (tool string, places []string) {
	var line struct{ Record journal.Record }
	if !bytes.Contains(text, isForm) || json.Unmarshal(text, &line) != nil || line.Record.Note == nil {
		return "", nil
	}
	return line.Record.Note.Tool, secretsOf(line.Record.Note.Schema)
}

// isForm is in each line with the schema of a tool.
var isForm = []byte(`"kind":"` + journal.AskForm + `"`)

// scrubber leaves out what must not be shown, unless secrets are.
type scrubber struct{ showSecrets bool }

// scrub leaves out of a text what has the form of a key or a password.
func (by scrubber) scrub(text string) string {
	if by.showSecrets {
		return text
	}
	return fault.ScrubText(text)
}

// tell returns the beginning of a text for a row.
func (by scrubber) tell(text string) string { return brief(by.scrub(canon.Cut(text, maxTold))) }

// maxTold is how many bytes of a text are looked through for what is told of it.
const maxTold = 4 * maxBrief

// spoken returns arguments in few words, without the values at the places of secrets.
func (by scrubber) spoken(arguments json.RawMessage, secrets []string) string {
	text := string(masked.JSON(arguments, secrets))
	return brief(visible(by.scrub(spoken(by.scrub(text)))))
}

// author says who said something; empty if that is not known.
func (by scrubber) author(name string) string {
	if name == "" {
		return ""
	}
	return "by " + brief(by.scrub(name))
}

// hides reports whether a text of any length must not be shown: a part of it has the form of a key or a
// password.
func (by scrubber) hides(text string) bool {
	if by.showSecrets {
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

// whole returns arguments for people, whole but for values that must not be shown.
func (by scrubber) whole(arguments json.RawMessage) string {
	if !by.hides(string(arguments)) {
		return string(arguments)
	}
	var value any
	if decoded(arguments, &value) {
		if text := jsonText(by.veil(value)); !by.hides(text) {
			return text
		}
	}
	return by.scrub(string(arguments))
}

// veil puts a mark in the place of each value that must not be shown.
func (by scrubber) veil(value any) any {
	switch in := value.(type) {
	case map[string]any:
		for name, member := range in {
			switch in[name] = by.veil(member); member.(type) {
			case map[string]any, []any:
			default:
				if by.hides(jsonText(map[string]any{name: in[name]})) {
					in[name] = masked.Mark
				}
			}
		}
	case []any:
		for n := range in {
			in[n] = by.veil(in[n])
		}
	case string:
		if by.hides(in) {
			return masked.Mark
		}
	}
	return value
}
