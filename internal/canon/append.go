package canon

import "github.com/go-json-experiment/json/jsontext"

// AppendString appends a string in canonical form. If it is not UTF-8, ok is false and dst is unchanged.
func AppendString(dst []byte, s string) (to []byte, ok bool) {
	to, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		return dst, false
	}
	return to, true
}
