package schema

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/syntax"
)

// Strict reports the first thing that keeps doc from being strict JSON within the limits: not UTF-8,
// malformed, a member named twice, data after the value, or beyond a bound. Nil means it is strict JSON.
// There is at most one such issue, for nothing after it can be trusted.
func Strict(doc []byte, lim Limits) []fault.Issue {
	if _, issue := parse(doc, lim); issue != nil {
		return []fault.Issue{*issue}
	}
	return nil
}

// parse reads a document whose values are kept.
func parse(doc []byte, lim Limits) (*value, *fault.Issue) {
	p := parser{doc: doc, limits: lim, left: lim.MaxValues}
	return p.read()
}

// parser reads one document.
type parser struct {
	jsontext.Decoder
	input  bytes.Buffer
	doc    []byte
	text   string // the same
	limits Limits
	left   int // how many values there may still be

	block []value // allocated values that are still free
	first [128]value

	check  evaluation // of the document, with its budget where it has no other one
	budget Budget
}

// parsers are parsers that were freed.
var parsers = sync.Pool{New: func() any { return new(parser) }}

// newParser is a parser whose memory, with that of all values, is used again after free.
func newParser(doc []byte, lim Limits) *parser {
	p := parsers.Get().(*parser)
	p.doc, p.limits, p.left, p.block = doc, lim, lim.MaxValues, p.first[:]
	return p
}

// maxFree bounds the refusals that are kept for the next document.
const maxFree = 16

func (p *parser) free() {
	clear(p.first[:min(len(p.first), p.limits.MaxValues-p.left+1)]) // the last one may not have been read
	p.input, p.doc, p.text, p.block = bytes.Buffer{}, nil, "", nil
	p.Reset(&p.input)
	clear(p.check.around[:cap(p.check.around)])
	if p.check.name != nil {
		p.check.name.text = ""
	}
	free := p.check.free[:min(len(p.check.free), maxFree)]
	clear(p.check.free[len(free):])
	p.check = evaluation{name: p.check.name, free: free, binder: binder{around: p.check.around[:0]}}
	parsers.Put(p)
}

// evaluation is the check of the document within a budget; nil is a new one.
func (p *parser) evaluation(b *Budget, s *Schema) *evaluation {
	if b == nil {
		p.budget = *NewBudget()
		b = &p.budget
	}
	e := &p.check
	e.Budget, e.tracks, e.doc = b, s.tracks, p.doc
	return e
}

// read reads the document, refusing all that is not strict JSON within the limits.
func (p *parser) read() (*value, *fault.Issue) {
	if len(p.doc) > p.limits.MaxBytes {
		return nil, jsonIssue("", fault.RuleSize, "at most "+strconv.Itoa(p.limits.MaxBytes)+" bytes")
	}
	if !utf8.Valid(p.doc) {
		return nil, jsonIssue("", fault.RuleInvalidUTF8, "text in UTF-8")
	}
	p.text, p.input = string(p.doc), *bytes.NewBuffer(p.doc)
	p.Reset(&p.input)
	root := p.fresh(nil)
	issue := p.value(root)
	switch {
	case p.left < 0:
		return nil, jsonIssue("", fault.RuleWork, "at most "+strconv.Itoa(p.limits.MaxValues)+" values")
	case issue != nil:
		return nil, issue
	}
	if _, err := p.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, jsonIssue("", fault.RuleTrailingData, "one JSON value and nothing after it")
	}
	return root, nil
}

func jsonIssue(pointer, rule, expected string) *fault.Issue {
	return &fault.Issue{Pointer: pointer, Rule: rule, Expected: expected, Source: fault.FromJSON}
}

// tooMany ends the reading of a document that has too many values.
var tooMany fault.Issue

// fresh is a new value. Values are allocated in blocks.
func (p *parser) fresh(parent *value) *value {
	if len(p.block) == 0 {
		p.block = make([]value, min(len(p.text)/16+2, 256))
	}
	v := &p.block[0]
	p.block = p.block[1:]
	if v.parent = parent; parent != nil {
		v.place = parent.count
	}
	return v
}

var kindOf = [256]kind{
	'{': kindObject, '[': kindArray, '"': kindString, '0': kindInteger, 't': kindBoolean, 'f': kindBoolean,
	'n': kindNull,
}

// value reads the next value into v.
func (p *parser) value(v *value) (issue *fault.Issue) {
	if p.left--; p.left < 0 {
		return &tooMany
	}
	next := p.PeekKind()
	v.kind, v.truth = kindOf[next], next == 't'
	if next == '{' || next == '[' {
		return p.container(v, next+2) // in ASCII, the closing bracket comes two after the opening one
	}
	text, issue := p.scalar(v)
	switch {
	case issue != nil:
	case v.kind == kindString:
		v.text = unquoted(text)
	case v.kind == kindInteger:
		if v.text = text; !isWhole(text) {
			v.kind = kindNumber
		}
	}
	return issue
}

// scalar is the next string, number or word as it is written.
func (p *parser) scalar(v *value) (string, *fault.Issue) {
	raw, err := p.ReadValue()
	if err != nil {
		return "", decoderIssue(p.text, err)
	}
	end := int32(p.InputOffset())
	v.start, v.end = end-int32(len(raw)), end
	text := p.text[v.start:v.end]
	if raw.Kind() == '0' && !numberInBounds(text) {
		return "", jsonIssue(string(p.StackPointer()), fault.RuleSize, "a number of ordinary size")
	}
	return text, nil
}

// unquoted is what a JSON string says. Where nothing is escaped, it shares the memory of the text.
func unquoted(text string) string {
	if !strings.Contains(text, `\`) {
		return text[1 : len(text)-1]
	}
	said, _ := jsontext.AppendUnquote(nil, text) // cannot fail: the decoder has read it
	return string(said)
}

// container reads an object or array.
func (p *parser) container(v *value, closing jsontext.Kind) *fault.Issue {
	_, err := p.ReadToken()
	v.start = int32(p.InputOffset()) - 1
	switch {
	case err != nil:
		return decoderIssue(p.text, err)
	case p.StackDepth() > p.limits.MaxDepth:
		wants := "at most " + strconv.Itoa(p.limits.MaxDepth) + " levels of nesting"
		return jsonIssue(string(p.StackPointer()), fault.RuleDepth, wants)
	}
	for last := &v.first; p.PeekKind() != closing; v.count++ {
		child := p.fresh(v)
		if v.kind == kindObject {
			name, issue := p.scalar(child)
			if issue != nil {
				return issue
			}
			child.name = unquoted(name)
		}
		if issue := p.value(child); issue != nil {
			return issue
		}
		*last, last = child, &child.next
	}
	if _, err := p.ReadToken(); err != nil {
		return decoderIssue(p.text, err)
	}
	v.end = int32(p.InputOffset())
	return nil
}

// decoderIssue turns a decoder's error into an issue by its fields; its text is left behind.
func decoderIssue(text string, err error) *fault.Issue {
	pointer, offset := "", len(text)
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer, offset = string(syntactic.JSONPointer), int(syntactic.ByteOffset)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return jsonIssue(pointer, fault.RuleDuplicateKey, "each member name once")
	}
	return jsonIssue(pointer, fault.RuleSyntax, cmp.Or(syntax.Wanted(text, offset), "valid JSON"))
}
