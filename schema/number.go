package schema

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Bounds on a single number, so that exact arithmetic on it stays cheap.
const (
	maxNumberBytes    = 1000
	maxNumberExponent = 400
	maxExactDigits    = 15 // of a whole number that a double holds exactly
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

// decimal is a JSON number as digits, without zeros at either end, times a power of ten: equal numbers are
// equal decimals.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

func decimalOf(text string) decimal {
	var d decimal
	text, d.negative = strings.CutPrefix(text, "-")
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		d.exponent, _ = strconv.Atoi(strings.TrimPrefix(text[at+1:], "+"))
		text = text[:at]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	d.exponent -= len(fraction)
	d.digits = strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(d.digits, "0")
	d.exponent += len(d.digits) - len(short)
	if d.digits = short; short == "" {
		return decimal{}
	}
	return d
}

// isWhole reports whether a number has no fractional part, however it is written.
func isWhole(text string) bool {
	if _, fraction, _ := strings.Cut(text, "."); !strings.ContainsAny(text, "eE") {
		return strings.Trim(fraction, "0") == ""
	}
	return decimalOf(text).exponent >= 0
}

// isPlain reports whether a whole number is written in the one plain way: few digits, and no more than those.
func isPlain(text string) bool {
	return len(text) <= maxExactDigits && text != "-0" && !strings.ContainsAny(text, ".eE")
}

// String is the same for equal numbers. Of a whole number of few digits it is these.
func (d decimal) String() string {
	if d.exponent >= 0 && len(d.digits)+d.exponent <= maxExactDigits {
		return d.whole()
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	return sign + d.digits + "e" + strconv.Itoa(d.exponent)
}

// plainInteger writes a whole number such as 2.0 or 2e3 as digits; false where it is not whole.
func plainInteger(text string) (string, bool) {
	if isPlain(text) {
		return text, true
	}
	d := decimalOf(text)
	if d.exponent < 0 {
		return "", false
	}
	return d.whole(), true
}

// whole writes a whole number as digits.
func (d decimal) whole() string {
	switch digits := d.digits + strings.Repeat("0", d.exponent); {
	case digits == "":
		return "0"
	case d.negative:
		return "-" + digits
	default:
		return digits
	}
}

// bound is a number that others are compared with, exactly.
type bound struct {
	rat   *big.Rat
	float float64 // the nearest
	exact bool    // rat is float
}

func newBound(r *big.Rat) *bound {
	if r == nil {
		return nil
	}
	b := &bound{rat: r}
	b.float, b.exact = r.Float64()
	return b
}

// compare says how a number stands to the bound: -1 below, 0 equal, 1 above. Rounding keeps order, so that
// floats that differ tell.
func (b *bound) compare(text string) int {
	f, _ := strconv.ParseFloat(text, 64)
	switch {
	case f < b.float:
		return -1
	case f > b.float:
		return 1
	case b.exact && len(text) <= maxExactDigits && !strings.ContainsAny(text, ".eE"):
		return 0
	}
	return rat(text).Cmp(b.rat)
}

// divides reports whether a number is a multiple of the bound.
func (b *bound) divides(text string) bool {
	if b.rat.IsInt() && b.rat.Num().IsInt64() {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n%b.rat.Num().Int64() == 0
		}
	}
	return new(big.Rat).Quo(rat(text), b.rat).IsInt()
}

func rat(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text) // cannot fail: the text is a JSON number
	return r
}
