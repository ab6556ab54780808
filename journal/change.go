package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// Change is one value that differs between two JSON documents.
type Change struct {
	// Path is the JSON Pointer of the value.
	Path string `json:"path"`
	// Was and Now are the values as JSON; empty if there is none.
	Was string `json:"was,omitempty"`
	Now string `json:"now,omitempty"`
}

// String returns the change as text. Long values are cut to the part that differs.
func (c Change) String() string {
	was, now := window(c.Was, c.Now)
	return fmt.Sprintf("%s: %s -> %s", c.Path, orNothing(was), orNothing(now))
}

// writeChanges writes a table of changes.
func writeChanges(b *strings.Builder, all []Change, indent string) {
	shown := all[:min(len(all), maxShown)]
	width := 0
	for _, c := range shown {
		width = max(width, utf8.RuneCountInString(c.Path))
	}
	for _, c := range shown {
		was, now := window(c.Was, c.Now)
		fmt.Fprintf(b, "%s%-*s  %s -> %s\n", indent, width, c.Path, orNothing(was), orNothing(now))
	}
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(b, "%sand %d more\n", indent, more)
	}
}

// The longest shown value, and the longest part of it before the first difference, in bytes.
const (
	maxValue = 120
	lead     = 30
)

// window cuts two long values to the part that differs.
func window(was, now string) (string, string) {
	if len(was) <= maxValue && len(now) <= maxValue {
		return was, now
	}
	same := 0
	for same < len(was) && same < len(now) && was[same] == now[same] {
		same++
	}
	from := max(0, same-lead)
	return cutOut(was, from), cutOut(now, from)
}

// cutOut returns a part of a text, with an ellipsis where it was cut.
func cutOut(s string, from int) string {
	if len(s) <= maxValue && from < lead {
		return s
	}
	from = min(from, max(0, len(s)-lead))
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	to := min(len(s), from+maxValue)
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to--
	}
	cut := s[from:to]
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(s) {
		cut += "…"
	}
	return cut
}

// changes compares two JSON documents. The result is in the order of the paths. A document that cannot be
// parsed differs as a whole.
func changes(was, now []byte) []Change {
	a, okA := tree(was)
	b, okB := tree(now)
	if !okA || !okB {
		return []Change{{Was: string(was), Now: string(now)}}
	}
	var w walk
	w.compare(nil, a, b)
	return w.found
}

// tree parses a document and keeps numbers as written.
func tree(raw []byte) (v any, ok bool) {
	if len(raw) == 0 {
		return absent{}, true
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return v, d.Decode(&v) == nil
}

// absent is a missing value.
type absent struct{}

type walk struct{ found []Change }

// compare compares two values and the contents of objects and lists.
func (w *walk) compare(at []string, was, now any) {
	switch a := was.(type) {
	case map[string]any:
		if b, ok := now.(map[string]any); ok {
			w.members(at, a, b)
			return
		}
	case []any:
		if b, ok := now.([]any); ok {
			w.items(at, a, b)
			return
		}
	}
	if !reflect.DeepEqual(was, now) {
		w.found = append(w.found, Change{pointer(at), text(was), text(now)})
	}
}

func (w *walk) members(at []string, a, b map[string]any) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		w.compare(append(at[:len(at):len(at)], name), member(a, name), member(b, name))
	}
}

func member(m map[string]any, name string) any {
	if v, ok := m[name]; ok {
		return v
	}
	return absent{}
}

func (w *walk) items(at []string, a, b []any) {
	for n := range max(len(a), len(b)) {
		w.compare(append(at[:len(at):len(at)], strconv.Itoa(n)), item(a, n), item(b, n))
	}
}

func item(list []any, n int) any {
	if n < len(list) {
		return list[n]
	}
	return absent{}
}

// text returns a value as JSON, with sorted members and numbers as written.
func text(v any) string {
	if v == (any)(absent{}) {
		return ""
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func pointer(at []string) string {
	var p jsontext.Pointer
	for _, part := range at {
		p = p.AppendToken(part)
	}
	return string(p)
}

// firstOther returns the index of the first effect that differs.
func firstOther(a, b []machine.Effect) int {
	n := 0
	for n < len(a) && n < len(b) {
		was, err := canon.Marshal(a[n])
		is, err2 := canon.Marshal(b[n])
		if err != nil || err2 != nil || !bytes.Equal(was, is) {
			break
		}
		n++
	}
	return n
}
