package canon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Rule is the stable name of what is wrong with a text or a value. The names of the syntactic ones are those
// of package fault.
type Rule string

// The rules.
const (
	Syntax       Rule = "syntax"
	DuplicateKey Rule = "duplicate_key"
	InvalidUTF8  Rule = "invalid_utf8"
	TrailingData Rule = "trailing_data"
	Depth        Rule = "depth"
	// Type: well-formed JSON does not fit the Go type it is read into.
	Type Rule = "type"
	// UnknownMember: a member that the Go type does not have, where such are refused.
	UnknownMember Rule = "unknown_member"
	// Encode: a Go value has no JSON form (a NaN, a channel, a failing MarshalJSON).
	Encode Rule = "encode"
)

// Error says what is wrong, in words of this package alone: it has no text of a library in it and is the same
// in every run.
type Error struct {
	Rule Rule
	// Offset is the byte offset in the text, where one is known; else 0.
	Offset int
	// Pointer is the RFC 6901 JSON Pointer of the place, for the rules about values.
	Pointer string
	// GoType is the Go type that does not fit; nil for the rules about texts.
	GoType reflect.Type
}

// Error says it in one line.
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
		return fmt.Sprintf("text at %s cannot be written as JSON: it is not UTF-8, or raw JSON that is not strict", e.place())
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

// explain walks a refused text again to say why it was refused.
func explain(raw []byte) *Error {
	if at := invalidUTF8(raw); at >= 0 {
		return &Error{Rule: InvalidUTF8, Offset: at}
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := d.ReadValue(); err != nil {
		return fromLibrary(err, Syntax)
	}
	return &Error{Rule: TrailingData, Offset: int(d.InputOffset())}
}

// fromLibrary turns a library's error into one of ours; rule is used where the error does not say more.
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
			Rule: rule, Offset: int(semantic.ByteOffset), Pointer: string(semantic.JSONPointer), GoType: semantic.GoType,
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &Error{Rule: Syntax}
	}
	return &Error{Rule: rule}
}

// invalidUTF8 is the offset of the first byte that is no UTF-8, or -1.
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
