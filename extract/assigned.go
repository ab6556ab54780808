package extract

import (
	"slices"
	"strings"
)

// assignment is an object that code puts into a variable.
type assignment struct {
	name       string
	start, end int
	json       []byte
	repairs    []Repair
}

// assign keeps object n where it is put into a variable: name = {…}.
func (s *scanner) assign(p *parse, n int) {
	if n == 0 || p.fault != nil || p.nodes[n].kind != object {
		return
	}
	before, equals := strings.CutSuffix(strings.TrimRight(s.text[:p.nodes[n].start], " "), "=")
	if before = strings.TrimRight(before, " "); !equals {
		return
	}
	at := len(before)
	for at > 0 && isNameByte(before[at-1]) {
		at--
	}
	if name := before[at:]; name != "" && isNameStart(name[0]) && (at == 0 || before[at-1] == '\n' || before[at-1] == ' ') {
		s.assigned = &assignment{name, p.nodes[n].start, p.nodes[n].end, p.json(n), slices.Clone(p.repairs)}
	}
}

// assignedTo reads f(v) and f(**v) where v is the variable that an object was put into last, and that nothing was said of since.
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
	if mentions(s.text[v.end:start], v.name) {
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
