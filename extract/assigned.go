package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// assignment is an object that code assigns to a variable.
type assignment struct {
	name string
	// indent is the number of characters before its line.
	indent     int
	start, end int
	json       []byte
	repairs    []Repair
}

// The text before and after an object that a line assigns to a variable, without indentation.
var (
	assigns  = regexp.MustCompile(`^(?:const )?(?:let )?(?:var )?([A-Za-z_[:^ascii:]][\w[:^ascii:]]*) *= *$`)
	endsLine = regexp.MustCompile(`^;?[ \t\r]*(?:\n|$|#|//)`)
)

// assign keeps object n if its line assigns only this object to a variable: name = {…}.
func (s *scanner) assign(p *parse, n int) {
	if n == 0 || p.fault != nil || p.kind(n) != object {
		return
	}
	line, indent := lineBefore(s.text, p.begin(n))
	if m := assigns.FindStringSubmatch(line); m != nil && endsLine.MatchString(s.text[p.at(n).end:]) {
		repairs := slices.Clone(p.repairs)
		s.assigned = &assignment{m[1], indent, p.begin(n), int(p.at(n).end), p.json(n), repairs}
	}
}

// maxLine is how many bytes of a line are looked at, so that reading stays linear.
const maxLine = 256

// lineBefore returns the text before pos in its line, without indentation, and the size of the indentation.
// For a line that is too long it is "#", as for a comment.
func lineBefore(text string, pos int) (line string, indent int) {
	window := text[max(0, pos-maxLine):pos]
	start := strings.LastIndexByte(window, '\n') + 1
	if start == 0 && len(window) < pos {
		return "#", 0
	}
	line = strings.TrimLeft(window[start:], " \t")
	return line, len(window) - start - len(line)
}

// assignedTo reads f(v) and f(**v). The latest assignment of an object must be that of v, in the same block
// or one around it, and v must not be used in between.
func (s *scanner) assignedTo(start, end int) bool {
	v := s.assigned
	if v == nil || len(s.run) > 0 {
		return false
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(s.text[end+1:], "**"), v.name+")")
	if !ok {
		return false
	}
	s.assigned = nil
	line, indent := lineBefore(s.text, start)
	commented := strings.Contains(line, "#") || strings.Contains(line, "//")
	isBetween := func(r rune) bool { return r < utf8.RuneSelf && !isNameByte(byte(r)) }
	used := slices.Contains(strings.FieldsFunc(s.text[v.end:start], isBetween), v.name)
	if used || indent < v.indent || commented {
		return false
	}
	p := s.startAt(len(s.text) - len(rest))
	c, _ := s.names.call(plainName(s.text[start:end]), start)
	c.Form, c.Offset, c.End, c.Arguments = formPythonCallObject, v.start, p.pos, v.json
	c.Repairs = append(c.Repairs, v.repairs...)
	c.repaired(formPythonSyntax, start)
	c.repaired(formAssignedArguments, v.start)
	p.add(c)
	s.take(p, start)
	return true
}
