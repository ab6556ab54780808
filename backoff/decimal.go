package backoff

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/retake-go/retake/internal/fields"
)

// Decimal is an exact decimal number of 0 or more with up to nine decimal places, in units of 1e-9. It avoids
// the rounding of binary fractions. Write whole numbers as 2*backoff.One and others as backoff.Dec("1.5"). In
// JSON and YAML it is a number, and is read from a number or a string. The largest is 9223372036.854775807.
type Decimal int64

// One is the Decimal 1.
const One Decimal = 1_000_000_000

const decimals = 9

// Dec parses a decimal that is written in Go code. It panics if ParseDecimal returns an error.
func Dec(text string) Decimal {
	d, err := ParseDecimal(text)
	if err != nil {
		panic("backoff: " + err.Error())
	}
	return d
}

// ParseDecimal parses a number in the syntax of JSON: "2", "0.2", "1.5e3". It refuses signs, text that is not
// a number, and numbers that a Decimal cannot hold exactly.
func ParseDecimal(text string) (Decimal, error) {
	const most = 64 // bytes, enough for any number that fits
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if fields.IsNumber(text) && len(text) <= most && len(exponent) <= len("+999") {
		v, _ := new(big.Rat).SetString(text)
		if v.Mul(v, big.NewRat(int64(One), 1)); v.IsInt() && v.Num().IsInt64() {
			return Decimal(v.Num().Int64()), nil
		}
	}
	return 0, fmt.Errorf("want a decimal from 0 to %v with at most %d decimals, such as 1.5, got %s",
		Decimal(1<<63-1), decimals, fields.Quoted(text))
}

// String returns the shortest form of d: "1.5", "2", "0.000000001".
func (d Decimal) String() string { return d.shifted(decimals) }

// shifted returns d·10^-places without trailing zeros.
func (d Decimal) shifted(places int) string {
	text := big.NewRat(int64(d), int64(math.Pow10(places))).FloatString(places)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// MarshalJSON writes d as a number. It refuses a negative d.
func (d Decimal) MarshalJSON() ([]byte, error) {
	if d < 0 {
		return nil, fmt.Errorf("want a decimal of 0 or more, got %v", d)
	}
	return []byte(d.String()), nil
}

// UnmarshalJSON reads a number, or a string with a number, as ParseDecimal does.
func (d *Decimal) UnmarshalJSON(data []byte) error {
	v, err := ParseDecimal(strings.Trim(string(data), `"`))
	if err == nil {
		*d = v
	}
	return err
}
