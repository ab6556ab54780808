package httphint

import (
	"strings"
	"sync"
)

// Lookup reads a table of lines, each a meaning, a colon, and the names that have it, once it is first asked.
// The meaning of a name that no line has is empty.
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
