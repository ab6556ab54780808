package extract

import (
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// ownTag reads a call in a tag that is named as its tool: <f>{"a": 1}</f>, or with each argument in a tag
// that is named as the argument: <f><a>1</a></f>.
func (s *scanner) ownTag(m mark) bool {
	tool, args := plainTag(s.text, m.start), skipSpace(s.text, m.end)
	if tool == "" || args == len(s.text) || s.text[args] != '{' && plainTag(s.text, args) == "" {
		return false
	}
	c, known := s.names.call(tool, m.start)
	if !known {
		return false
	}
	c.Form, c.Offset, c.End = formFunctionTag, m.start, m.end
	s.pos = args
	if s.text[args] == '{' {
		p, n := s.read()
		c.Arguments, c.End = p.json(n), p.pos
		return s.owned(p, c, m, p.at(n).argued)
	}
	if m.start < s.vain {
		return false
	}
	p := s.startAt(args)
	some, end := p.namedTags(tool)
	s.vain = end
	c.Arguments, c.End = slices.Clone(p.out), p.pos
	c.repaired(TaggedArguments, c.Offset)
	return s.owned(p, c, m, some)
}

// owned takes the call in tag m. It is none where no argument was read of a text that goes on.
func (s *scanner) owned(p *parse, c Call, m mark, some bool) bool {
	if p.fault != nil && !some && !p.cut {
		s.pos = m.end
		return false
	}
	if p.fault != nil {
		c = p.broken(c)
	}
	s.tag = m
	s.tag.kind = functionTag
	p.add(c)
	s.take(p, m.start)
	return true
}

// plainTag returns the name of the opening tag at pos that has nothing but a name; empty if there is none.
func plainTag(text string, pos int) string {
	if text[pos] != '<' {
		return ""
	}
	end := tokenEnd(text, pos+1)
	if end == pos+1 || end-pos > maxTag || end == len(text) || text[end] != '>' || !isNameStart(text[pos+1]) {
		return ""
	}
	return text[pos+1 : end]
}

// namedTags reads arguments that are each in a tag of their name, up to the closing tag around them. It
// reports whether it read any, and where the closing tag is.
func (r *reader) namedTags(around string) (some bool, end int) {
	closer := "</" + around + ">"
	length := strings.Index(r.src[r.pos:r.stop()], closer)
	if length < 0 {
		r.ends(r.pos)
		return false, r.stop()
	}
	end = r.pos + length
	some, closed := r.tags(func() bool { return r.pos == end },
		func() (piece, bool) { return r.namedTag(end) })
	if closed {
		r.pos += len(closer)
	}
	return some, end
}

// namedTag reads a tag and the text up to its end, which is before an offset. The tag may not be in itself.
func (r *reader) namedTag(before int) (value piece, ok bool) {
	at := r.pos
	name := plainTag(r.src, at)
	if name == "" {
		return value, r.unexpected()
	}
	value.start = at + len("<>") + len(name)
	length := strings.Index(r.src[value.start:before], "</"+name+">")
	if length < 0 || strings.Contains(r.src[value.start:value.start+length], "<"+name+">") {
		return value, r.fail(fault.RuleSyntax, at)
	}
	value.end = value.start + length
	r.pos = value.end + len("</>") + len(name)
	return r.withoutLayout(value), r.quote(name, at)
}
