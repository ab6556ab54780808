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

// isWhole reports whether a number has no fractional part, however it is written.
func isWhole(text string) bool {
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		mantissa = text[:at]
		exponent, _ = strconv.Atoi(strings.TrimPrefix(text[at+1:], "+"))
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(whole+fraction, "0")
	return strings.Trim(digits, "-0") == "" || len(digits) <= len(whole)+exponent
}

// isPlain reports whether a whole number is written in the one plain way: few digits, and no more than those.
func isPlain(text string) bool {
	return len(text) <= maxExactDigits && text != "-0" && !strings.ContainsAny(text, ".eE")
}

// plainInteger writes a whole number such as 2.0 or 2e3 as digits.
func plainInteger(text string) string {
	if isPlain(text) {
		return text
	}
	return rat(text).RatString()
}

// bound is a number that others are compared with, exactly.
type bound struct {
	rat   *big.Rat
	float float64 // the nearest
}

func newBound(r *big.Rat) *bound {
	if r == nil {
		return nil
	}
	f, _ := r.Float64()
	return &bound{r, f}
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
