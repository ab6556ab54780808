package file

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-go/retake/policy"
)

// The bounds of a file. A policy file is a page of text: these are far above any that is meant.
const (
	maxBytes  = 1 << 20
	maxDepth  = 32
	maxTokens = 20_000
)

// reader is one reading of one file.
type reader struct {
	name   string
	faults []*Fault
	// unsaid counts the faults beyond maxFaults.
	unsaid int
	// places has where the value of each path stands.
	places map[string]place
}

// Read reads a policy file. The name stands in faults and in the origins of the layers, and its ending decides between
// YAML and JSON; nothing is opened. What the file does not say is as in [policy.DefaultSet].
//
// The error joins every fault found, each a [*Fault], in the order of their places; the set is then the zero one. A set
// that is returned without an error passes its Validate.
func Read(name string, data []byte) (policy.Set, error) {
	r := &reader{name: name, places: map[string]place{}}
	set, ok := r.read(data)
	if !ok || len(r.faults) > 0 {
		return policy.Set{}, r.joined()
	}
	return set, nil
}

func (r *reader) read(data []byte) (policy.Set, bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	json := isJSON(r.name, data)
	if !r.plainText(data, json) {
		return policy.Set{}, false
	}
	parse := r.parseYAML
	if json {
		parse = r.parseJSON
	} else {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	root, ok := parse(data)
	if !ok {
		return policy.Set{}, false
	}
	return r.root(root), true
}

// isJSON decides by the name, and by the first byte where the name does not say.
func isJSON(name string, data []byte) bool {
	switch name = strings.ToLower(name); {
	case strings.HasSuffix(name, ".json"):
		return true
	case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return false
	}
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// plainText refuses what no parser needs to see.
func (r *reader) plainText(data []byte, json bool) bool {
	start := place{1, 1}
	switch {
	case len(data) > maxBytes:
		r.fault(start, "", fmt.Sprintf("the file has %d bytes", len(data)), fmt.Sprintf("at most %d are read", maxBytes))
	case len(bytes.TrimSpace(data)) == 0:
		r.fault(start, "", "the file is empty", "leave it out for the defaults, or write a policy")
	default:
		at, bad := unprintable(data, json)
		if bad == "" {
			return true
		}
		r.fault(positions(data).of(at), "", bad, "save the file as plain UTF-8 text")
	}
	return false
}

// unprintable finds the first byte that is no UTF-8 or, in YAML, a control character that readers may disagree about. JSON
// settles for itself which it has.
func unprintable(data []byte, json bool) (offset int, what string) {
	for offset < len(data) {
		c, size := utf8.DecodeRune(data[offset:])
		if c == utf8.RuneError && size == 1 {
			return offset, "a byte that is not UTF-8"
		}
		lone := c == '\r' && !bytes.HasPrefix(data[offset:], []byte("\r\n"))
		if !json && (lone || isControl(c)) {
			return offset, fmt.Sprintf("the control character U+%04X", c)
		}
		offset += size
	}
	return 0, ""
}

// isControl finds control characters but tab and line break, the line breaks that only some readers know, and a second
// byte order mark.
func isControl(c rune) bool {
	return unicode.IsControl(c) && c != '\t' && c != '\n' && c != '\r' || c == '\u2028' || c == '\u2029' || c == '\ufeff'
}
