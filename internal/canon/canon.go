package canon

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// MaxDepth is how deep arrays and objects may be nested; a scalar has depth 0.
const MaxDepth = 512

// goOptions is how Go values are read and written: as encoding/json does, but strict where that is lax.
var goOptions = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	jsonv1.ReportErrorsWithLegacySemantics(false),
	jsonv1.CallMethodsWithLegacySemantics(false),
	jsonv1.UnmarshalArrayFromAnyLength(false),
	json.MatchCaseInsensitiveNames(false),
	jsontext.AllowDuplicateNames(false),
	jsontext.AllowInvalidUTF8(false),
)

// JSON returns the canonical form of one JSON text. The argument is left as it was and shares no memory with
// the result. What is not strict JSON, or deeper than [MaxDepth], is refused with an [*Error].
func JSON(raw []byte) ([]byte, error) {
	text, err := appendJSON(make([]byte, 0, len(raw)), raw, 0)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Text is [JSON] of a text that is a string.
func Text(text string) ([]byte, error) { return JSON([]byte(text)) }

// Is reports whether a text is in canonical form.
func Is(raw []byte) bool {
	text, err := JSON(raw)
	return err == nil && bytes.Equal(text, raw)
}

// appendJSON appends the canonical form of one JSON text that stands so deep in what is written.
func appendJSON(dst, raw []byte, depth int) ([]byte, *Error) {
	if at := tooDeep(raw, depth); at >= 0 {
		return dst, &Error{Rule: Depth, Offset: at}
	}
	to, err := jsontext.AppendFormat(dst, raw, jsontext.ReorderRawObjects(true))
	if err != nil {
		return dst, explain(raw)
	}
	return to, nil
}

// Marshal returns the canonical JSON of a Go value; map keys are sorted. A value with no JSON form (a NaN, a
// string that is not UTF-8, a channel) is refused with an [*Error] of rule [Encode].
func Marshal(v any) ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	at := reflect.New(reflect.TypeOf(v)) // methods of the pointer count, too
	at.Elem().Set(reflect.ValueOf(v))
	raw, err := json.Marshal(at.Interface(), goOptions)
	if err != nil {
		e := fromLibrary(err, Encode)
		if e.Rule = Encode; strings.Count(e.Pointer, "/") > MaxDepth {
			e.Rule = Depth // it may be endless
		}
		return nil, e
	}
	return JSON(raw)
}

// Unmarshal reads one JSON text into the Go value that v points to, which should be fresh: members that are
// not there keep what v holds. Members unknown to the Go type are passed over. Errors are [*Error]s.
func Unmarshal(raw []byte, v any) error { return unmarshal(raw, v) }

// UnmarshalMended is [Unmarshal], but reads U+FFFD for what is not UTF-8, and for half a surrogate pair.
func UnmarshalMended(raw []byte, v any) error {
	return unmarshal(raw, v, jsontext.AllowInvalidUTF8(true))
}

// UnmarshalKnown is [Unmarshal], but refuses members that the Go type does not have.
func UnmarshalKnown(raw []byte, v any) error {
	return unmarshal(raw, v, json.RejectUnknownMembers(true))
}

func unmarshal(raw []byte, v any, options ...json.Options) error {
	if at := tooDeep(raw, 0); at >= 0 {
		return &Error{Rule: Depth, Offset: at}
	}
	err := json.Unmarshal(raw, v, append([]json.Options{goOptions}, options...)...)
	if err == nil {
		return nil
	}
	e := fromLibrary(err, Type)
	if e.Rule == Syntax {
		return explain(raw)
	}
	return e
}

// tooDeep returns the offset at which a text that stands so deep goes beyond MaxDepth, or -1. It only counts
// brackets outside of strings: exact for JSON, and for anything else the grammar has the last word.
func tooDeep(raw []byte, depth int) int {
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i)
		case '[', '{':
			if depth++; depth > MaxDepth {
				return i
			}
		case ']', '}':
			depth--
		}
	}
	return -1
}

// skipString returns the offset of the quote that ends the string that begins at i, or of the text's end.
func skipString(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return i
}
