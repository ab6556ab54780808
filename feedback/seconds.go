package feedback

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

var errSeconds = errors.New("must be a JSON number of seconds, 0 or more, in whole nanoseconds and at most 9223372036.854775807")

// formatSeconds prints a duration as an exact decimal of seconds: 1500ms is "1.5".
func formatSeconds(d time.Duration) string {
	whole := strconv.FormatInt(int64(d/time.Second), 10)
	rest := int64(d % time.Second)
	if rest == 0 {
		return whole
	}
	digits := strconv.FormatInt(int64(time.Second)+rest, 10)[1:]
	return whole + "." + strings.TrimRight(digits, "0")
}

// parseSeconds reads a JSON number of seconds exactly, with an exponent too, as other languages print small
// numbers. What is finer than a nanosecond is refused, not rounded.
func parseSeconds(s string) (time.Duration, error) {
	mantissa, exponent, err := splitExponent(s)
	if err != nil {
		return 0, errSeconds
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	kept := strings.TrimRight(digits, "0")
	if kept == "" {
		return 0, nil
	}
	zeros := len(digits) - len(kept) + exponent - len(fraction) + 9
	if zeros < 0 || len(kept)+zeros > 19 {
		return 0, errSeconds
	}
	n, err := strconv.ParseInt(kept+strings.Repeat("0", zeros), 10, 64)
	if err != nil || n < 0 {
		return 0, errSeconds
	}
	return time.Duration(n), nil
}

func splitExponent(s string) (mantissa string, exponent int, err error) {
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		return s, 0, nil
	}
	exponent, err = strconv.Atoi(s[at+1:])
	if err != nil || exponent > 99 || exponent < -99 {
		return "", 0, errSeconds
	}
	return s[:at], exponent, nil
}
