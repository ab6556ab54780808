package extract

import (
	"slices"
	"strings"
)

// assignment is an object that code puts into a variable.
type assignment struct {
	name string
	// indent is the number of characters that its line is indented by.
	indent     int
	start, end int
	json       []byte
	repairs    []Repair
}

// assign keeps object n where a line puts it, and nothing but it, into a variable: name = {…}.
func (s *scanner) assign(p *parse, n int) {
	if n == 0 || p.fault != nil || p.nodes[n].kind != object || !endsLine(s.text[p.nodes[n].end:]) {
		return
	}
	line, indent := lineBefore(s.text, p.nodes[n].start)
	name, equals := strings.CutSuffix(strings.TrimRight(line, " "), "=")
	for _, word := range [...]string{"const ", "let ", "var "} {
		name = strings.TrimPrefix(name, word)
	}
	if name = strings.TrimRight(name, " "); equals && isIdentifier(name) {
		repairs := slices.Clone(p.repairs)
		s.assigned = &assignment{name, indent, p.nodes[n].start, p.nodes[n].end, p.json(n), repairs}
	}
}

// maxLine bounds what is looked at of a line, in bytes, so that reading stays linear.
const maxLine = 256

// lineBefore is what stands before pos in its line, without the space that it is indented by; a comment where
// that is too long.
func lineBefore(text string, pos int) (line string, indent int) {
	window := text[max(0, pos-maxLine):pos]
	start := strings.LastIndexByte(window, '\n') + 1
	if start == 0 && len(window) < pos {
		return "#", 0
	}
	line = strings.TrimLeft(window[start:], " \t")
	return line, len(window) - start - len(line)
}

// endsLine reports whether nothing but a semicolon and a comment follows in the line.
func endsLine(rest string) bool {
	rest = strings.TrimLeft(strings.TrimPrefix(rest, ";"), " \t\r")
	return rest == "" || rest[0] == '\n' || isComment(rest)
}

func isComment(code string) bool { return code[0] == '#' || strings.HasPrefix(code, "//") }

func isIdentifier(name string) bool {
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return false
		}
	}
	return name != "" && isNameStart(name[0])
}

// assignedTo reads f(v) and f(**v) where v is the variable that an object was put into last, in the block of
// the call or one around it, and that nothing was said of since.
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
	if mentions(s.text[v.end:start], v.name) || indent < v.indent || commented {
		return false
	}
	p := parse{reader: &s.reader, names: s.names}
	p.start(s.text, len(s.text)-len(rest), len(s.text), s.opt)
	c, _ := s.names.call(plainName(s.text[start:end]), start)
	c.Form, c.Offset, c.End, c.Arguments = PythonCallObject, v.start, p.pos, v.json
	c.Repairs = append(c.Repairs, v.repairs...)
	c.Repairs = append(c.Repairs, Repair{PythonSyntax, start}, Repair{AssignedArguments, v.start})
	p.calls = append(p.calls, c)
	s.take(&p, start)
	return true
}

// mentions reports whether a name stands in code.
func mentions(code, name string) bool {
	for i := strings.Index(code, name); i >= 0; i = strings.Index(code, name) {
		after := code[i+len(name):]
		if (i == 0 || !isNameByte(code[i-1])) && (after == "" || !isNameByte(after[0])) {
			return true
		}
		code = after
	}
	return false
}
