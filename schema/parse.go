package schema

import (
	"cmp"
	"strconv"
	"strings"
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
	e := evaluations.Get().(*evaluation)
	defer e.free()
	if _, issue := e.parse(string(doc), lim); issue != nil {
		return []fault.Issue{*issue}
	}
	return nil
}

// parser reads one document. It says that a text is no strict JSON; the library says why.
type parser struct {
	*tree
	at       int // how much of the text is read
	depth    int // of the containers that are being read
	limits   Limits
	isEnded  bool         // what comes is not read, for what was read is not within the limits, or no JSON
	isBroken bool         // what was read is no strict JSON
	beyond   *fault.Issue // the first value that is not within the limits
}

// parse makes the tree that of a document, refusing all that is not strict JSON within the limits.
func (t *tree) parse(doc string, lim Limits) (root value, wrong *fault.Issue) {
	if len(doc) > lim.MaxBytes {
		return value{}, jsonIssue("", fault.RuleSize, "at most "+strconv.Itoa(lim.MaxBytes)+" bytes")
	}
	if t.text = doc; !utf8.ValidString(doc) {
		return value{}, t.cut()
	}
	if most := mostValues(t.text); most > cap(t.values) {
		if likely := min(most, likelyValues(t.text)); likely > cap(t.values) {
			t.values = make([]datum, 0, likely)
		}
	}
	p := t.read(lim)
	if p.isBroken {
		wrong = t.cut()
		p = t.read(lim) // what comes before the fault may be beyond the limits
	}
	if len(t.values) > lim.MaxValues {
		return value{}, jsonIssue("", fault.RuleWork, "at most "+strconv.Itoa(lim.MaxValues)+" values")
	}
	wrong = cmp.Or(p.beyond, wrong)
	t.isWhole = wrong == nil
	return t.numbered(0), wrong
}

// read reads the text, as far as it is strict JSON within the limits.
func (t *tree) read(lim Limits) parser {
	t.values, t.said = t.values[:0], nil
	p := parser{tree: t, limits: lim}
	p.value(p.fresh(-1, 0))
	if p.next(); p.at < len(p.text) {
		p.fail()
	}
	return p
}

// end ends the reading.
func (p *parser) end() { p.at, p.isEnded = len(p.text), true }

// fail ends the reading at what is no strict JSON. It returns false.
func (p *parser) fail() bool {
	p.isBroken = p.isBroken || !p.isEnded
	p.end()
	return false
}

// mostValues returns how many values a text is taken to have at most: where most are tiny, they may be in
// strings.
func mostValues(text string) int { return len(text)/12 + 16 }

// likelyValues returns about how many values a text has: one of these bytes is before each but the first.
func likelyValues(text string) int {
	return 1 + strings.Count(text, ",") + strings.Count(text, "[") + strings.Count(text, "{")
}

func jsonIssue(pointer, rule, expected string) *fault.Issue {
	return &fault.Issue{Pointer: pointer, Rule: rule, Expected: expected, Source: fault.FromJSON}
}

// fresh adds a value, and returns its number.
func (p *parser) fresh(up, place int32) int32 {
	at := int32(len(p.values))
	p.values = append(p.values, datum{}) // other values of a literal would be made beside it, and copied
	v := &p.values[at]
	v.at, v.up, v.next, v.place, v.depth = at, up, -1, place, int32(p.depth)
	return at
}

// kindOf are the kinds of values by their first bytes. What is not here is a number, or no value.
var kindOf = [256]kind{
	'{': kindObject, '[': kindArray, '"': kindString, 't': kindBoolean, 'f': kindBoolean, 'n': kindNull,
}

