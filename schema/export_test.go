package schema

import (
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
)

// ForAnew is For without what was made before.
func ForAnew[T any]() (*Typed[T], error) {
	of, err := goTypeOf(reflect.TypeFor[T]())
	return &Typed[T]{of}, err
}

// CheckBySchema checks by the schema alone, without the decoder and the validator.
func CheckBySchema(s *Schema, doc []byte) []fault.Issue { return s.checkDocument(doc) }

// DecodeByRules decodes and validates, without the schema. It reads whole numbers however they are written, as Decode does.
func DecodeByRules[T any](t *Typed[T], doc []byte) bool {
	if _, issue := read(doc, t.of.schema.limits); issue != nil {
		return false
	}
	var v T
	return decodeLoosely(doc, &v) == nil && t.of.rules(&v) == nil
}

// CheckSlowly has the library check the whole document.
func CheckSlowly(s *Schema, doc []byte) []fault.Issue { return s.checkSlowly(doc) }

// DecodeSlowly has the library and the decoder check and decode the whole document.
func DecodeSlowly[T any](t *Typed[T], doc []byte) (T, []fault.Issue) {
	var v, zero T
	if issues := t.of.explain(doc, t.of.schema.limits, &v); len(issues) > 0 {
		return zero, issues
	}
	return v, nil
}

// HasProgram reports whether a schema has a fast path of its own, and HasBound whether a type has.
func HasProgram(s *Schema) bool { return s.program != nil }

func HasBound[T any](t *Typed[T]) bool { return t.of.bound != nil }

// TooManyWays is what is expected where the library would have too much to do.
const TooManyWays = tooManyWays

// Told is what the program of a schema says of a document.
func Told(s *Schema, doc []byte) string {
	if s.program == nil || len(doc) > s.limits.MaxBytes {
		return "unsure"
	}
	return [...]string{"good", "bad", "unsure"}[decide(s.program, string(doc), s.limits, reflect.Value{}, nil)]
}

// Explained reports whether the program found by itself what is wrong with a document.
func Explained(s *Schema, doc []byte) bool {
	if len(doc) > s.limits.MaxBytes {
		return false
	}
	issues, sure := s.find(s.program, string(doc), s.limits, reflect.Value{}, nil)
	return sure && len(issues) > 0
}

// MaxWideDigits is the length of the longest whole number that the walk of our own reads.
const MaxWideDigits = maxWideDigits

// ReadEitherWay reads a document by a walk of our own and by the library; nil where it is not strict.
func ReadEitherWay(doc []byte) (ours, theirs any) {
	lim := DefaultLimits()
	if utf8.Valid(doc) {
		w := walk{cursor: cursor{text: string(doc)}, maxDepth: lim.MaxDepth}
		if v, ok := w.tree(); ok && w.ends() {
			ours = []any{v}
		}
	}
	if v, issue := readSlowly(doc, lim); issue == nil && utf8.Valid(doc) {
		theirs = []any{v}
	}
	return ours, theirs
}

// Kept is how much text of documents is kept with a node that additional members are held to, and with that which has them.
func Kept(s *Schema) (bytes int) {
	for _, n := range []*node{s.program, s.program.object.rest} {
		for _, r := range n.kept() {
			bytes += len(r.place)
			for _, i := range slices.Concat(r.issues, r.told) {
				bytes += len(i.Pointer)
			}
		}
	}
	return bytes
}
