package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// nameThenArguments reads a tool's name and the object of its arguments. The name may follow the full stop of
// a sentence without a space.
func (s *scanner) nameThenArguments(start, end, args int) bool {
	begin := start
	start, known := s.knownIn(start, end)
	if !known {
		return false
	}
	if start > begin && len(s.run) > 0 {
		return false
	}
	if start > begin && s.before < 0 {
		s.before = begin
	}
	s.pos = args
	p, n := s.read()
	c, _ := s.names.call(plainName(s.text[start:end]), start)
	c.Form, c.Offset, c.End = formNameThenArguments, start, p.pos
	switch {
	case p.isCallOf(n, c.Name): // the name leads up to a whole call: add: {"name": "add", "arguments": …}
		if len(s.run) == 0 && s.before < 0 {
			s.before = start
		}
		if whole, ok := p.nameMember(n, setting{form: formCallObject}); ok {
			p.add(whole)
		}
	case p.at(n).open:
		p.add(p.broken(c))
	default:
		c.Arguments = p.json(n)
		p.add(c)
	}
	s.take(p, start)
	return true
}

// knownIn finds a tool's name in a dotted name: all of it, or its end after a dot.
func (s *scanner) knownIn(start, end int) (from int, known bool) {
	written := s.text[start:end]
	_, _, known = s.names.lookup(plainName(written))
	for !known {
		dot := strings.IndexByte(written, '.')
		if dot < 0 {
			return start, false
		}
		start, written = start+dot+1, written[dot+1:]
		if len(written) <= 4*s.names.longest {
			_, _, known = s.names.lookup(plainName(written))
		}
	}
	return start, true
}

// isCallOf reports whether object n is a call of the tool.
func (p *parse) isCallOf(n int, tool string) bool {
	o := p.parts(n)
	if o.name == 0 || o.args == 0 {
		return false
	}
	name, _, known := p.to.names.lookup(string(p.text(o.name)))
	return known && name == tool
}

// separator is what Hunyuan writes after a name.
const separator = "<tool_sep>"

// argumentLead may be between a name and its arguments: closing marks, a colon with the call's number, and a
// label.
var argumentLead = regexp.MustCompile("^[`*]*[ \t\r\n]*(?::[0-9]*[ \t\r\n]*|" + separator + "[ \t\r\n]*)?" +
	"(?:(?:Action Input|Arguments|Parameters|Input|Args|✿ARGS✿):[ \t\r\n]*)?")

// argumentsAfter returns the offset of the arguments after a name that ends at pos; -1 if there are none.
// Between them may be the argumentLead, control tokens and a fence.
func argumentsAfter(text string, pos int) int {
	pos = skipMarks(text, pos+len(argumentLead.FindString(text[pos:])))
	if pos < len(text) && text[pos] == '{' {
		return pos
	}
	return -1
}

// tokenWords may follow a control token before arguments, and typeWords may precede one.
var (
	tokenWords = [...]string{"json", "code", "commentary json<|", "commentary"}
	typeWords  = [...]string{"json<|", "code<|"}
)

// afterType skips the type that gpt-oss names before arguments, where a server leaves out the tokens around
// it.
func afterType(text string, pos int) int {
	pos = skipSpace(text, pos)
	for _, word := range [...]string{"json", "code"} {
		if strings.HasPrefix(text[pos:], word) {
			return pos + len(word)
		}
	}
	return pos
}

// skipMarks skips a few control tokens and fences, and the words beside them.
func skipMarks(text string, pos int) int {
	for _, word := range typeWords {
		if strings.HasPrefix(text[pos:], word) {
			pos += len(word) - len("<|")
		}
	}
	for range 3 {
		if pos >= len(text) || text[pos] == '{' {
			break
		}
		m := markAt(text, pos)
		if m.kind != controlToken && m.kind != fence {
			break
		}
		pos = skipSpace(text, m.end)
		if m.kind == controlToken {
			pos = skipSpace(text, behindToken(text, m, pos))
		}
	}
	return pos
}

// behindToken skips the word after control token m, or the call's id after the token for ids.
func behindToken(text string, m mark, pos int) int {
	if text[m.start:m.end] == "[CALL_ID]" {
		return tokenEnd(text, pos)
	}
	for _, word := range tokenWords {
		if strings.HasPrefix(text[pos:], word) {
			return pos + len(strings.TrimSuffix(word, "<|"))
		}
	}
	return pos
}

// functionTag reads the arguments after a tag that names the tool.
func (s *scanner) functionTag(m mark) {
	args := skipSpace(s.text, m.end)
	s.pos = args
	c, _ := s.names.call(m.function, m.start)
	c.Form, c.Offset, c.End = formFunctionTag, m.start, m.end
	p, n := s.read()
	switch {
	case n != 0 && p.kind(n) == object && !p.at(n).open:
		c.Arguments, c.End = p.json(n), int(p.at(n).end)
	case isClosing(s.text[args:]) && tagAt(s.text, args).kind != noMark:
		p.none(&c, args)
	case strings.HasPrefix(s.text[args:], "<"):
		p.fault, p.pos = nil, args
		c = p.fromTags(c, m.word)
	default:
		p.fail(fault.RuleSyntax, args)
		c = p.broken(c)
	}
	p.add(c)
	s.take(p, m.start)
}

// none makes c a call without arguments. The tag around it is closed at pos.
func (p *parse) none(c *Call, pos int) {
	p.fault, p.pos = nil, pos
	c.noArguments(c.Offset)
}

// fromTags returns c with the arguments in tags at pos. around is the word of the tag around them.
func (p *parse) fromTags(c Call, around string) Call {
	first := p.pos
	if !p.tagged(around) {
		return p.broken(c)
	}
	c.Arguments, c.End = slices.Clone(p.out), first+len(strings.TrimRight(p.src[first:p.pos], " \t\r\n"))
	c.repaired(TaggedArguments, c.Offset)
	return c
}
