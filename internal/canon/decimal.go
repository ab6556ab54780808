package canon

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Decimals returns JSON with each number in one form for its exact value, so that 100, 100.0 and 1e2 become
// the same. It is for comparing and hashing, not for programs. Strings stay as they are. The result has at
// most [maxShift] bytes more for each number. It is raw itself if nothing changes. Text that is not JSON is
// copied, too.
func Decimals(raw []byte) []byte {
	var to []byte
	done := 0 // raw[:done] is in to, unless to is nil
	for at := 0; at < len(raw); {
		switch c := raw[at]; {
		case c == '"':
			at = afterString(raw, at)
		case c == '-' || '0' <= c && c <= '9':
			end := at + 1
			for end < len(raw) && isOfNumber[raw[end]] {
				end++
			}
			if n := raw[at:end]; !plain(n) {
				to = append(slices.Grow(to, len(raw)-done+maxShift), raw[done:at]...)
				to, done = appendDecimal(to, n), end
			}
			at = end
		default:
			at++
		}
	}
	if done == 0 {
		return raw
	}
	return append(to, raw[done:]...)
}

// isOfNumber says which bytes a number may have.
var isOfNumber = [256]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'+': true, '-': true, '.': true, 'e': true, 'E': true,
}

// InUnits returns a duration, 0 or more, in a unit as an exact decimal: 1500ms in seconds is "1.5". The unit
// is a power of ten.
func InUnits(d, unit time.Duration) string {
	digits := len(strconv.Itoa(int(unit))) - 1
	text := fmt.Sprintf("%d.%0*d", d/unit, digits, d%unit)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// afterString returns the place after the string that begins at.
func afterString(raw []byte, at int) int {
	rest := raw[at+1:]
	if end := bytes.IndexByte(rest, '"'); end >= 0 && bytes.IndexByte(rest[:end], '\\') < 0 {
		return at + end + 2
	}
	for at++; at < len(raw); at++ {
		switch raw[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(raw)
}

// maxShift is how far the point may be from the last digit in a number that is written out.
const maxShift = 20

// plain reports whether a number is in its form already: it has no exponent, is short, and a fraction does
// not end with 0.
func plain(n []byte) bool {
	has := func(c byte) bool { return bytes.IndexByte(n, c) >= 0 }
	return len(n) <= maxShift && !has('e') && !has('E') && string(n) != "-0" && !(n[len(n)-1] == '0' && has('.'))
}

// appendDecimal appends the form of a number. Its value is digits × 10^shift, where digits neither begin nor
// end with 0. It is written out if the shift is small, else with the shift as its exponent. An exponent that
// does not fit 32 bits leaves the number as it is.
func appendDecimal(to, n []byte) []byte {
	text, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	text, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	e, err := strconv.ParseInt(cmp.Or(exponent, "0"), 10, 32)
	switch {
	case significant == "":
		return append(to, '0')
	case err != nil:
		return append(to, n...)
	case negative:
		to = append(to, '-')
	}
	shift := int(e) + len(digits) - len(significant) - len(fraction)
	switch {
	case shift < -maxShift || shift > maxShift:
		return append(append(append(to, significant...), 'e'), strconv.Itoa(shift)...)
	case shift >= 0:
		return append(append(to, significant...), strings.Repeat("0", shift)...)
	case len(significant) > -shift:
		point := len(significant) + shift
		return append(append(append(to, significant[:point]...), '.'), significant[point:]...)
	}
	to = append(append(to, "0."...), strings.Repeat("0", -shift-len(significant))...)
	return append(to, significant...)
}
