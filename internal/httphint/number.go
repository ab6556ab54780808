package httphint

import (
	"errors"
	"strconv"
	"strings"
)

// The errors of parsing a number.
var (
	errNotNumber = errors.New("not a number")
	errNegative  = errors.New("negative")
	errAbsurd    = errors.New("out of all proportion")
	errFraction  = errors.New("not a whole number")
)

// maxExponent is the largest exponent, far above that of any printed float.
const maxExponent = 30

// maxDigits is the most digits of an int64.
const maxDigits = 19

// decimal is a non-negative decimal number as written: digits, of which point digits are before the decimal
// point.
type decimal struct {
	digits string
	point  int
}

// parseDecimal parses "12", "0.25", ".5", "1.5e-05". A leading plus is allowed; a minus is an error.
func parseDecimal(s string) (decimal, error) {
	if strings.HasPrefix(s, "-") {
		if _, err := parseDecimal(s[1:]); err == nil {
			return decimal{}, errNegative
		}
		return decimal{}, errNotNumber
	}
	mantissa, exponent := strings.TrimPrefix(s, "+"), 0
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		n, err := strconv.Atoi(mantissa[at+1:])
		if err != nil || n > maxExponent || n < -maxExponent {
			return decimal{}, errNotNumber
		}
		mantissa, exponent = mantissa[:at], n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return decimal{}, errNotNumber
	}
	return decimal{digits: whole + fraction, point: len(whole) + exponent}, nil
}

// scaled returns the number times 10^power, rounded down.
func (d decimal) scaled(power int) (int64, error) {
	end := d.point + power
	if end <= 0 {
		return 0, nil
	}
	kept := d.digits[:min(end, len(d.digits))]
	pad := end - len(kept)
	kept = strings.TrimLeft(kept, "0")
	if kept == "" {
		return 0, nil
	}
	if len(kept)+pad > maxDigits {
		return 0, errAbsurd
	}
	n, err := strconv.ParseInt(kept+strings.Repeat("0", pad), 10, 64)
	if err != nil {
		return 0, errAbsurd
	}
	return n, nil
}

// whole reports whether the number has no fraction.
func (d decimal) whole() bool {
	fraction := d.digits[min(max(d.point, 0), len(d.digits)):]
	return strings.Trim(fraction, "0") == ""
}

// Count parses a whole number of 0 or more ("10", also "10.0").
func Count(s string) (int64, error) {
	d, err := parseDecimal(strings.TrimSpace(s))
	if err != nil {
		return 0, err
	}
	if !d.whole() {
		return 0, errFraction
	}
	return d.scaled(0)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
