package schema

import (
	"bytes"
	"cmp"
	"errors"
	"io"
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
	if _, issue := parse(string(doc), lim); issue != nil {
		return []fault.Issue{*issue}
	}
	return nil
}

// parse reads a document, refusing all that is not strict JSON within the limits.
func parse(text string, lim Limits) (*value, *fault.Issue) {
	if len(text) > lim.MaxBytes {
		return nil, jsonIssue("", fault.RuleSize, "at most "+strconv.Itoa(lim.MaxBytes)+" bytes")
	}
	if !utf8.ValidString(text) {
		return nil, jsonIssue("", fault.RuleInvalidUTF8, "text in UTF-8")
	}
	p := parser{text: text, depth: lim.MaxDepth}
	root := p.fresh()
	if p.value(root) && p.peek() == 0 && p.at == len(text) {
		return root, nil
	}
	return nil, syntaxIssue(text, lim)
}

func jsonIssue(pointer, rule, expected string) *fault.Issue {
	return &fault.Issue{Pointer: pointer, Rule: rule, Expected: expected, Source: fault.FromJSON}
}

// parser reads one text, which is UTF-8. It stops at whatever is wrong, and [syntaxIssue] says what that is.
type parser struct {
	text  string
	at    int
	depth int // how many more levels may be opened
	room  []value
}

// fresh makes a value. Values are made many at a time, and stay where they are.
func (p *parser) fresh() *value {
	if len(p.room) == 0 {
		rest := p.text[p.at:]
		atMost := 1 + strings.Count(rest, ",") + strings.Count(rest, "{") + strings.Count(rest, "[")
		p.room = make([]value, min(atMost, 512))
	}
	v := &p.room[0]
	p.room = p.room[1:]
	return v
}

// peek skips white space and returns the byte that follows; 0 at the end.
func (p *parser) peek() byte {
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// eat steps over one byte, if it is what follows.
func (p *parser) eat(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) value(v *value) (ok bool) {
	c := p.peek()
	v.start = int32(p.at)
	switch c {
	case '{':
		v.kind, ok = kindObject, p.container(v, '}')
	case '[':
		v.kind, ok = kindArray, p.container(v, ']')
	case '"':
		v.kind = kindString
		v.text, ok = p.str()
	case 't':
		v.kind, v.truth, ok = kindBoolean, true, p.word("true")
	case 'f':
		v.kind, ok = kindBoolean, p.word("false")
	case 'n':
		v.kind, ok = kindNull, p.word("null")
	default:
		ok = p.number(v)
	}
	v.end = int32(p.at)
	return ok
}

func (p *parser) word(word string) bool {
	ok := strings.HasPrefix(p.text[p.at:], word)
	p.at += len(word)
	return ok
}

// fewNames is how many names are compared one by one.
const fewNames = 40

// container reads what stands between brackets.
func (p *parser) container(v *value, closing byte) bool {
	if p.depth--; p.depth < 0 {
		return false
	}
	p.at++
	last := &v.first
	var names map[string]bool
	for more := p.peek() != closing; more; more = p.eat(',') {
		child := p.fresh()
		child.parent, child.place = v, v.count
		if closing == '}' {
			p.peek()
			var ok bool
			if child.name, ok = p.str(); !ok || !p.eat(':') || isTaken(v, child.name, &names) {
				return false
			}
		}
		if !p.value(child) {
			return false
		}
		*last, last = child, &child.next
		v.count++
	}
	p.depth++
	return p.eat(closing)
}

// isTaken reports whether an object has a member of this name. names are all of them, once they are many.
func isTaken(object *value, name string, names *map[string]bool) bool {
	if *names == nil {
		for m := object.first; m != nil; m = m.next {
			if m.name == name {
				return true
			}
		}
		if object.count < fewNames {
			return false
		}
		*names = map[string]bool{}
		for m := object.first; m != nil; m = m.next {
			(*names)[m.name] = true
		}
	}
	taken := (*names)[name]
	(*names)[name] = true
	return taken
}

// str reads a string. Where nothing is escaped, it shares the memory of the text.
func (p *parser) str() (string, bool) {
	if p.at >= len(p.text) || p.text[p.at] != '"' {
		return "", false
	}
	start := p.at
	p.at++
	p.at += canon.PlainRun(p.text[p.at:])
	if p.at < len(p.text) && p.text[p.at] == '"' {
		p.at++
		return p.text[start+1 : p.at-1], true
	}
	for ; p.at < len(p.text) && p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	p.at = min(p.at+1, len(p.text))
	s, err := jsontext.AppendUnquote(nil, p.text[start:p.at])
	return string(s), err == nil
}

// number reads a number within the bounds.
func (p *parser) number(v *value) bool {
	start := p.at
	plain := true
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c >= '0' && c <= '9' || c == '-' && p.at == start:
		case c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-':
			plain = false
		default:
			return p.numberIs(v, p.text[start:p.at], plain)
		}
	}
	return p.numberIs(v, p.text[start:], plain)
}

