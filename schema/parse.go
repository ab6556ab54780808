package schema

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/syntax"
)

// Strict reports the first thing that keeps doc from being strict JSON within the limits: not UTF-8,
// malformed, a member named twice, data after the value, or beyond a bound. Nil means it is strict JSON.
// There is at most one such issue, for nothing after it can be trusted.
func Strict(doc []byte, lim Limits) []fault.Issue {
	e := evaluations.Get().(*evaluation)
	defer e.free()
	if _, issue := e.parse(doc, lim); issue != nil {
		return []fault.Issue{*issue}
	}
	return nil
}

// parser reads one document. The library finds what is not strict JSON; what it has found right is read
// again, into values.
type parser struct {
	*tree
	at     int // how much of the text is read
	depth  int // of the containers that are being read
	limits Limits
	beyond *fault.Issue // the first value that is not within the limits
}

// parse reads a document, refusing all that is not strict JSON within the limits.
func parse(doc []byte, lim Limits) (root value, wrong *fault.Issue) { return new(tree).parse(doc, lim) }

// parse makes the tree that of a document.
func (t *tree) parse(doc []byte, lim Limits) (root value, wrong *fault.Issue) {
	if len(doc) > lim.MaxBytes {
		return value{}, jsonIssue("", fault.RuleSize, "at most "+strconv.Itoa(lim.MaxBytes)+" bytes")
	}
	t.doc, t.text = doc, string(doc)
	p := parser{tree: t, limits: lim}
	var broken *fault.Issue
	if !jsontext.Value(doc).IsValid() {
		if broken = p.cut(); broken.Rule == fault.RuleInvalidUTF8 {
			return value{}, broken
		}
	}
	if likely := likelyValues(p.text); likely > cap(t.values) {
		t.values = make([]datum, 0, likely)
	}
	p.value(p.fresh(-1, 0))
	if len(t.values) > lim.MaxValues {
		return value{}, jsonIssue("", fault.RuleWork, "at most "+strconv.Itoa(lim.MaxValues)+" values")
	}
	wrong = cmp.Or(p.beyond, broken)
	t.isWhole = wrong == nil
	return t.numbered(0), wrong
}

// likelyValues is about how many values a text has: one of these bytes is before each but the first. Where
// that says that most are tiny, the bytes may be those of strings.
func likelyValues(text string) int {
	most := 1 + strings.Count(text, ",") + strings.Count(text, "[") + strings.Count(text, "{")
	return min(most, len(text)/12+16)
}

func jsonIssue(pointer, rule, expected string) *fault.Issue {
	return &fault.Issue{Pointer: pointer, Rule: rule, Expected: expected, Source: fault.FromJSON}
}

// fresh adds a value, and returns its number.
func (p *parser) fresh(up, place int32) int32 {
	at := int32(len(p.values))
	p.values = append(p.values, datum{})
	v := &p.values[at]
	v.at, v.up, v.next, v.place, v.depth = at, up, -1, place, int32(p.depth)
	return at
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

// value reads the next value.
func (p *parser) value(n int32) {
	next := p.next()
	if len(p.values) > p.limits.MaxValues {
		p.at = len(p.text)
		return
	}
	v := &p.values[n]
	v.kind, v.start = cmp.Or(kindOf[next], kindInteger), int32(p.at)
	switch v.kind {
	case kindObject, kindArray:
		p.container(n)
	case kindString:
		v.escaped = p.quoted()
	default:
		p.word(v)
	}
	p.values[n].end = int32(p.at)
}

// word reads a number or word.
func (p *parser) word(v *datum) {
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; c <= ' ' || c == ',' || c == ']' || c == '}' {
			break
		}
	}
	text := p.text[start:p.at]
	if v.kind != kindInteger || isPlain(text) {
		return
	}
	switch n := decimalOf(text); {
	case !n.isInBounds():
		p.refuse(v.at, fault.RuleSize, "a number of ordinary size")
	case !n.isWhole():
		v.kind = kindNumber
	}
}

// quoted reads a string or name. It keeps what one with escapes says.
func (p *parser) quoted() (escaped bool) {
	start, rest := p.at, p.text[p.at+1:]
	end := strings.IndexByte(rest, '"')
	if end >= 0 && strings.IndexByte(rest[:end], '\\') < 0 {
		p.at += end + 2
		return false
	}
	for end = 0; end < len(rest) && rest[end] != '"'; end++ {
		if rest[end] == '\\' {
			end++
		}
	}
	if p.at += end + 2; p.at > len(p.text) {
		p.at = len(p.text)
		return true // what comes here is wrong, so it says nothing
	}
	if p.said == nil {
		p.said = map[int32]string{}
	}
	said, _ := jsontext.AppendUnquote(nil, p.text[start:p.at]) // cannot fail: the library has read it
	p.said[int32(start)] = string(said)
	return true
}

// container reads an object or array.
func (p *parser) container(n int32) {
	if p.depth++; p.depth > p.limits.MaxDepth {
		p.refuse(n, fault.RuleDepth, "at most "+strconv.Itoa(p.limits.MaxDepth)+" levels of nesting")
	}
	p.at++
	last := int32(-1)
	for ; ; p.values[n].count++ {
		if c := p.next(); c == ']' || c == '}' || c == 0 {
			p.at, p.depth = min(p.at+1, len(p.text)), p.depth-1
			return
		}
		child := p.fresh(n, p.values[n].count)
		if p.values[n].kind == kindObject {
			p.name(&p.values[child])
		}
		if last >= 0 {
			p.values[last].next = child
		}
		last = child
		p.value(child)
	}
}

// name reads the name of a member.
func (p *parser) name(v *datum) {
	v.named = int32(p.at)
	if v.nameEnd = -1; !p.quoted() {
		v.nameEnd = int32(p.at)
	}
}

// refuse ends the reading at a value that is not within the limits.
func (p *parser) refuse(n int32, rule, expected string) {
	p.beyond, p.at = jsonIssue(canon.Pointer(p.numbered(n).path()...), rule, expected), len(p.text)
}

// cut leaves of the text what comes before the first error, and says what is wrong there.
func (p *parser) cut() *fault.Issue {
	text, wrong := p.text, canon.Fault(p.doc)
	p.text = text[:min(wrong.Offset, len(text))]
	expected := cmp.Or(syntax.Expected(string(wrong.Rule), text, wrong.Offset), "valid JSON")
	return jsonIssue(wrong.Pointer, string(wrong.Rule), expected)
}
