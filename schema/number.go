package schema

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
)

// numberInBounds reports whether a JSON number is short enough, has a small exponent and is within the range of a double:
// exact arithmetic on 1e999999999 would cost more than any document is worth.
func numberInBounds(text []byte) bool {
	if len(text) > maxNumberBytes {
		return false
	}
	if at := bytes.IndexAny(text, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(string(bytes.TrimPrefix(text[at+1:], []byte("+"))))
		if err != nil || exponent > maxNumberExponent || exponent < -maxNumberExponent {
			return false
		}
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return err == nil && !math.IsInf(f, 0)
}

// isInteger reports whether n has no fractional part, however it is written.
func isInteger(n json.Number) bool {
	if isPlainInteger([]byte(n)) {
		return true
	}
	r, ok := new(big.Rat).SetString(string(n))
	return ok && r.IsInt()
}

// plainInteger writes a number such as 2.0 or 2e3 as an integer literal; false where it is none or would not fit 64 bits.
func plainInteger(text string) (string, bool) {
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() {
		return "", false
	}
	n := r.Num()
	if !n.IsInt64() && !n.IsUint64() {
		return "", false
	}
	return n.String(), true
}