func (p *parser) numberIs(v *value, text string, plain bool) bool {
	v.text, v.kind = text, kindInteger
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || !isDigits(digits[:1]) || len(digits) > 1 && digits[0] == '0' && isDigits(digits[1:2]) {
		return false
	}
	if plain && len(text) <= maxPlainDigits {
		return true
	}
	hasExponent := strings.ContainsAny(text, "eE")
	if !plain && !isNumber(digits) || (hasExponent || len(text) > maxPlainDigits) && !numberInBounds(text) {
		return false
	}
	if !isWhole(text) {
		v.kind = kindNumber
	}
	return true
}

// isNumber reports whether a text without a sign is digits, perhaps a fraction, and perhaps an exponent.
func isNumber(text string) bool {
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent := text[at+1:]
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if !isDigits(exponent) {
			return false
		}
		text = text[:at]
	}
	whole, fraction, hasFraction := strings.Cut(text, ".")
	return isDigits(whole) && (!hasFraction || isDigits(fraction))
}

func isDigits(text string) bool {
	for n := range len(text) {
		if text[n] < '0' || text[n] > '9' {
			return false
		}
	}
	return text != ""
}

// syntaxIssue says what is wrong with a text that is not strict JSON within the limits.
func syntaxIssue(text string, lim Limits) *fault.Issue {
	dec := jsontext.NewDecoder(bytes.NewBufferString(text))
	for {
		tok, err := dec.ReadToken()
		switch {
		case err != nil:
			return decoderIssue(text, err)
		case dec.StackDepth() > lim.MaxDepth:
			wants := "at most " + strconv.Itoa(lim.MaxDepth) + " levels of nesting"
			return jsonIssue(string(dec.StackPointer()), fault.RuleDepth, wants)
		case tok.Kind() == '0' && !numberInBounds(tok.String()):
			return jsonIssue(string(dec.StackPointer()), fault.RuleSize, "a number of ordinary size")
		}
		if dec.StackDepth() == 0 {
			break
		}
	}
	if _, err := dec.ReadToken(); errors.Is(err, io.EOF) {
		return jsonIssue("", fault.RuleSyntax, "valid JSON") // cannot be: parse takes all that is strict
	}
	return jsonIssue("", fault.RuleTrailingData, "one JSON value and nothing after it")
}

// decoderIssue turns a decoder's error into an issue by its fields; its text is left behind.
func decoderIssue(text string, err error) *fault.Issue {
	pointer, offset := "", len(text)
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		pointer, offset = string(syntactic.JSONPointer), int(syntactic.ByteOffset)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return jsonIssue(pointer, fault.RuleDuplicateKey, "each member name once")
	}
	return jsonIssue(pointer, fault.RuleSyntax, cmp.Or(syntax.Wanted(text, offset), "valid JSON"))
}
