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

// Headers are header values by lower-case name. Values are sorted and distinct, so the case and order of
// headers do not matter.
type Headers map[string][]string

// Fold converts the names of headers to lower case. It keeps the headers whose lower-case name keep accepts.
func Fold(raw map[string][]string, keep func(name string) bool) Headers {
	folded := Headers{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		lower := strings.ToLower(strings.TrimSpace(name))
		if keep(lower) {
			folded[lower] = cleanValues(append(folded[lower], raw[name]...))
		}
	}
	return folded
}

// cleanValues trims, sorts and deduplicates values in place.
func cleanValues(values []string) []string {
	for i, v := range values {
		values[i] = strings.TrimSpace(v)
	}
	slices.Sort(values)
	values = slices.Compact(values)
	return values[:min(len(values), MaxValues)]
}

// Names returns the names, sorted.
func (h Headers) Names() []string { return slices.Sorted(maps.Keys(h)) }
