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

// plainTag is the name of the opening tag at pos that has nothing but a name; empty if there is none.
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
	r.out = append(r.out, '{')
	var seen names
	for end = r.pos + length; ; some = true {
		r.pos = skipSpace(r.src, r.pos)
		if r.pos == end {
			r.pos += len(closer)
			r.out[len(r.out)-1] = '}'
			return some, end
		}
		at, from := r.pos, len(r.out)
		name, value := r.namedTag(end)
		if r.fault != nil || !r.quote(name, at) {
			return some, end
		}
		if r.isNamed(&seen, span{int32(from), int32(len(r.out))}) {
			r.fail(fault.RuleDuplicateKey, at)
			return some, end
		}
		r.out = append(r.out, ':')
		if !r.quote(r.src[value.start:value.end], value.start) {
			return some, end
		}
		r.out = append(r.out, ',')
	}
}

// namedTag reads a tag and the text up to its end, which is before an offset. The tag may not be in itself.
func (r *reader) namedTag(before int) (name string, value piece) {
	at := r.pos
	if name = plainTag(r.src, at); name == "" {
		r.unexpected()
		return "", value
	}
	value.start = at + len("<>") + len(name)
	length := strings.Index(r.src[value.start:before], "</"+name+">")
	if length < 0 || strings.Contains(r.src[value.start:value.start+length], "<"+name+">") {
		r.fail(fault.RuleSyntax, at)
		return "", value
	}
	value.end = value.start + length
	r.pos = value.end + len("</>") + len(name)
	return name, r.withoutLayout(value)
}
