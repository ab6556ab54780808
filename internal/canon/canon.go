// Package canon writes canonical JSON: equal values give equal bytes in every process and on every machine,
// so they can be hashed, compared and journaled.
//
// The form is that of RFC 8785: members sorted by the UTF-16 code units of their names, no white space,
// shortest escapes. Numbers are an exception: they stay as written, because a conversion to float would lose
// digits. Duplicate names, invalid UTF-8 and data after the value are refused.
//
// Go types are read and written as by encoding/json ("omitempty", nil slices as null, durations as
// nanoseconds), except that member names match exactly.
package canon

import (
	"bytes"
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// MaxDepth is the deepest nesting of arrays and objects; a scalar has depth 0.
const MaxDepth = 512

// goOptions reads and writes Go values like encoding/json, but strictly.
var goOptions = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	jsonv1.ReportErrorsWithLegacySemantics(false),
	jsonv1.CallMethodsWithLegacySemantics(false),
	jsonv1.UnmarshalArrayFromAnyLength(false),
	json.MatchCaseInsensitiveNames(false),
	jsontext.AllowDuplicateNames(false),
	jsontext.AllowInvalidUTF8(false),
)

// JSON returns the canonical form of one JSON text. The result shares no memory with raw, which does not
// change. Text that is not strict JSON or is nested deeper than [MaxDepth] returns an [*Error].
func JSON(raw []byte) ([]byte, error) {
	text, err := appendJSON(make([]byte, 0, len(raw)), raw, 0)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// appendJSON appends the canonical form of one JSON text at the given nesting depth.
func appendJSON(dst, raw []byte, depth int) ([]byte, *Error) {
	if at := tooDeep(raw, depth); at >= 0 {
		return dst, &Error{Rule: Depth, Offset: at}
	}
	to, err := jsontext.AppendFormat(dst, raw, jsontext.ReorderRawObjects(true))
	if err != nil {
		return dst, Fault(raw)
	}
	return to, nil
}

// Marshal returns the canonical JSON of a Go value; map keys are sorted. A value without a JSON form (a NaN,
// a string that is not UTF-8, a channel) returns an [*Error] with rule [Encode].
func Marshal(v any) ([]byte, error) { return marshal(v, writing) }

// MarshalMended is [Marshal], but replaces invalid UTF-8 in texts by U+FFFD, as encoding/json does.
func MarshalMended(v any) ([]byte, error) { return marshal(v, mending) }

func marshal(v any, how json.Options) ([]byte, error) {
	raw, err := appendMarshal(nil, v, how)
	if err != nil {
		return nil, err
	}
	return JSON(raw)
}

// AppendDeclared appends [Marshal] with the members of structs in the order of their fields, which takes half
// the time. It is canonical if all fields are declared in the order of their names. Raw JSON in v must be
// canonical.
func AppendDeclared(dst []byte, v any) ([]byte, error) {
	to, err := appendMarshal(dst, v, writing)
	if err != nil {
		return nil, err
	}
	if at := tooDeep(to[len(dst):], 0); at >= 0 {
		return nil, &Error{Rule: Depth, Offset: at}
	}
	return to, nil
}

func appendMarshal(dst []byte, v any, how json.Options) ([]byte, error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	if of := reflect.TypeOf(v); of.Kind() != reflect.Pointer {
		at := reflect.New(of) // so that methods of the pointer count too
		at.Elem().Set(reflect.ValueOf(v))
		v = at.Interface()
	}
	to := bytes.NewBuffer(dst)
	if err := json.MarshalWrite(to, v, how); err != nil {
		e := fromLibrary(err, Encode)
		if e.Rule = Encode; strings.Count(e.Pointer, "/") > MaxDepth {
			e.Rule = Depth // the value may be recursive
		}
		return nil, e
	}
	return to.Bytes(), nil
}

// writing writes strings with as few escapes as possible.
var writing = json.JoinOptions(goOptions, jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false))

// mending also writes U+FFFD for what is not UTF-8.
var mending = json.JoinOptions(writing, jsontext.AllowInvalidUTF8(true))

// Unmarshal reads one JSON text into the Go value that v points to. The value should be new, because absent
// members keep their values. Unknown members are ignored. Errors are [*Error]s.
func Unmarshal(raw []byte, v any) error { return unmarshal(raw, v) }

// UnmarshalMended is [Unmarshal], but replaces invalid UTF-8 and lone surrogates by U+FFFD.
func UnmarshalMended(raw []byte, v any) error {
	return unmarshal(raw, v, jsontext.AllowInvalidUTF8(true))
}

// UnmarshalKnown is [Unmarshal], but refuses unknown members.
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
		return Fault(raw)
	}
	return e
}

// tooDeep returns the offset at which a text at the given depth exceeds MaxDepth, or -1. It only counts
// brackets outside strings, which is exact for valid JSON.
func tooDeep(raw []byte, depth int) int {
	if depth+bytes.Count(raw, []byte("{"))+bytes.Count(raw, []byte("[")) <= MaxDepth {
		return -1 // fewer brackets than levels
	}
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = afterString(raw, i) - 1
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

// UTF8 returns s with invalid UTF-8 replaced by U+FFFD, because JSON has no form for it.
func UTF8[S ~string](s S) S {
	if utf8.ValidString(string(s)) { // ToValidUTF8 finds that, too, but byte by byte
		return s
	}
	return S(strings.ToValidUTF8(string(s), "\uFFFD"))
}

// Visible writes the invisible characters of a text for people as escapes: control characters, such as those
// that begin the escape codes of terminals, and marks of direction. Line breaks and tabs stay. Invalid UTF-8
// is replaced by U+FFFD.
func Visible(s string) string {
	visible := func(r rune) bool { return unicode.IsGraphic(r) || r == '\n' || r == '\t' }
	s = UTF8(s)
	if strings.IndexFunc(s, func(r rune) bool { return !visible(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if visible(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// Seen reports whether a character after a text can be seen, and leaves the direction of others as it is.
func Seen(text string, r rune) bool {
	if r == '\ufe0f' { // it makes an emoji of a symbol, and nothing of a letter
		symbol, _ := utf8.DecodeLastRuneInString(text)
		return unicode.IsSymbol(symbol)
	}
	return unicode.IsGraphic(r) &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Cut shortens s to limit bytes without splitting a character. It ends in "…" if there is room for that.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	tail := "…"
	if limit < len(tail) {
		tail = ""
	}
	end := max(limit-len(tail), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + tail
}

// Keys returns the keys of a map in order. Those of an empty map take no memory.
func Keys[M ~map[K]V, K cmp.Ordered, V any](m M) []K {
	if len(m) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}
