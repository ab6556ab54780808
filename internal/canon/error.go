package canon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Rule is the stable name of a fault. The rules about syntax have the same names as in package fault.
type Rule string

// The rules.
const (
	Syntax       Rule = "syntax"
	DuplicateKey Rule = "duplicate_key"
	InvalidUTF8  Rule = "invalid_utf8"
	TrailingData Rule = "trailing_data"
	Depth        Rule = "depth"
	// Type: the JSON does not fit the Go type.
	Type Rule = "type"
	// UnknownMember: the Go type has no such member.
	UnknownMember Rule = "unknown_member"
	// Encode: the Go value has no JSON form (a NaN, a channel, a failing MarshalJSON).
	Encode Rule = "encode"
)

// Error reports what is wrong with a text or value. Its text is the same in every run, because it contains no
// text of a library.
type Error struct {
	Rule Rule
	// Offset is the byte offset in the text; 0 if unknown.
	Offset int
	// Pointer is the RFC 6901 JSON Pointer of the place, for rules about values.
	Pointer string
	// GoType is the Go type that does not fit; nil for rules about texts.
	GoType reflect.Type
}

// Error returns the fault in one line.
func (e *Error) Error() string {
	switch e.Rule {
	case Depth:
		return fmt.Sprintf("JSON nested deeper than %d at byte %d", MaxDepth, e.Offset)
	case Type, UnknownMember, Encode:
		return e.valueError()
	case DuplicateKey:
		return fmt.Sprintf("JSON with a duplicate name at %s", e.place())
	}
	return fmt.Sprintf("not strict JSON: %s at byte %d", e.Rule, e.Offset)
}

func (e *Error) valueError() string {
	switch {
	case e.Rule == UnknownMember:
		return fmt.Sprintf("JSON member %s is unknown", e.place())
	case e.Rule == Encode && e.GoType == nil:
		return fmt.Sprintf("text at %s cannot be written as JSON: it is not UTF-8, or raw JSON that is not strict",
			e.place())
	case e.Rule == Encode && e.GoType == reflect.TypeFor[time.Time]():
		return fmt.Sprintf("time at %s cannot be written as JSON: its year must be 0 to 9999", e.place())
	case e.Rule == Encode:
		return fmt.Sprintf("Go type %s cannot be written as JSON (at %s)", e.GoType, e.place())
	case e.GoType == nil:
		return fmt.Sprintf("JSON value at %s does not fit its Go type", e.place())
	}
	return fmt.Sprintf("JSON value at %s does not fit Go type %s", e.place(), e.GoType)
}

func (e *Error) place() string {
	if e.Pointer == "" {
		return "the top"
	}
	return e.Pointer
}

// Fault says why a text that is no strict JSON was refused. It reads the text again token by token, because
// the library then gives the nearest place.
func Fault(raw []byte) *Error {
	if at := invalidUTF8(raw); at >= 0 {
		return &Error{Rule: InvalidUTF8, Offset: at}
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	_, err := d.ReadToken()
	for err == nil && d.StackDepth() > 0 {
		_, err = d.ReadToken()
	}
	switch {
	case err == nil:
		return &Error{Rule: TrailingData, Offset: int(d.InputOffset())}
	case err == io.EOF:
		return &Error{Rule: Syntax, Offset: len(raw)}
	}
	return fromLibrary(err, Syntax)
}

// fromLibrary converts a library's error to ours. rule is the default.
func fromLibrary(err error, rule Rule) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		rule = Syntax
		if errors.Is(err, jsontext.ErrDuplicateName) {
			rule = DuplicateKey
		}
		return &Error{Rule: rule, Offset: int(syntactic.ByteOffset), Pointer: string(syntactic.JSONPointer)}
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		if errors.Is(err, json.ErrUnknownName) {
			rule = UnknownMember
		}
		return &Error{
			Rule: rule, Offset: int(semantic.ByteOffset), Pointer: string(semantic.JSONPointer),
			GoType: semantic.GoType,
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &Error{Rule: Syntax}
	}
	return &Error{Rule: rule}
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(raw []byte) int {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
