package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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
func (c Change) String() string { return c.Path + ": " + c.values() }

func (c Change) values() string {
	was, now := window(c.Was, c.Now)
	return orNothing(was) + " -> " + orNothing(now)
}

// writeChanges writes a table of changes.
func writeChanges(b *strings.Builder, all []Change) {
	shown := all[:min(len(all), maxShown)]
	width := 0
	for _, c := range shown {
		width = max(width, utf8.RuneCountInString(c.Path))
	}
	for _, c := range shown {
		fmt.Fprintf(b, "  %-*s  %s\n", width, c.Path, c.values())
	}
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(b, "  and %d more\n", more)
	}
}

// The longest shown value, and the longest part of it before the first difference, in bytes.
const (
	maxValue = 120
	lead     = 30
)

// window cuts two long values to the part that differs, from the first difference to the last.
func window(was, now string) (string, string) {
	if len(was) <= maxValue && len(now) <= maxValue {
		return was, now
	}
	same, rest := 0, min(len(was), len(now))
	for same < rest && was[same] == now[same] {
		same++
	}
	end := 0
	for end < rest-same && was[len(was)-1-end] == now[len(now)-1-end] {
		end++
	}
	from := max(0, same-lead)
	return cutOut(was, from, len(was)-end+lead), cutOut(now, from, len(now)-end+lead)
}

// cutOut returns a part of a text; of a long part its beginning and its end.
func cutOut(s string, from, to int) string {
	if len(s) <= maxValue && from < lead {
		return s
	}
	from, to = min(from, max(0, len(s)-lead)), min(to, len(s))
	if to-from <= maxValue {
		return partOf(s, from, from+maxValue)
	}
	return partOf(s, from, from+maxValue/2) + strings.TrimPrefix(partOf(s, to-maxValue/2, to), "…")
}

// partOf returns a part of a text, with an ellipsis where it was cut.
func partOf(s string, from, to int) string {
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	to = min(len(s), to)
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

// changes compares two canonical JSON documents. The result is in the order of the paths.
func changes(was, now []byte) []Change { return changesAt("", was, now) }

// changesAt compares two values at a place, and the contents of objects and lists. An empty one is missing.
func changesAt(at jsontext.Pointer, was, now json.RawMessage) (all []Change) {
	if bytes.Equal(was, now) {
		return nil
	}
	if a, b := partsOf[map[string]json.RawMessage](was), partsOf[map[string]json.RawMessage](now); a != nil &&
		b != nil {
		names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			all = append(all, changesAt(at.AppendToken(name), a[name], b[name])...)
		}
		return all
	}
	if a, b := partsOf[[]json.RawMessage](was), partsOf[[]json.RawMessage](now); a != nil && b != nil {
		size := max(len(a), len(b))
		a, b = append(a, make([]json.RawMessage, size-len(a))...), append(b, make([]json.RawMessage, size-len(b))...)
		for n := range size {
			all = append(all, changesAt(at.AppendToken(strconv.Itoa(n)), a[n], b[n])...)
		}
		return all
	}
	return []Change{{string(at), string(was), string(now)}}
}

// partsOf returns the members of an object, or the items of a list; nil for any other value.
func partsOf[T any](value json.RawMessage) (parts T) {
	_ = json.Unmarshal(value, &parts) // what is no T has no such parts
	return parts
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
