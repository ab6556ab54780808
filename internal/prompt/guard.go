package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"text/template"
	"text/template/parse"
)

// A template can loop forever without writing a byte: {{range 1000000000000}}{{end}}. So a call of the meter
// is added to the parsed tree, at the start of each round of a range and of each template. Functions that
// make text pay per byte, because they could double a variable again and again.

const (
	workFunc  = "_work"
	roundCost = 20
	callCost  = 100
)

var errWork = callError(fmt.Sprintf("a loop, a recursion or a text exceeds the work limit of %d", maxWork))

// meter counts the work of one rendering. It is not safe for concurrent use.
type meter struct{ left int }

func (m *meter) spend(cost int) (string, error) {
	if cost > m.left {
		m.left = 0
		return "", errWork
	}
	m.left -= cost
	return "", nil
}

// funcs returns the meter itself and metered versions of the built-in functions that make text.
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

// growth is the most bytes that a function makes of one byte.
const growth = 6

// metered returns write with costs: first for the longest possible text, then for the text itself.
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

// wide matches formats that make much text of little: widths of more than three digits, widths from
// arguments, and arguments by number.
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

// guard adds the meter at the start of a template and of each range in it. It returns the first call of an
// undefined template, or nil.
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

// prepend adds {{_work cost}} at the start of a list. Errors are reported at pos.
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
