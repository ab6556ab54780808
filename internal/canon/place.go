package canon

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Path returns the names and numbers of a JSON Pointer.
func Path(pointer string) []string { return slices.Collect(jsontext.Pointer(pointer).Tokens()) }

// Pointer returns the JSON Pointer of a path.
func Pointer(path ...string) string {
	size := len(path)
	for _, step := range path {
		size += len(step)
	}
	var b strings.Builder
	b.Grow(size)
	for _, step := range path {
		b.WriteByte('/')
		for n := range len(step) {
			switch c := step[n]; c {
			case '~':
				b.WriteString("~0")
			case '/':
				b.WriteString("~1")
			default:
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

// At returns the value at a path in decoded JSON; false where there is none.
func At(tree any, path []string) (value any, ok bool) {
	for _, step := range path {
		switch at := tree.(type) {
		case map[string]any:
			if tree, ok = at[step]; !ok {
				return nil, false
			}
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(at) {
				return nil, false
			}
			tree = at[n]
		default:
			return nil, false
		}
	}
	return tree, true
}
