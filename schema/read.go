package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/syntax"
)

// Strict reports the first thing that keeps doc from being strict JSON within the limits: not UTF-8, malformed, a member
// named twice, data after the value, or beyond a bound. Nil means it is strict JSON. There is at most one such issue, for
// nothing after it can be trusted.
func Strict(doc []byte, lim Limits) []fault.Issue {
	_, issue := read(doc, lim)
	if issue == nil {
		return nil
	}
	return []fault.Issue{*issue}
}

// read decodes doc into maps, slices, strings, bools, nil and json.Number, refusing all that is not strict.
func read(doc []byte, lim Limits) (any, *fault.Issue) {
	if len(doc) > lim.MaxBytes {
		return nil, jsonIssue("", fault.RuleSize, "at most "+strconv.Itoa(lim.MaxBytes)+" bytes")
	}
	if !utf8.Valid(doc) {
		return nil, jsonIssue("", fault.RuleInvalidUTF8, "text in UTF-8")
	}
	w := walk{cursor: cursor{text: string(doc)}, maxDepth: lim.MaxDepth}
	if v, ok := w.tree(); ok && w.ends() {
		return v, nil
	}
	return readSlowly(doc, lim)
}

// readSlowly has the library read doc, and say what keeps it from being strict.
func readSlowly(doc []byte, lim Limits) (any, *fault.Issue) {
	r := reader{doc: doc, dec: jsontext.NewDecoder(bytes.NewBuffer(doc)), maxDepth: lim.MaxDepth}
	v, issue := r.value(0)
	if issue != nil {
		return nil, issue
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, jsonIssue("", fault.RuleTrailingData, "one JSON value and nothing after it")
	}
	return v, nil
}

func jsonIssue(pointer, rule, expected string) *fault.Issue {
	return &fault.Issue{Pointer: pointer, Rule: rule, Expected: expected, Source: fault.FromJSON}
}

type reader struct {
	doc      []byte
	dec      *jsontext.Decoder
	maxDepth int
}

func (r reader) value(depth int) (any, *fault.Issue) {
	tok, err := r.dec.ReadToken()
	if err != nil {
		return nil, r.readIssue(err)
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return strings.Clone(tok.String()), nil
	case '0':
		return r.number(tok.String())
	}
	if depth >= r.maxDepth {
		return nil, jsonIssue(r.pointer(), fault.RuleDepth, "at most "+strconv.Itoa(r.maxDepth)+" levels of nesting")
	}
	if tok.Kind() == '[' {
		return r.array(depth + 1)
	}
	return r.object(depth + 1)
}

func (r reader) number(text string) (any, *fault.Issue) {
	if !numberInBounds([]byte(text)) {
		return nil, jsonIssue(r.pointer(), fault.RuleSize, "a number of ordinary size")
	}
	return json.Number(strings.Clone(text)), nil
}

func (r reader) array(depth int) (any, *fault.Issue) {
	list := []any{}
	for r.dec.PeekKind() != ']' {
		v, issue := r.value(depth)
		if issue != nil {
			return nil, issue
		}
		list = append(list, v)
	}
	return list, r.end()
}

func (r reader) object(depth int) (any, *fault.Issue) {
	members := map[string]any{}
	for r.dec.PeekKind() != '}' {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return nil, r.readIssue(err)
		}
		name := strings.Clone(tok.String())
		v, issue := r.value(depth)
		if issue != nil {
			return nil, issue
		}
		members[name] = v
	}
	return members, r.end()
}

func (r reader) end() *fault.Issue {
	if _, err := r.dec.ReadToken(); err != nil {
		return r.readIssue(err)
	}
	return nil
}

func (r reader) pointer() string { return string(r.dec.StackPointer()) }

// readIssue turns a decoder's error into an issue by its fields; its text is left behind.
func (r reader) readIssue(err error) *fault.Issue {
	pointer, offset := "", len(r.doc)
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		pointer, offset = string(syntactic.JSONPointer), int(syntactic.ByteOffset)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return jsonIssue(pointer, fault.RuleDuplicateKey, "each member name once")
	}
	return jsonIssue(pointer, fault.RuleSyntax, cmp.Or(syntax.Wanted(string(r.doc), offset), "valid JSON"))
}
