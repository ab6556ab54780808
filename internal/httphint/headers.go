package httphint

import (
	"maps"
	"slices"
	"strings"
)

// MaxValue is the longest header value that is read, in bytes. MaxValues is the most values of one header.
const (
	MaxValue  = 1024
	MaxValues = 16
)

// Header is one header under its lower-case name. Values are sorted and distinct, so the case and order of
// headers do not matter.
type Header struct {
	Name   string
	Values []string
}

// Headers are sorted by name.
type Headers []Header

// Fold sorts headers and converts their names to lower case. It keeps the headers whose lower-case name keep
// accepts.
func Fold(raw map[string][]string, keep func(name string) bool) Headers {
	folded := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		lower := strings.ToLower(strings.TrimSpace(name))
		if keep(lower) {
			folded[lower] = append(folded[lower], raw[name]...)
		}
	}
	out := make(Headers, 0, len(folded))
	for _, name := range slices.Sorted(maps.Keys(folded)) {
		out = append(out, Header{Name: name, Values: cleanValues(folded[name])})
	}
	return out
}

func cleanValues(values []string) []string {
	clean := make([]string, len(values))
	for i, v := range values {
		clean[i] = strings.TrimSpace(v)
	}
	slices.Sort(clean)
	clean = slices.Compact(clean)
	return clean[:min(len(clean), MaxValues)]
}

// Values returns the values of a header by its lower-case name, or nil.
func (h Headers) Values(name string) []string {
	at, found := slices.BinarySearchFunc(h, name,
		func(e Header, n string) int { return strings.Compare(e.Name, n) })
	if !found {
		return nil
	}
	return h[at].Values
}
