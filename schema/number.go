package schema

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds on a single number, so that exact arithmetic on it stays cheap.
const (
	maxNumberBytes    = 1000
	maxNumberExponent = 400
	maxExactDigits    = 15 // a double holds all whole numbers of so many digits
)

// numberInBounds reports whether a JSON number is short enough, has a small exponent and is within the range
// of a double: exact arithmetic on 1e999999999 would cost more than any document is worth.
func numberInBounds(text string) bool {
	if len(text) > maxNumberBytes {
		return false
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(strings.TrimPrefix(text[at+1:], "+"))
		if err != nil || exponent > maxNumberExponent || exponent < -maxNumberExponent {
			return false
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && !math.IsInf(f, 0)
}

// isPlain reports whether a number is a whole one of few digits, written as those digits alone.
func isPlain(text string) bool {
	return len(text) <= maxExactDigits && text != "-0" && !strings.ContainsAny(text, ".eE")
}

// plainNumber writes a number in one form: equal numbers get equal texts, whole ones digits alone.
func plainNumber(text string) string {
	if isPlain(text) {
		return text
	}
	return decimalOf(text).String()
}

// decimal is a number by its digits: 0.digits × 10^scale. Equal numbers have equal decimals.
type decimal struct {
	negative bool
	digits   string // without zeros at either end; empty for 0
	scale    int
}

// decimalOf reads a JSON number.
func decimalOf(text string) decimal {
	mantissa, negative := strings.CutPrefix(text, "-")
	exponent := 0
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		exponent, _ = strconv.Atoi(mantissa[at+1:])
		mantissa = mantissa[:at]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal{scale: math.MinInt}
	}
	return decimal{negative, strings.TrimRight(digits, "0"), exponent + len(digits) - len(fraction)}
}

// isWhole reports whether a number has no fractional part.
func (d decimal) isWhole() bool { return d.digits == "" || len(d.digits) <= d.scale }

// String writes a number in one form; see plainNumber.
func (d decimal) String() string {
	sign := ""
	if d.negative {
		sign = "-"
	}
	switch {
	case d.digits == "":
		return "0"
	case d.isWhole():
		return sign + d.digits + strings.Repeat("0", d.scale-len(d.digits))
	}
	return sign + "0." + d.digits + "e" + strconv.Itoa(d.scale)
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
	return cmp.Or(cmp.Compare(d.scale, to.scale), cmp.Compare(d.digits, to.digits))
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
	r, _ := new(big.Rat).SetString(text) // cannot fail: the text is a JSON number
	return r.Quo(r, of).IsInt()
}
