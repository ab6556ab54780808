package file

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-go/retake/internal/fields"
	"github.com/retake-go/retake/policy"
)

// The limits of a file, far above those of any real policy.
const (
	maxBytes  = 1 << 20
	maxDepth  = fields.MaxDepth
	maxTokens = 20_000
)

// reader reads one file.
type reader struct{ fields.Reader }

// Read reads a policy file from data. The name appears in faults and in the origins of the layers, and its
// extension decides between YAML and JSON; no file is opened. What the file does not set is as in
// [policy.DefaultSet].
//
// The error joins every fault, each a [*Fault], in the order of the file; the set is then zero. A set that is
// returned without an error is valid.
func Read(name string, data []byte) (policy.Set, error) {
	r := &reader{fields.Reader{File: name}}
	set := policy.DefaultSet()
	if root, ok := r.parse(data); ok {
		r.root(root, &set)
	}
	if len(r.Faults) > 0 {
		return policy.Set{}, r.joined()
	}
	return set, nil
}

func (r *reader) parse(data []byte) (fields.Node, bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	json := isJSON(r.File, data)
	if !r.plainText(data, json) {
		return fields.Node{}, false
	}
	if !json {
		return r.parseYAML(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
	}
	root, fault := fields.ParseJSON(data, maxTokens)
	if fault != nil {
		r.Fault(fault.At, "", fault.Message, fault.Hint)
	}
	return root, fault == nil
}

// root reads the top-level mapping: a single policy, or the layers of a set.
func (r *reader) root(n fields.Node, set *policy.Set) {
	if n.Kind != fields.Mapping {
		r.Fault(n.At, "", "expected a mapping of keys to values, got "+string(n.Kind),
			"write max_attempts: 3, for example")
		return
	}
	own, layers := n, n
	own.Members, layers.Members = nil, nil
	single, layered := false, false
	for _, m := range n.Members {
		inLayer, inSet := isKey[policy.Layer](m.Key), isKey[policy.Set](m.Key)
		single, layered = single || inLayer, layered || inSet
		if inLayer || !inSet && ofPolicy(m.Key) {
			own.Members = append(own.Members, m)
		} else {
			layers.Members = append(layers.Members, m)
		}
	}
	if !single && !layered { // no key is known: similar keys decide
		single = len(own.Members) > 0
	}
	switch {
	case single && layered:
		for _, m := range own.Members {
			if isKey[policy.Layer](m.Key) {
				r.Fault(m.At, m.Key, "a key of a single policy cannot stand beside layers or limits of a run",
					"put it under global:")
			}
		}
		r.set(layers, set)
		r.single(own, set)
	case single:
		r.single(n, set)
	default:
		r.set(n, set)
	}
}

func (r *reader) set(n fields.Node, set *policy.Set) {
	fields.For[policy.Set]().Read(&r.Reader, "", n, set)
	r.Take("", problems(set.Validate()))
}

// single reads one policy, which becomes the global layer. Paths are relative to the policy.
func (r *reader) single(n fields.Node, set *policy.Set) {
	*set = policy.DefaultSet()
	fields.For[policy.Layer]().Read(&r.Reader, "", n, &set.Global)
	r.Take("", problems(set.Global.Validate()))
	if err := set.Validate(); err != nil && r.Found() == 0 { // also check it over the defaults
		r.Take("", problems(err))
	}
}

// problems returns the single errors of a Validate.
func problems(err error) fields.Faults {
	f := fields.Collect()
	fields.Take[policy.FieldError](f, err)
	return f
}

func isKey[T any](key string) bool { return slices.Contains(fields.For[T]().Keys(), key) }

// ofPolicy reports whether an unknown key is probably meant as a key of a single policy.
func ofPolicy(key string) bool {
	return fields.Near(key, fields.For[policy.Layer]().Keys()) != "" || fields.IsForeign(key)
}

// isJSON decides by the extension of the name, else by the first byte.
func isJSON(name string, data []byte) bool {
	switch name = strings.ToLower(name); {
	case strings.HasSuffix(name, ".json"):
		return true
	case strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return false
	}
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// plainText refuses files that are empty, too large or not plain text.
func (r *reader) plainText(data []byte, json bool) bool {
	switch {
	case len(data) > maxBytes:
		r.Fault(start, "", fmt.Sprintf("the file has %d bytes", len(data)),
			fmt.Sprintf("at most %d are read", maxBytes))
	case len(bytes.TrimSpace(data)) == 0:
		r.Fault(start, "", "the file is empty", "delete the file for the defaults, or write a policy")
	default:
		at, bad := unprintable(data, json)
		if bad == "" {
			return true
		}
		lines := fields.Lines{Data: data}
		r.Fault(lines.Of(at), "", bad, "save the file as plain UTF-8 text")
	}
	return false
}

// unprintable finds the first byte that is not UTF-8. In YAML it also finds control characters that parsers
// treat differently; JSON defines its own.
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

// isControl reports control characters other than tab and line break, line breaks that only some parsers
// know, and a second byte order mark.
func isControl(c rune) bool {
	return unicode.IsControl(c) && c != '\t' && c != '\n' && c != '\r' || c == '\u2028' || c == '\u2029' ||
		c == '\ufeff'
}
