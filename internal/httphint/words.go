package httphint

import (
	"strings"
	"sync"
)

// Lookup parses a table on first use. Each line has a meaning, a colon, and the names with that meaning. The
// result returns the meaning of a name, or "".
func Lookup(table string) func(name string) string {
	all := sync.OnceValue(func() map[string]string {
		meanings := map[string]string{}
		for line := range strings.Lines(table) {
			meaning, names, _ := strings.Cut(line, ":")
			for name := range strings.FieldsSeq(names) {
				meanings[name] = meaning
			}
		}
		return meanings
	})
	return func(name string) string { return all()[name] }
}

// Squash leaves the letters and digits of a name, in lower case: "rawHeaders", "raw_headers" and
// "_raw-headers" are one.
func Squash(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
}
