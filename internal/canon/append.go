package canon

import "github.com/go-json-experiment/json/jsontext"

// AppendString appends a string in canonical form; where it is not UTF-8, and has no such form, dst is
// returned and ok is false.
func AppendString(dst []byte, s string) (to []byte, ok bool) {
	to, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		return dst, false
	}
	return to, true
}
