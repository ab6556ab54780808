package several

import (
	"strconv"
	"strings"
)

// Of returns n with a noun, given in the singular: "byte", "reply". The plural ends in "s", or in "ies" for
// "y". It is safe for concurrent use.
func Of[N ~int | ~int64](n N, noun string) string {
	switch stem, isY := strings.CutSuffix(noun, "y"); {
	case n == 1:
	case isY:
		noun = stem + "ies"
	default:
		noun += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}
