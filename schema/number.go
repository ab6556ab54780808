package schema

import (
	"cmp"
	"errors"
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
	maxExactDigits    = 15  // a double holds all whole numbers of so many digits
	maxDoubleDigits   = 308 // and is above all of so many
)

// decimal is a JSON number in its parts: the digits before the point and after it, and the exponent. One that
// is beyond the range of an int is the nearest int.
type decimal struct {
	text, whole, fraction string
	exponent              int
}

// decimalOf reads a number of JSON. isNumber is false where the text is none.
func decimalOf(text string) (d decimal, isNumber bool) {
	d.text = text
	rest := strings.TrimPrefix(text, "-")
	d.whole = rest[:digitsOf(rest)]
	rest = rest[len(d.whole):]
	isNumber = d.whole != "" && (len(d.whole) == 1 || d.whole[0] != '0')
	if rest != "" && rest[0] == '.' {
		d.fraction = rest[1 : 1+digitsOf(rest[1:])]
		rest = rest[1+len(d.fraction):]
		isNumber = isNumber && d.fraction != ""
	}
	if rest != "" && rest[0]|' ' == 'e' {
		var err error
		d.exponent, err = strconv.Atoi(rest[1:])
		return d, isNumber && !errors.Is(err, strconv.ErrSyntax)
	}
	return d, isNumber && rest == ""
}

// digitsOf counts the digits at the beginning of a text.
func digitsOf(text string) (count int) {
	for count < len(text) && text[count] >= '0' && text[count] <= '9' {
		count++
	}
	return count
}

// isInBounds reports whether a number is short enough, has a small exponent and is within the range of a
// double: exact arithmetic on 1e999999999 would cost more than any document is worth.
func (d decimal) isInBounds() bool {
	switch {
	case len(d.text) > maxNumberBytes || d.exponent < -maxNumberExponent || d.exponent > maxNumberExponent:
		return false
	case len(d.whole)+d.exponent <= maxDoubleDigits:
		return true
	}
	_, err := strconv.ParseFloat(d.text, 64)
	return err == nil
}

// isExact reports whether a number has no more digits, nor an exponent: no other number of at most 15 digits
// is nearest to the same double, nor is another of at most 6 nearest to the same float32.
func (d decimal) isExact(digits int) bool {
	return len(d.whole)+len(d.fraction) <= digits && d.exponent == 0
}

// isWhole reports whether a number has no fractional part.
func (d decimal) isWhole() bool {
	if fraction := strings.TrimRight(d.fraction, "0"); fraction != "" || d.exponent >= 0 {
		return d.exponent >= len(fraction)
	}
	digits := strings.TrimRight(d.whole, "0")
	return digits == "" || len(d.whole)+d.exponent >= len(digits)
}

// isPlain reports whether a number is a whole one of few digits, written as those digits alone.
func isPlain(text string) bool { return len(text) <= maxExactDigits && isDigits(text) }

// isDigits reports whether a number is a whole one, written as its digits alone.
func isDigits(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digitsOf(digits) == len(digits) && text != "-0"
}

// plainNumber writes a number in one form: equal numbers get equal texts.
func plainNumber(text string) string {
	if isPlain(text) {
		return text
	}
	return string(canon.Decimals([]byte(text)))
}

// wholeNumber writes a whole number as digits alone.
func wholeNumber(text string) string {
	if isDigits(text) {
		return text
	}
	return exactly(text).Num().String()
}

// exactly returns the value of a JSON number.
func exactly(text string) *big.Rat {
	n, _ := new(big.Rat).SetString(text) // cannot fail: it was read
	return n
}

// bound is a bound of numbers. refuses says whether it refuses numbers below it, equal to it and above it.
type bound struct {
	rule    string
	at      *big.Rat
	near    float64 // the double that is nearest
	isExact bool    // it has so few digits that no other number of as few is nearest to the same double
	refuses [3]bool
}

// boundsOf returns the bounds that a schema has.
func boundsOf(s *jsonschema.Schema) (bounds []bound) {
	for _, b := range []bound{
		{rule: "minimum", at: s.Minimum, refuses: [3]bool{true, false, false}},
		{rule: "maximum", at: s.Maximum, refuses: [3]bool{false, false, true}},
		{rule: "exclusiveMinimum", at: s.ExclusiveMinimum, refuses: [3]bool{true, true, false}},
		{rule: "exclusiveMaximum", at: s.ExclusiveMaximum, refuses: [3]bool{false, true, true}},
	} {
		if b.at != nil {
			bounds = append(bounds, b.withNear())
		}
	}
	return bounds
}

func (b bound) withNear() bound {
	b.near, _ = b.at.Float64()
	b.isExact = !math.IsInf(b.near, 0) && exactly(strconv.FormatFloat(b.near, 'e', maxExactDigits-1, 64)).Cmp(b.at) == 0
	return b
}

// near returns the double that is nearest to a number. It keeps the latest one, because a number is stored
// right after it was checked.
func (t *tree) near(v value) float64 {
	if t.nearTo == v.datum {
		return t.nearest
	}
	t.nearTo = v.datum
	if text := v.text(); isPlain(text) {
		n, _ := strconv.ParseInt(text, 10, 64) // cannot fail: it was read
		t.nearest = float64(n)
	} else {
		t.nearest, _ = strconv.ParseFloat(text, 64) // likewise
	}
	return t.nearest
}

// compare returns -1 if a JSON number is below the bound, 0 if it is equal, 1 if it is above. n is the double
// that is nearest to it. Doubles that differ are in the order of the numbers that they are nearest to.
func (b *bound) compare(text string, n float64) int {
	if c := cmp.Compare(n, b.near); c != 0 {
		return c
	} else if d, _ := decimalOf(text); b.isExact && d.isExact(maxExactDigits) {
		return 0
	}
	return exactly(text).Cmp(b.at)
}

// isMultiple reports whether a number is a multiple of another.
func isMultiple(text string, of *big.Rat) bool {
	n := exactly(text)
	return n.Quo(n, of).IsInt()
}
