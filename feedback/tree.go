package feedback

import (
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// walk visits a node and all below it, parents first.
func walk(n parse.Node, visit func(parse.Node)) {
	visit(n)
	for _, child := range children(n) {
		walk(child, visit)
	}
}

func children(n parse.Node) []parse.Node {
	switch n := n.(type) {
	case *parse.ListNode:
		return n.Nodes
	case *parse.ActionNode:
		return []parse.Node{n.Pipe}
	case *parse.IfNode:
		return branch(n.BranchNode)
	case *parse.RangeNode:
		return branch(n.BranchNode)
	case *parse.WithNode:
		return branch(n.BranchNode)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			return []parse.Node{n.Pipe}
		}
	case *parse.PipeNode:
		list := make([]parse.Node, len(n.Cmds))
		for at, cmd := range n.Cmds {
			list[at] = cmd
		}
		return list
	case *parse.CommandNode:
		return n.Args
	case *parse.ChainNode:
		return []parse.Node{n.Node}
	}
	return nil
}

func branch(b parse.BranchNode) []parse.Node {
	list := []parse.Node{b.Pipe, b.List}
	if b.ElseList != nil {
		list = append(list, b.ElseList)
	}
	return list
}

// builtin are the functions of text/template.
const builtin = "and, call, html, index, slice, js, len, not, or, print, printf, println, urlquery, eq, ge, gt, le, lt, ne"

// unknownFunc is the first function, by place, that neither we nor text/template offer; empty where all are
// known.
func unknownFunc(trees []*parse.Tree) string {
	known := strings.Split(offered+", "+builtin, ", ")
	var name string
	var at parse.Pos
	for _, tree := range trees {
		walk(tree.Root, func(n parse.Node) {
			id, ok := n.(*parse.IdentifierNode)
			if ok && !slices.Contains(known, id.Ident) && (name == "" || id.Pos < at) {
				name, at = id.Ident, id.Pos
			}
		})
	}
	return name
}

// undefined reports the first call of a template that no {{define}} or {{block}} makes.
func undefined(base *template.Template, text string) error {
	var first *parse.TemplateNode
	for _, t := range base.Templates() {
		walk(t.Root, func(n parse.Node) {
			call, ok := n.(*parse.TemplateNode)
			if ok && base.Lookup(call.Name) == nil && (first == nil || call.Pos < first.Pos) {
				first = call
			}
		})
	}
	if first == nil {
		return nil
	}
	return &TemplateError{
		Line:   1 + strings.Count(text[:first.Pos], "\n"),
		Reason: fmt.Sprintf("there is no {{define %q}}", first.Name),
	}
}
