package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/policy"
)

// Write writes a set as YAML. [Read] reads it back as the same set, except for the origins of its fields. It
// returns the error of the set's Validate and writes nothing if the set is invalid.
func Write(set policy.Set) ([]byte, error) {
	if err := set.Validate(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(withoutOrigins(set))
	if err != nil {
		return nil, fmt.Errorf("policy as JSON: %w", err)
	}
	w := &writer{in: jsontext.NewDecoder(bytes.NewReader(data))}
	if err := w.value(0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("policy as YAML: %w", err)
	}
	return w.out.Bytes(), nil
}

// withoutOrigins returns the set without the places where its fields were written.
func withoutOrigins(set policy.Set) policy.Set {
	bare := set.Clone()
	eachLayer(bare, func(_ string, l *policy.Layer) { l.Origins = nil })
	return *bare
}

// writer turns JSON into YAML: mappings as blocks, lists on one line.
type writer struct {
	in  *jsontext.Decoder
	out bytes.Buffer
}

// value writes one value. The text before it on the line must not end with a space.
func (w *writer) value(indent int) error {
	t, err := w.in.ReadToken()
	if err != nil {
		return err
	}
	if t.Kind() == '{' {
		return w.mapping(indent)
	}
	text, err := w.inline(t)
	w.out.WriteString(" " + text + "\n")
	return err
}

func (w *writer) mapping(indent int) error {
	if w.in.PeekKind() == '}' {
		w.out.WriteString(" {}\n")
	} else if indent > 0 {
		w.out.WriteString("\n")
	}
	for w.in.PeekKind() != '}' {
		key, err := w.in.ReadToken()
		if err != nil {
			return err
		}
		w.out.WriteString(strings.Repeat("  ", indent) + scalar(key) + ":")
		if err := w.value(indent + 1); err != nil {
			return err
		}
	}
	_, err := w.in.ReadToken()
	return err
}

// ends maps each opening token to its closing token.
var ends = map[jsontext.Kind]jsontext.Kind{'[': ']', '{': '}'}

// inline returns the value that begins with t, on one line.
func (w *writer) inline(t jsontext.Token) (string, error) {
	begin := t.Kind()
	end, nests := ends[begin]
	if !nests {
		return scalar(t), nil
	}
	var parts []string
	for {
		key, t, err := "", jsontext.Token{}, error(nil)
		if t, err = w.in.ReadToken(); err == nil && begin == '{' && t.Kind() != end {
			key = scalar(t) + ": "
			t, err = w.in.ReadToken()
		}
		if err != nil {
			return "", err
		}
		if t.Kind() == end {
			return string(rune(begin)) + strings.Join(parts, ", ") + string(rune(end)), nil
		}
		part, err := w.inline(t)
		if err != nil {
			return "", err
		}
		parts = append(parts, key+part)
	}
}

// scalar returns a token as YAML. Text has quotes unless every YAML parser reads it as text without them.
func scalar(t jsontext.Token) string {
	s := t.String()
	if t.Kind() != '"' || isPlain(s) {
		return s
	}
	return quote(s)
}

// reserved are words that some YAML parsers do not read as text.
var reserved = map[string]bool{
	"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true,
	"n": true,
}

func isPlain(s string) bool {
	if s == "" || reserved[strings.ToLower(s)] {
		return false
	}
	const letters, digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	if strings.ContainsRune(digits, rune(s[0])) { // a duration, which never looks like a number
		return strings.Trim(s, digits+".hmsnu") == "" && strings.HasSuffix(s, "s")
	}
	return strings.ContainsRune(letters, rune(s[0])) && strings.Trim(s, letters+digits+"_-") == ""
}

// quote writes a YAML double-quoted scalar on one line, with all but plain ASCII escaped.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString("\\" + string(c))
		case c >= ' ' && c < 0x7f:
			b.WriteRune(c)
		case c < 0x10000:
			fmt.Fprintf(&b, "\\u%04x", c)
		default:
			fmt.Fprintf(&b, "\\U%08x", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
