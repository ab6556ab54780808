package extract

import (
	"slices"
	"strings"
	"unicode"

	"github.com/retake-go/retake/fault"
)

// token reads a name: of a call f(…), or of a tool whose arguments follow.
func (s *scanner) token() bool {
	if !isLetter(s.text[s.pos]) && s.text[s.pos] != '_' {
		return false
	}
	start, end := s.pos, tokenEnd(s.text, s.pos)
	if end < len(s.text) && s.text[end] == '(' && s.python(start, end) {
		return true
	}
	if s.announces(s.text[start:end], end) {
		s.pos = end
		return true
	}
	args := argumentsAfter(s.text, end)
	if args < 0 && strings.HasSuffix(s.text[:start], "to=") {
		args = argumentsAfter(s.text, afterType(s.text, end))
	}
	if args >= 0 && s.nameThenArguments(start, end, args) {
		return true
	}
	if !s.tagNamed(start, end) && !s.nextAssigned(end) && !s.label() {
		s.prose(start, end)
	}
	return true
}

// nextAssigned goes to the next call of fenced code that keeps the results of its calls: x = f(a=1), y =
// g(b=2). A call that needs such a result does not belong to the run.
func (s *scanner) nextAssigned(end int) bool {
	if len(s.run) == 0 || s.fenced.ticks < 3 {
		return false
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(s.text[end:], " "), "=")
	if !ok {
		return false
	}
	start := len(s.text) - len(strings.TrimLeft(rest, " "))
	if start == len(s.text) || !isNameStart(s.text[start]) {
		return false
	}
	name := s.text[start:tokenEnd(s.text, start)]
	if _, _, known := s.names.lookup(plainName(name)); !known {
		return false
	}
	back := s.pos
	s.pos = start
	if p, n := s.read(); n != 0 && p.kind(n) == call && !p.at(n).open {
		return true
	}
	s.pos = back
	return false
}

// headTokens follow the role of a message, or the id of a call, before the name of its tool.
var headTokens = [...]string{"<|channel|>", "<|recipient|>", "<|tool_call:name|>"}

// label goes past a word between a control token and one of the headTokens, or a recipient: the role, channel
// or id of the next call.
func (s *scanner) label() bool {
	end := tokenEnd(s.text, s.pos)
	if len(s.run) == 0 || s.tag.kind != controlToken || s.tag.end != s.pos || end == s.pos {
		return false
	}
	rest, leadsUp := strings.CutPrefix(s.text[end:], " to=")
	for _, token := range headTokens {
		leadsUp = leadsUp || strings.HasPrefix(strings.TrimLeft(rest, "\n"), token)
	}
	if leadsUp {
		s.pos = len(s.text) - len(rest)
	}
	return leadsUp
}

// announces reports whether a word precedes a call, among tokens for calls or in code.
func (s *scanner) announces(word string, end int) bool {
	if end == len(s.text) {
		return false
	}
	switch word {
	case "function":
		return markAt(s.text, end).kind == controlToken
	case "call":
		return s.text[end] == ':' && s.tag.kind == callTag
	case "print":
		return len(s.run) > 0 && s.text[end] == '(' && s.fenced.kind != noMark
	}
	return false
}

// bareCall is the tag in which a name alone is a call. After other tags, as in <function>f</function>, the
// arguments may follow.
const bareCall = "toolcall"

// tagNamed reads a call whose name follows a tag for calls. Its arguments are each in their own tag, or there
// are none. A call of a known tool with other arguments is broken.
func (s *scanner) tagNamed(start, end int) bool {
	if s.tag.kind != callTag {
		return false
	}
	args := skipSpace(s.text, end)
	if strings.HasPrefix(s.text[args:], separator) {
		args = skipSpace(s.text, args+len(separator))
	}
	p := s.startAt(args)
	inTags := p.openTag().word == argumentKey
	c, known := s.names.call(plainName(s.text[start:end]), start)
	if !known && !inTags {
		return false
	}
	c.Form, c.Offset, c.End = formToolTag, start, end
	switch {
	case inTags:
		c = p.fromTags(c, s.tag.word)
	case s.tag.word == bareCall && p.closes(bareCall):
		p.none(&c, args)
	default:
		p.fail(fault.RuleSyntax, args)
		c = p.broken(c)
	}
	p.add(c)
	s.take(p, start)
	return true
}

// rereads bounds how often a text is read for Python calls. The comment behind a mention is read with it, and
// again for each further mention in it.
const rereads = 4

// python reads f(…) if f is a tool, and any f in a tag for calls. In running text f() and f(x) only mention
// f, and f(a=1) within a sentence only mentions a call. In code that defines f itself, f(…) is no call
// of the tool.
func (s *scanner) python(start, end int) bool {
	at := setting{clear: s.tag.kind == callTag}
	name, _, known := s.names.lookup(plainName(s.text[start:end]))
	if !known && !at.clear {
		return false
	}
	if slices.Contains(s.defined, name) {
		return false
	}
	if strings.HasSuffix(s.text[:start], "def ") {
		if s.fenced.kind != noMark {
			s.defined = append(s.defined, name)
		}
		return false
	}
	if s.assignedTo(start, end) {
		return true
	}
	if s.runsOn() && isMention(s.text[:start]) || s.reread > rereads*len(s.text) {
		return false
	}
	p, n := s.read()
	s.reread += max(p.pos, p.far) - start
	if n == 0 || p.kind(n) != call || !p.at(n).argued && !s.standsAlone() {
		return false
	}
	c, taken := p.python(n, at)
	if taken {
		p.add(c)
		s.take(p, start)
	}
	return taken
}

// standsAlone reports whether what follows is apart from running text: first in the text, next in a run, or
// in a tag or fence.
func (s *scanner) standsAlone() bool {
	return s.before < 0 || len(s.run) > 0 || s.tag.kind != noMark || s.fenced.kind != noMark
}

// runsOn reports whether what follows is part of running text, also in single backticks.
func (s *scanner) runsOn() bool { return len(s.run) == 0 && s.tag.kind == noMark && s.fenced.ticks < 3 }

// isMention reports whether text ends within a sentence, after a word or a comma. It is false after words of
// code that precede a call.
func isMention(text string) bool {
	text = strings.TrimRight(text, " `")
	if strings.HasSuffix(text, ",") {
		return true
	}
	word := text[len(strings.TrimRightFunc(text, unicode.IsLetter)):]
	return word != "" && word != "return" && word != "await"
}
