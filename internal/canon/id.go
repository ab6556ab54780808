package canon

import (
	"fmt"
	"strings"
	"time"
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

// CheckDeadline reports a deadline of a year that JSON cannot hold, by field. Zero is none.
func CheckDeadline(field string, at time.Time) error {
	if year := at.UTC().Year(); year < 0 || year > lastYear {
		return fmt.Errorf("%s: the year %d: give one from 0 to %d, or none", field, year, lastYear)
	}
	return nil
}

// lastYear is the last year of a time in JSON.
const lastYear = 9999
