package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/fields"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/policy"
)

// The limits of a file, far above those of any real policy.
const (
	maxBytes  = 1 << 20
	maxDepth  = 32
	maxTokens = 20_000
)

// place is a position in a file, 1-based; column counts characters. The zero value means "not known".
type place struct{ line, column int }

var start = place{1, 1}

// spot has the places of a member: of its key and of its value. For an entry of a list, which has no key,
// they are the same.
type spot struct{ key, value place }

// reader reads one file.
type reader struct {
	name   string
	faults []*Fault
	more   bool // there are more faults than are told
	// places are the places of members and list entries, by path.
	places map[string]spot
}

// Read reads a policy file from data. The name appears in faults and in the origins of the layers, and its
// extension decides between YAML and JSON; no file is opened. What the file does not set is as in
// [policy.DefaultSet].
//
// The error joins every fault, each a [*Fault], in the order of the file; the set is then zero. A set that is
// returned without an error is valid. The section "fleet" is checked, too; [ReadFleet] returns it.
func Read(name string, data []byte) (policy.Set, error) {
	set, _, err := read(name, data)
	return set, err
}

// ReadFleet reads the section "fleet" of a policy file, as strictly as [Read] reads all of it: the faults of
// both are told. It is zero in a file without the section.
func ReadFleet(name string, data []byte) (limit.Fleet, error) {
	_, fleet, err := read(name, data)
	return fleet, err
}

func read(name string, data []byte) (set policy.Set, fleet limit.Fleet, err error) {
	r := &reader{name: name, places: map[string]spot{}}
	set = policy.DefaultSet()
	if data, ok := r.parse(data); ok {
		r.root(bytes.TrimSpace(data), &set, &fleet)
	}
	if len(r.faults) > 0 {
		return policy.Set{}, limit.Fleet{}, r.joined()
	}
	return set, fleet, nil
}

// ReadOther reads a file of other settings into v, as strictly as Read reads a policy. The UnmarshalJSON of v
// gets the file as JSON. Its error must join faults, each a [*policy.FieldError]: the error of ReadOther has
// them with line and column.
func ReadOther(name string, data []byte, v json.Unmarshaler) error {
	r := &reader{name: name, places: map[string]spot{}}
	if data, ok := r.parse(data); ok {
		r.take(v.UnmarshalJSON(data))
	}
	if len(r.faults) > 0 {
		return r.joined()
	}
	return nil
}

// parse returns the file as JSON, and notes the places of what is in it.
func (r *reader) parse(data []byte) (text []byte, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	is := isJSON(r.name, data)
	if !r.plainText(data, is) {
		return nil, false
	}
	w := &walker{reader: r, data: data, lines: lines{data: data}}
	if !is {
		if data, w.at, ok = r.parseYAML(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))); !ok {
			return nil, false
		}
	}
	return data, w.walk(data)
}

// root reads the top-level mapping: a single policy, or the layers of a set, and beside either the fleet.
func (r *reader) root(data []byte, set *policy.Set, fleet *limit.Fleet) {
	f := fields.Collect()
	var own, layers, both members
	var misplaced []string
	single, layered := false, false
	fields.Members(data, f, func(key string, v jsontext.Value, at fields.Faults) {
		inLayer, inSet := slices.Contains(layerKeys, key), slices.Contains(setKeys, key)
		single, layered = single || inLayer, layered || inSet
		switch {
		case key == fleetKey:
			at.Take(fleet.UnmarshalJSON(v))
			return
		case !inSet && !inLayer && fields.Near(key, allKeys) == fleetKey:
			r.fault(r.places[key].key, key, "this key is not known here", "did you mean "+fleetKey+"?")
			return
		case inLayer:
			misplaced = append(misplaced, key)
			own.add(key, v)
		case !inSet && ofPolicy(key):
			own.add(key, v)
		default:
			layers.add(key, v)
		}
		both.add(key, v)
	})
	err := fields.Err[policy.FieldError](f)
	if data[0] != '{' {
		r.fault(start, "", err.Error(), "write max_attempts: 3, for example")
		return
	}
	r.take(err)
	if !single && !layered { // no key is known: similar keys decide
		single = len(own) > 0
	}
	switch {
	case single && layered:
		for _, key := range misplaced {
			r.fault(r.places[key].key, key, "a key of a single policy cannot stand beside layers or limits of a run",
				"put it under global:")
		}
		r.set(layers.object(), set)
		r.single(own.object(), set)
	case single:
		r.single(both.object(), set)
	default:
		r.set(both.object(), set)
	}
}

