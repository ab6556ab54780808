package httphint

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
)

// The errors of parsing a number.
var (
	errNotNumber = errors.New("not a number")
	errNegative  = errors.New("negative")
	errAbsurd    = errors.New("out of all proportion")
	errFraction  = errors.New("not a whole number")
)

// decimalForm is a number, with its minus apart. Its exponent is at most 30, far above that of any printed
// float.
var decimalForm = regexp.MustCompile(
	`^(-?)\+?((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?0*(?:[0-2]?[0-9]|30))?)$`)

// decimal is a number of 0 or more, exactly as it is written.
type decimal struct{ big.Rat }

// parseDecimal parses "12", "0.25", ".5", "1.5e-05". A leading plus is allowed; a minus is an error. Reading
// takes time that grows with the square of the length, so the length is bounded.
func parseDecimal(s string) (*decimal, error) {
	parts := decimalForm.FindStringSubmatch(s)
	d := &decimal{}
	switch {
	case parts == nil:
		return nil, errNotNumber
	case parts[1] != "":
		return nil, errNegative
	case len(s) > MaxValue:
		return nil, errAbsurd
	}
	d.SetString(parts[2])
	return d, nil
}

// scaled returns the number times 10^power, rounded down.
func (d *decimal) scaled(power int64) (int64, error) {
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(power), nil)
	if n.Quo(n.Mul(n, d.Num()), d.Denom()); !n.IsInt64() {
		return 0, errAbsurd
	}
	return n.Int64(), nil
}

// Count parses a whole number of 0 or more ("10", also "10.0").
func Count(s string) (int64, error) {
	d, err := parseDecimal(strings.TrimSpace(s))
	if err != nil {
		return 0, err
	}
	if !d.IsInt() {
		return 0, errFraction
	}
	return d.scaled(0)
}
