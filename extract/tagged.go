package extract

import (
	"bytes"
	"strings"

	"github.com/retake-go/retake/fault"
)

// tagged reads arguments that are each in their own tag, up to the closing tag around them:
// <parameter=a>1</parameter>, <parameter name="a">1</parameter>, or
// <arg_key>a</arg_key><arg_value>1</arg_value>. Their JSON is an object of strings.
func (r *reader) tagged(around string) bool {
	_, ok := r.tags(func() bool { return r.closes(around) },
		func() (piece, bool) { return r.argument(around) })
	return ok
}

// tags reads arguments in tags as an object of strings, up to the closing tag at which ends is true. argument
// reads one, writes its name, and returns the place of its value. some reports whether any was read.
func (r *reader) tags(ends func() bool, argument func() (piece, bool)) (some, ok bool) {
	r.out = append(r.out, '{')
	var seen names
	for ; ; some = true {
		r.pos = skipSpace(r.src, r.pos)
		switch {
		case r.pos >= r.stop():
			return some, r.ends(r.pos)
		case ends():
			r.out = append(bytes.TrimSuffix(r.out, []byte{','}), '}')
			return some, true
		}
		at, from := r.pos, len(r.out)
		value, ok := argument()
		if !ok {
			return some, false
		}
		if r.isNamed(&seen, span{int32(from), int32(len(r.out))}) {
			return some, r.fail(fault.RuleDuplicateKey, at)
		}
		r.out = append(r.out, ':')
		if !r.quote(r.src[value.start:value.end], value.start) {
			return some, false
		}
		r.out = append(r.out, ',')
	}
}

// piece is a part of the text.
type piece struct{ start, end int }

// argument reads the tags of one argument, writes its name, and returns the place of its value.
func (r *reader) argument(around string) (value piece, ok bool) {
	m := r.openTag()
	switch {
	case m.function != "" && m.use == ofArgument:
		value, ok = r.content(m, around)
		return r.withoutLayout(value), ok && r.quote(strings.TrimSpace(m.function), m.start)
	case m.word != argumentKey:
		return value, r.unexpected()
	}
	key, ok := r.content(m, around)
	if !ok {
		return key, false
	}
	r.pos = skipSpace(r.src, r.pos)
	if m = r.openTag(); m.word != argumentValue {
		return value, r.unexpected()
	}
	value, ok = r.content(m, around)
	return value, ok && r.quote(strings.TrimSpace(r.src[key.start:key.end]), key.start)
}

// openTag returns the opening tag at pos; its word is empty if there is none.
func (r *reader) openTag() mark {
	rest := r.src[r.pos:]
	if len(rest) < 2 || rest[0] != '<' || isClosing(rest) {
		return mark{}
	}
	return tagAt(r.src, r.pos)
}

func (r *reader) closes(word string) bool {
	return isClosing(r.src[r.pos:]) && tagAt(r.src, r.pos).word == word
}

// content returns the text up to the closing tag of m. It goes to the end of that tag. Before it, the tag
// around may not be closed and no other tag like m may be opened.
func (r *reader) content(m mark, around string) (piece, bool) {
	start := r.afterCDATA(m.end)
	if start < 0 {
		return piece{}, r.ends(m.start)
	}
	c := piece{m.end, closing(r.src, start, m.word, around)}
	if c.end >= r.stop() {
		return c, r.ends(m.start)
	}
	end := tagAt(r.src, c.end)
	tag := r.src[m.start:m.end]
	if end.word != m.word || strings.Contains(r.src[start:c.end], tag[:strings.IndexAny(tag, " =>")]) {
		return c, r.fail(fault.RuleSyntax, m.start)
	}
	r.pos = end.end
	return c, true
}

// The marks around a section of a value in which no tag is one (MiniCPM5).
const cdataStart, cdataEnd = "<![CDATA[", "]]>"

// afterCDATA returns the end of the section that a value begins with; pos if it begins with none, and -1 if
// the section does not end.
func (r *reader) afterCDATA(pos int) int {
	if !strings.HasPrefix(r.src[pos:r.stop()], cdataStart) {
		return pos
	}
	length := strings.Index(r.src[pos:r.stop()], cdataEnd)
	if length < 0 {
		return -1
	}
	return pos + length + len(cdataEnd)
}

// withoutLayout removes the marks of a section that is all of the value, or else the line breaks after the
// opening and before the closing tag, if both are there.
func (r *reader) withoutLayout(p piece) piece {
	if p.start < p.end && r.afterCDATA(p.start) == p.end {
		return piece{p.start + len(cdataStart), p.end - len(cdataEnd)}
	}
	if inner := r.src[p.start:p.end]; len(inner) > 1 && inner[0] == '\n' && inner[len(inner)-1] == '\n' {
		return piece{p.start + 1, p.end - 1}
	}
	return p
}
