package schema

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-go/retake/internal/canon"
)

// Bounds on a single number, so that exact arithmetic on it stays cheap.
const (
	maxNumberBytes    = 1000
	maxNumberExponent = 400
	maxSafeExponent   = 300 // a double holds all numbers below this power of ten
	maxExactDigits    = 15  // a double holds all whole numbers of so many digits
)

// numberInBounds reports whether a JSON number is short enough, has a small exponent and is within the range
// of a double: exact arithmetic on 1e999999999 would cost more than any document is worth.
func numberInBounds(text string) bool {
	mantissa, exponent := cutExponent(text)
	if len(text) > maxNumberBytes || exponent > maxNumberExponent || exponent < -maxNumberExponent {
		return false
	}
	if len(mantissa)+exponent <= maxSafeExponent {
		return true
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// cutExponent splits a JSON number into its digits and the exponent, 0 for none.
func cutExponent(text string) (mantissa string, exponent int) {
	for at := range len(text) {
		if text[at] == 'e' || text[at] == 'E' {
			exponent, _ = strconv.Atoi(text[at+1:]) // beyond the range of an int it is the nearest int
			return text[:at], exponent
		}
	}
	return text, 0
}

// isWhole reports whether a JSON number has no fractional part.
func isWhole(text string) bool {
	d := decimalOf(text)
	digits := len(d.whole) + len(d.fraction)
	return d.scale >= digits || digits == 0
}

// isPlain reports whether a number is a whole one of few digits, written as those digits alone.
func isPlain(text string) bool {
	for _, c := range []byte(text) {
		if c == '.' || c == 'e' || c == 'E' {
			return false
		}
	}
	return len(text) <= maxExactDigits && text != "-0"
}

// plainNumber writes a number in one form: equal numbers get equal texts.
func plainNumber(text string) string {
	if isPlain(text) {
		return text
	}
	return string(canon.Decimals([]byte(text)))
}

// decimal is a number by its digits: 0.digits × 10^scale. Equal numbers have equal digits and scales.
type decimal struct {
	negative        bool
	whole, fraction string // the digits, without zeros at either end; empty for 0
	scale           int
}

// decimalOf reads a JSON number.
func decimalOf(text string) decimal {
	mantissa, exponent := cutExponent(text)
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	scale := exponent + len(whole)
	switch {
	case fraction == "":
		whole = strings.TrimRight(whole, "0")
	case whole == "":
		digits := strings.TrimLeft(fraction, "0")
		fraction, scale = digits, exponent+len(digits)-len(fraction)
	}
	if whole == "" && fraction == "" {
		return decimal{scale: math.MinInt}
	}
	return decimal{negative, whole, fraction, scale}
}

func (d decimal) digits() string { return d.whole + d.fraction }

// wholeNumber writes a whole number as digits alone.
func wholeNumber(text string) string {
	if isPlain(text) {
		return text
	}
	return exactly(text).Num().String()
}

// exactly is the value of a JSON number.
func exactly(text string) *big.Rat {
	n, _ := new(big.Rat).SetString(text) // cannot fail: it was read
	return n
}

// compare is -1 if the number is below the other, 0 if they are equal, 1 if it is above.
func (d decimal) compare(to decimal) int {
	switch {
	case d.negative && to.negative:
		d, to = to, d
	case d.negative:
		return -1
	case to.negative:
		return 1
	}
	if d.scale != to.scale {
		return cmp.Compare(d.scale, to.scale)
	}
	return cmp.Compare(d.digits(), to.digits())
}

// bound is a bound of numbers. refuses says whether it refuses numbers below it, equal to it and above it.
type bound struct {
	rule string
	decimal
	refuses [3]bool
}

// boundsOf are the bounds that a schema has.
func boundsOf(s *jsonschema.Schema) (bounds []bound) {
	for _, b := range [...]struct {
		rule    string
		at      *big.Rat
		refuses [3]bool
	}{
		{"minimum", s.Minimum, [3]bool{true, false, false}}, {"maximum", s.Maximum, [3]bool{false, false, true}},
		{"exclusiveMinimum", s.ExclusiveMinimum, [3]bool{true, true, false}},
		{"exclusiveMaximum", s.ExclusiveMaximum, [3]bool{false, true, true}},
	} {
		if b.at != nil {
			digits, _ := b.at.FloatPrec()
			bounds = append(bounds, bound{b.rule, decimalOf(b.at.FloatString(digits)), b.refuses})
		}
	}
	return bounds
}

// isMultiple reports whether a number is a multiple of another.
func isMultiple(text string, of *big.Rat) bool {
	if of.IsInt() && of.Num().IsInt64() {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n%of.Num().Int64() == 0
		}
	}
	n := exactly(text)
	return n.Quo(n, of).IsInt()
}
