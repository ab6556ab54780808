package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
)

// call reads the arguments of a Python call: keyword arguments, or one object. Its JSON is the object of its
// arguments.
func (r *reader) call(n int) bool {
	start := r.pos
	r.pos = tokenEnd(r.src[:r.stop()], start)
	r.at(n).name = int32(r.pos)
	if strings.Contains(r.src[start:r.pos], `\`) {
		r.repaired(formMarkdownEscape, start)
	}
	r.pos++
	if !r.space() {
		return false
	}
	if r.has("**") {
		r.pos += len("**")
	}
	if r.peek() == '{' {
		return r.dictArgument(n)
	}
	return r.members(n, ')', (*reader).keyword)
}

// dictArgument reads the one object of f({…}).
func (r *reader) dictArgument(n int) bool {
	r.within++
	defer func() { r.within-- }()
	r.at(n).dict, r.at(n).argued = true, true
	if _, ok := r.value(n, 0); !ok {
		return false
	}
	to := len(r.out)
	done, ok := r.item(')', false)
	r.out = r.out[:to]
	if ok && !done {
		return r.fail(fault.RuleSyntax, r.pos) // a second argument that has no name
	}
	return ok
}

// keyword reads the name of an argument and its "=". A value without a name is refused.
func (r *reader) keyword() bool {
	start := r.pos
	if !isNameStart(r.peek()) || r.odd == start {
		return r.unexpected()
	}
	name := r.name()
	if !r.space() {
		return false
	}
	if r.peek() != '=' || r.has("==") {
		if r.pos >= r.stop() {
			return r.ends(start)
		}
		r.pos, r.far = start, r.pos
		return r.unexpected()
	}
	r.pos++
	if !isPlain(name) {
		return r.fail(fault.RuleSyntax, start)
	}
	return r.quote(name, start)
}

// isPlain reports whether a name has no quotation marks, spaces and invisible characters beyond ASCII.
func isPlain(name string) bool {
	isOdd := func(v rune) bool {
		return v >= utf8.RuneSelf && v != utf8.RuneError && !unicode.In(v, unicode.L, unicode.M, unicode.N)
	}
	return strings.IndexFunc(name, isOdd) < 0
}

// name reads an identifier, without Markdown's backslashes before underscores.
func (r *reader) name() string {
	start := r.pos
	for r.pos < r.stop() && (isNameByte(r.src[r.pos]) || isMarkdownEscape(r.src[:r.stop()], r.pos)) {
		r.pos++
	}
	written := r.src[start:r.pos]
	if !strings.Contains(written, `\`) {
		return written
	}
	r.repaired(formMarkdownEscape, start)
	return plainName(written)
}

// tokenEnd returns the end of the name at pos: letters, digits and "_", with ".", "-" and "/" between them.
func tokenEnd(src string, pos int) int {
	end := pos
	for i := pos; i < len(src); i++ {
		c := src[i]
		switch {
		case isAlnum(c) || c == '_' || isMarkdownEscape(src, i):
			end = i + 1
		case c == '.' || c == '-' || c == '/':
		default:
			return end
		}
	}
	return end
}

func isMarkdownEscape(src string, i int) bool {
	return src[i] == '\\' && i+1 < len(src) && src[i+1] == '_'
}

func plainName(written string) string { return strings.ReplaceAll(written, `\_`, "_") }