// next returns the first byte of what is to be read, 0 at the end.
func (p *parser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// takes reads a mark, which must be next.
func (p *parser) takes(mark byte) bool {
	if p.next() != mark {
		return p.fail()
	}
	p.at++
	return true
}

// value reads the next value.
func (p *parser) value(n int32) {
	next := p.next()
	if len(p.values) > p.limits.MaxValues {
		p.end()
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
	text, size := p.text[p.at:], 0
	for ; size < len(text); size++ {
		if c := text[size]; c <= ' ' || c == ',' || c == ']' || c == '}' {
			break
		}
	}
	text, p.at = text[:size], p.at+size
	if v.kind == kindNull && text == "null" || v.kind == kindBoolean && (text == "true" || text == "false") {
		return
	}
	switch n, isNumber := decimalOf(text); {
	case !isNumber:
		p.fail()
	case !n.isInBounds():
		p.refuse(v.at, fault.RuleSize, "a number of ordinary size")
	case !n.isWhole():
		v.kind = kindNumber
	}
}

// isSpecial says which bytes are not simply a part of the string that they are in.
var isSpecial = func() (all [256]bool) {
	for c := range all {
		all[c] = c < ' ' || c == '"' || c == '\\'
	}
	return all
}()

// quoted reads a string or name. It keeps what one with escapes says.
func (p *parser) quoted() (escaped bool) {
	start, text := p.at, p.text[p.at:]
	for end := 1; end < len(text); end++ {
		if !isSpecial[text[end]] {
			continue
		}
		switch text[end] {
		case '"':
			if p.at += end + 1; escaped {
				p.keep(start)
			}
			return escaped
		case '\\':
			escaped = true
			end++
		default:
			return p.fail()
		}
	}
	return p.fail()
}

// keep keeps what a string or name with escapes says, which begins at a place and was read.
func (p *parser) keep(start int) {
	if p.said == nil {
		p.said = map[int32]string{}
	}
	said, err := jsontext.AppendUnquote(nil, p.text[start:p.at])
	if p.said[int32(start)] = string(said); err != nil {
		p.fail()
	}
}

// container reads an object or array.
func (p *parser) container(n int32) {
	if p.depth++; p.depth > p.limits.MaxDepth {
		p.refuse(n, fault.RuleDepth, "at most "+strconv.Itoa(p.limits.MaxDepth)+" levels of nesting")
		return
	}
	isObject, last := p.values[n].kind == kindObject, int32(-1)
	var names nameSet
	closing := p.text[p.at] + 2 // as ] is [ and 2, } is { and 2
	p.at++
	for p.next() != closing {
		if last >= 0 && !p.takes(',') {
			return
		}
		child := p.fresh(n, p.values[n].count)
		if p.values[n].count++; last >= 0 {
			p.values[last].next = child
		}
		if last = child; isObject && !p.name(p.numbered(child), &names) {
			return
		}
		p.value(child)
	}
	p.at, p.depth = p.at+1, p.depth-1
}

// name reads the name of a member; false where there is none, or a member before has it.
func (p *parser) name(m value, names *nameSet) bool {
	if p.next() != '"' {
		return p.fail()
	}
	m.named, m.nameEnd = int32(p.at), -1
	if !p.quoted() {
		m.nameEnd = int32(p.at)
	}
	return !p.isEnded && (names.add(m) || p.fail()) && p.takes(':')
}

// nameSet is the names of the members of an object that is being read.
type nameSet struct {
	marks uint64          // a bit of each name; names may share one
	many  map[string]bool // the names, where there are many
}

// fewNames is how many names are compared with one another.
const fewNames = 16

// add adds the name of a member; false where a member before has it.
func (s *nameSet) add(m value) bool {
	name := m.name()
	mark := markOf(name)
	if m.place < fewNames {
		isNew := s.marks&mark == 0 || m.parent().member(name) == m
		s.marks |= mark
		return isNew
	}
	if s.many == nil {
		s.many = map[string]bool{}
		for before := m.parent().first(); before != m; before = before.sibling() {
			s.many[before.name()] = true
		}
	}
	isNew := !s.many[name]
	s.many[name] = true
	return isNew
}

// markOf returns one of 64 bits, the same for equal names.
func markOf(name string) uint64 {
	if name == "" {
		return 1
	}
	return 1 << ((uint(len(name)) + 3*uint(name[0]) + 5*uint(name[len(name)-1])) % 64)
}

// refuse ends the reading at a value that is not within the limits.
func (p *parser) refuse(n int32, rule, expected string) {
	p.beyond = jsonIssue(canon.Pointer(p.numbered(n).path()...), rule, expected)
	p.end()
}

// cut leaves of the text what comes before the first error, and says what is wrong there.
func (t *tree) cut() *fault.Issue {
	text, wrong := t.text, canon.Fault([]byte(t.text))
	t.text = text[:min(wrong.Offset, len(text))]
	expected := cmp.Or(syntax.Expected(string(wrong.Rule), text, wrong.Offset), "valid JSON")
	return jsonIssue(wrong.Pointer, string(wrong.Rule), expected)
}
