package schema

import (
	"cmp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/syntax"
)

// Strict reports the first thing that keeps doc from being strict JSON within the limits: not UTF-8,
// malformed, a member named twice, data after the value, or beyond a bound. Nil means it is strict JSON.
// There is at most one such issue, for nothing after it can be trusted.
func Strict(doc []byte, lim Limits) []fault.Issue {
	if _, issue := parse(doc, lim, nil); issue != nil {
		return []fault.Issue{*issue}
	}
	return nil
}

// parser reads one document. The library finds what is not strict JSON; what it has found right is read
// again, into values.
type parser struct {
	text   string // the document, as far as it is right
	at     int    // how much of it is read
	depth  int    // of the containers that are being read
	limits Limits
	left   int          // how many values there may still be
	beyond *fault.Issue // the first value that is not within the limits
	block  []value      // allocated values that are still free
}

// blocks are memory of values that was freed. Without it a check of 1 KB leaves 8 KB instead of 3 behind, and
// where a program has little else in memory, the collector takes a fifth of the time of the check.
var blocks = sync.Pool{New: func() any { return new([128]value) }}

// parse reads a document, refusing all that is not strict JSON within the limits. The first values are in a
// block, if one is given.
func parse(doc []byte, lim Limits, block []value) (*value, *fault.Issue) {
	if len(doc) > lim.MaxBytes {
		return nil, jsonIssue("", fault.RuleSize, "at most "+strconv.Itoa(lim.MaxBytes)+" bytes")
	}
	p := parser{text: string(doc), limits: lim, left: lim.MaxValues, block: block}
	var broken *fault.Issue
	if !jsontext.Value(doc).IsValid() {
		if broken = p.cut(doc); broken.Rule == fault.RuleInvalidUTF8 {
			return nil, broken
		}
	}
	root := p.fresh(nil)
	p.value(root)
	if p.left < 0 {
		return nil, jsonIssue("", fault.RuleWork, "at most "+strconv.Itoa(lim.MaxValues)+" values")
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

// strictly says what would be right where a text is no strict JSON; bad syntax has a phrase of its own.
var strictly = map[canon.Rule]string{
	canon.InvalidUTF8:  "text in UTF-8",
	canon.DuplicateKey: "each member name once",
	canon.TrailingData: "one JSON value and nothing after it",
}

// cut leaves of the text what comes before the first error, and says what is wrong there.
func (p *parser) cut(doc []byte) *fault.Issue {
	text, wrong := p.text, canon.Fault(doc)
	p.text = text[:min(wrong.Offset, len(text))]
	expected := cmp.Or(strictly[wrong.Rule], syntax.Wanted(text, wrong.Offset), "valid JSON")
	return jsonIssue(wrong.Pointer, string(wrong.Rule), expected)
}
