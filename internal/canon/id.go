package canon

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxID is the longest id of a request or an action, in bytes.
const MaxID = 256

// CheckID reports what is wrong with an id, by field: it has at most [MaxID] bytes of printable text.
func CheckID(field, id string) error {
	if len(id) > MaxID ||
		strings.ContainsFunc(id, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return fmt.Errorf("%s: %.64q: give at most %d bytes of printable text", field, id, MaxID)
	}
	return nil
}