// members are those of an object, as JSON.
type members []byte

func (m *members) add(key string, v jsontext.Value) {
	name, _ := jsontext.AppendQuote(nil, key)
	*m = fmt.Appendf(*m, ",%s:%s", name, v)
}

func (m members) object() []byte { return fmt.Appendf(nil, "{%s}", bytes.TrimPrefix(m, []byte(","))) }

func (r *reader) set(data []byte, set *policy.Set) {
	err := set.UnmarshalJSON(data)
	if err == nil {
		err = set.Validate()
	}
	r.take(err)
	for key, l := range map[string]*policy.Layer{"global": &set.Global, "answer": &set.Answer, "call": &set.Call,
		"adjusted": &set.Adjusted, "transport": &set.Transport} {
		r.origins(key, l)
	}
	for key, tools := range map[string]map[string]policy.Layer{"tools": set.Tools, "tool_transport": set.ToolTransport} {
		for name, l := range tools {
			r.origins(fields.Join(key, name), &l)
			tools[name] = l
		}
	}
}

// single reads one policy, which becomes the global layer. Paths are relative to the policy.
func (r *reader) single(data []byte, set *policy.Set) {
	*set = policy.DefaultSet()
	err := set.Global.UnmarshalJSON(data)
	if err == nil {
		err = set.Global.Validate()
	}
	if r.take(err); err == nil && len(r.faults) == 0 { // also check it over the defaults
		r.take(set.Validate())
	}
	r.origins("", &set.Global)
}

// origins notes where the fields of a layer were written, if it does not say so itself.
func (r *reader) origins(path string, l *policy.Layer) {
	all := map[string]policy.Source{}
	for _, field := range l.Sets() {
		source := l.Origins[field]
		at, ok := r.places[fields.Shown(fields.Join(path, field))]
		if !ok {
			at, ok = r.places[fields.Shown(fields.Join(path, "preset"))]
		}
		if ok && source == (policy.Source{}) {
			source = policy.Source{File: r.name, Line: at.key.line, Column: at.key.column}
		}
		all[field] = source
	}
	l.Origins = all
}

// The key of what belongs to a fleet.
const fleetKey = "fleet"

// The keys of a set, of a layer alone, and all that a file may have.
var (
	setKeys   = fields.Names(fields.Of[policy.Set]())
	layerKeys = append([]string{"preset"}, fields.Names(fields.Of[policy.Layer]())...)
	allKeys   = slices.Concat(setKeys, layerKeys, []string{fleetKey})
)

// ofPolicy reports whether an unknown key is probably meant as a key of a single policy.
func ofPolicy(key string) bool { return fields.Near(key, layerKeys) != "" || fields.IsForeign(key) }

// isJSON decides by the extension of the name, else by the first byte.
func isJSON(name string, data []byte) bool {
	switch path.Ext(strings.ToLower(name)) {
	case ".json":
		return true
	case ".yaml", ".yml":
		return false
	}
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// plainText refuses files that are empty, too large or not plain text.
func (r *reader) plainText(data []byte, isJSON bool) bool {
	switch {
	case len(data) > maxBytes:
		r.fault(start, "", fmt.Sprintf("the file has %d bytes", len(data)),
			fmt.Sprintf("at most %d are read", maxBytes))
	case len(bytes.TrimSpace(data)) == 0:
		r.fault(start, "", "the file is empty", "write what it is to set, or leave the file out")
	default:
		at, bad := unprintable(data, isJSON)
		if bad == "" {
			return true
		}
		r.fault((&lines{data: data}).of(at), "", bad, "save the file as plain UTF-8 text")
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
	return unicode.IsControl(c) && !strings.ContainsRune("\t\n\r", c) || strings.ContainsRune("\u2028\u2029\ufeff", c)
}
