package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
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

var errWork = callError(fmt.Sprintf("a loop, a recursion or a text grows beyond the work limit of %d", MaxWork))

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
		"print":    m.metered(fmt.Sprint),
		"println":  m.metered(fmt.Sprintln),
		"printf":   m.printf,
		"html":     m.metered(template.HTMLEscaper),
		"js":       m.metered(template.JSEscaper),
		"urlquery": m.metered(template.URLQueryEscaper),
	}
}

// growth is the most that a function makes of one byte.
const growth = 6

// metered pays for the texts that go in, as they may grow, before any is made, and for what comes out.
func (m *meter) metered(write func(...any) string) func(...any) (string, error) {
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

// wide is what makes much text of little: widths of more than three digits, widths taken from arguments, and
// arguments used by number.
var wide = regexp.MustCompile(`%[-+# 0-9.]*([0-9]{4}|[*\[])`)

func (m *meter) printf(format string, args ...any) (string, error) {
	if wide.MatchString(format) {
		return "", callError(`printf: a width has three digits at most, and "*" and "[n]" are not allowed`)
	}
	if _, err := m.spend(len(format)); err != nil {
		return "", err
	}
	return m.metered(func(a ...any) string { return fmt.Sprintf(format, a...) })(args...)
}

// guard puts the meter at the beginning of a template's tree and of each range in it. It returns the first
// call of a template that is not defined; nil where there is none.
func guard(base *template.Template, root *parse.ListNode) (missing *parse.TemplateNode) {
	var walk func(list *parse.ListNode)
	branches := func(b *parse.BranchNode) {
		walk(b.List)
		walk(b.ElseList)
	}
	walk = func(list *parse.ListNode) {
		if list == nil {
			return
		}
		for _, n := range list.Nodes {
			switch n := n.(type) {
			case *parse.IfNode:
				branches(&n.BranchNode)
			case *parse.WithNode:
				branches(&n.BranchNode)
			case *parse.RangeNode:
				branches(&n.BranchNode)
				prepend(n.List, roundCost, n.Pos)
			case *parse.TemplateNode:
				if missing == nil && base.Lookup(n.Name) == nil {
					missing = n
				}
			}
		}
	}
	walk(root)
	prepend(root, callCost, 0)
	return missing
}

// prepend puts {{_work cost}} before all else. The position is where an error is said to be.
func prepend(list *parse.ListNode, cost int64, pos parse.Pos) {
	number := &parse.NumberNode{NodeType: parse.NodeNumber, Pos: pos, IsInt: true, Int64: cost}
	number.Text = strconv.FormatInt(cost, 10)
	call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: []parse.Node{
		parse.NewIdentifier(workFunc).SetPos(pos), number,
	}}
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{call}}
	action := &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: pipe}
	list.Nodes = slices.Insert(list.Nodes, 0, parse.Node(action))
}
