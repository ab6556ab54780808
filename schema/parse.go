package schema

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
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

// parser reads one document. The library finds what is not strict JSON; what it has found right is read
// again, into values.
type parser struct {
	doc    []byte
	text   string // the same, as far as it is right
	at     int    // how much of it is read
	depth  int    // of the containers that are being read
	limits Limits
	left   int          // how many values there may still be
	beyond *fault.Issue // the first value that is not within the limits

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
	p.at, p.depth, p.beyond = 0, 0, nil
	return p
}

// maxFree bounds the failures whose memory is kept for the next document.
const maxFree = 16

func (p *parser) free() {
	clear(p.first[:min(len(p.first), p.limits.MaxValues-p.left+1)]) // the last one may not have been read
	p.doc, p.text, p.block = nil, "", nil
	clear(p.check.around[:cap(p.check.around)])
	if p.check.name != nil {
		p.check.name.text = ""
	}
	failures := p.check.failures[:0]
	if clear(failures[:cap(failures)]); cap(failures) > maxFree {
		failures = nil
	}
	p.check = evaluation{name: p.check.name, failures: failures, binder: binder{around: p.check.around[:0]}}
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
	p.text = string(p.doc)
	var broken *fault.Issue
	if !jsontext.Value(p.doc).IsValid() {
		broken = p.cut()
	}
	root := p.fresh(nil)
	p.value(root)
	if p.left < 0 {
		return nil, jsonIssue("", fault.RuleWork, "at most "+strconv.Itoa(p.limits.MaxValues)+" values")
	}
	return root, cmp.Or(p.beyond, broken)
}

func jsonIssue(pointer, rule, expected string) *fault.Issue {
	return &fault.Issue{Pointer: pointer, Rule: rule, Expected: expected, Source: fault.FromJSON}
}

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

// kindOf are the kinds of values by their first bytes. What is not here is a number.
var kindOf = [256]kind{
	'{': kindObject, '[': kindArray, '"': kindString, 't': kindBoolean, 'f': kindBoolean, 'n': kindNull,
}

// next is the first byte of what is to be read, 0 at the end. What is between two values is right, so it is
// skipped without a look.
func (p *parser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// value reads the next value into v.
func (p *parser) value(v *value) {
	next := p.next()
	if p.left--; p.left < 0 {
		p.at = len(p.text)
		return
	}
	v.kind, v.truth, v.start = cmp.Or(kindOf[next], kindInteger), next == 't', int32(p.at)
	switch v.kind {
	case kindObject, kindArray:
		p.container(v)
	case kindString:
		v.text = p.quoted()
	default:
		p.word(v)
	}
	v.end = int32(p.at)
}

// word reads a number or word.
func (p *parser) word(v *value) {
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; c <= ' ' || c == ',' || c == ']' || c == '}' {
			break
		}
	}
	text := p.text[start:p.at]
	switch {
	case v.kind != kindInteger:
		return
	case isPlain(text):
	case !numberInBounds(text):
		p.refuse(v, fault.RuleSize, "a number of ordinary size")
	case !isWhole(text):
		v.kind = kindNumber
	}
	v.text = text
}

// quoted reads a string or name: what it says. Where nothing is escaped, it shares the memory of the text.
func (p *parser) quoted() string {
	rest := p.text[p.at+1:]
	end := strings.IndexByte(rest, '"')
	if end >= 0 && strings.IndexByte(rest[:end], '\\') < 0 {
		p.at += end + 2
		return rest[:end]
	}
	for end = 0; end < len(rest) && rest[end] != '"'; end++ {
		if rest[end] == '\\' {
			end++
		}
	}
	start := p.at
	if p.at += end + 2; p.at > len(p.text) {
		p.at = len(p.text)
		return "" // what comes here is wrong
	}
	said, _ := jsontext.AppendUnquote(nil, p.text[start:p.at]) // cannot fail: the library has read it
	return string(said)
}

// container reads an object or array.
func (p *parser) container(v *value) {
	if p.depth++; p.depth > p.limits.MaxDepth {
		p.refuse(v, fault.RuleDepth, "at most "+strconv.Itoa(p.limits.MaxDepth)+" levels of nesting")
	}
	p.at++
	for last := &v.first; ; v.count++ {
		if c := p.next(); c == ']' || c == '}' || c == 0 {
			p.at, p.depth = min(p.at+1, len(p.text)), p.depth-1
			return
		}
		child := p.fresh(v)
		if v.kind == kindObject {
			child.name = p.quoted()
		}
		p.value(child)
		*last, last = child, &child.next
	}
}

// refuse ends the reading at a value that is not within the limits.
func (p *parser) refuse(v *value, rule, expected string) {
	p.beyond, p.at = jsonIssue(canon.Pointer(v.path()...), rule, expected), len(p.text)
}

// cut leaves of the text what comes before the first error, and says what is wrong there. The library is
// asked again, token by token, for the place of an error that it gives then is the nearest. The issue is
// made of the error's fields; its text is left behind.
func (p *parser) cut() *fault.Issue {
	tokens := jsontext.NewDecoder(bytes.NewBuffer(p.doc))
	_, err := tokens.ReadToken()
	for err == nil && tokens.StackDepth() > 0 {
		_, err = tokens.ReadToken()
	}
	if err == nil {
		p.text = p.text[:tokens.InputOffset()]
		return jsonIssue("", fault.RuleTrailingData, "one JSON value and nothing after it")
	}
	pointer, offset, text := "", len(p.text), p.text
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer, offset = string(syntactic.JSONPointer), min(int(syntactic.ByteOffset), offset)
	}
	p.text = text[:offset]
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return jsonIssue(pointer, fault.RuleDuplicateKey, "each member name once")
	}
	return jsonIssue(pointer, fault.RuleSyntax, cmp.Or(syntax.Wanted(text, offset), "valid JSON"))
}
