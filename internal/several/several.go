package several

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Of returns n with a noun, given in the singular: "byte", "reply". The plural ends in "s", in "ies" for "y",
// and in "es" after "s". It is safe for concurrent use.
func Of[N ~int | ~int64](n N, noun string) string {
	switch stem, isY := strings.CutSuffix(noun, "y"); {
	case n == 1:
	case isY:
		noun = stem + "ies"
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}

// Grouped returns a number with commas: "21,750".
func Grouped[N ~int | ~int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Joined returns the text of all of them on one line: "nights: required; room: required".
func Joined[T fmt.Stringer](all []T) string {
	texts := make([]string, len(all))
	for n, one := range all {
		texts[n] = one.String()
	}
	return strings.Join(texts, "; ")
}

// Low reports that less than a tenth is left of something that is limited.
func Low[N ~int | ~int64](left, of N) bool { return of > 0 && left <= (of-1)/10 }

// Money returns a cost in millionths as units of money: "0.00039".
func Money(micros int64) string {
	text := fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Rough returns a duration in at most two units: "4s", "1m04s", "2h52m", "3d04h".
func Rough(d time.Duration) string {
	s := max(0, int64(d/time.Second))
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}
