package feedback

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// A template can loop for ever without writing a byte: {{range 1000000000000}}{{end}}. So each round of a
// range and each call of a template begins with a call of the meter, which is put into the parsed tree, and
// the functions that make text, which could double a variable again and again, pay by the byte.

const (
	workFunc  = "_work"
	roundCost = 1
	callCost  = 100
)

var errWork = errors.New("the template does too much work")

// meter counts the work of one rendering. Not safe for concurrent use.
type meter struct{ left int }

func (m *meter) spend(cost int) (string, error) {
	if cost > m.left {
		m.left = 0
		return "", errWork
	}
	m.left -= cost
	return "", nil
}

// funcs are the meter itself and the built-in functions that make text, metered.
func (m *meter) funcs() template.FuncMap {
	return template.FuncMap{
		workFunc:   m.spend,
		"print":    m.metered(fmt.Sprint, 1),
		"println":  m.metered(fmt.Sprintln, 1),
		"printf":   m.printf,
		"html":     m.metered(template.HTMLEscaper, 5),
		"js":       m.metered(template.JSEscaper, 6),
		"urlquery": m.metered(template.URLQueryEscaper, 3),
	}
}

// metered pays for the texts that go in, at the rate they may grow by, before any is made, and for what comes
// out.
func (m *meter) metered(write func(...any) string, growth int) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		cost := 1
		for _, a := range args {
			if s, ok := a.(string); ok {
				cost += growth * len(s)
			}
		}
		if _, err := m.spend(cost); err != nil {
			return "", err
		}
		text := write(args...)
		_, err := m.spend(len(text))
		return text, err
	}
}

// printf refuses what makes much text of little: widths of more than three digits, widths taken from
// arguments, and arguments used by number.
func (m *meter) printf(format string, args ...any) (string, error) {
	for _, verb := range strings.Split(format, "%")[1:] {
		flags := verb[:len(verb)-len(strings.TrimLeft(verb, "+-# 0123456789.*["))]
		if strings.ContainsAny(flags, "*[") || len(flags) > 8 || longDigits(flags) {
			return "", &callError{reason: `printf: a width has three digits at most, and "*" and "[n]" are not allowed`}
		}
	}
	if _, err := m.spend(len(format)); err != nil {
		return "", err
	}
	return m.metered(func(a ...any) string { return fmt.Sprintf(format, a...) }, 1)(args...)
}

func longDigits(flags string) bool {
	run := 0
	for i := range len(flags) {
		if flags[i] < '0' || flags[i] > '9' {
			run = 0
			continue
		}
		if run++; run > 3 {
			return true
		}
	}
	return false
}

// guard puts the meter into a template's tree: at its beginning, and at that of each range.
func guard(root *parse.ListNode) {
	walk(root, func(n parse.Node) {
		if r, ok := n.(*parse.RangeNode); ok {
			prepend(r.List, roundCost, r.Pos)
		}
	})
	prepend(root, callCost, 0)
}

// prepend puts {{_work cost}} before all else. The position is where an error is said to be.
func prepend(list *parse.ListNode, cost int64, pos parse.Pos) {
	call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: []parse.Node{
		parse.NewIdentifier(workFunc).SetPos(pos),
		&parse.NumberNode{NodeType: parse.NodeNumber, Pos: pos, IsInt: true, Int64: cost, Text: strconv.FormatInt(cost, 10)},
	}}
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{call}}
	action := &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: pipe}
	list.Nodes = slices.Insert(list.Nodes, 0, parse.Node(action))
}
