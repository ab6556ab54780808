package prompt

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/retake-go/retake/internal/canon"
)

// Check reports the first member of .Vars that each rendering reads and vars does not have, as an [Error].
// What stands in the branches of an {{if}}, {{range}} or {{with}} and in a {{define}} is not looked at.
func (t *Template) Check(vars map[string]any) error {
	if t.base == nil {
		return nil
	}
	for _, n := range t.base.Root.Nodes {
		for _, read := range readBy(pipeOf(n)) {
			if _, there := vars[read.name]; !there {
				line := 1 + strings.Count(t.text[:read.at], "\n")
				reason := fmt.Sprintf("there is no .Vars.%s: %s", read.name, heldBy(vars))
				return &Error{Line: line, Reason: reason}
			}
		}
	}
	return nil
}

// heldBy names the members of vars.
func heldBy(vars map[string]any) string {
	if len(vars) == 0 {
		return "no vars are set"
	}
	return "the vars are " + strings.Join(canon.Keys(vars), ", ")
}

// pipeOf returns the pipe of a node that is always evaluated; nil for none.
func pipeOf(n parse.Node) *parse.PipeNode {
	switch n := n.(type) {
	case *parse.ActionNode:
		return n.Pipe
	case *parse.IfNode:
		return n.Pipe
	case *parse.RangeNode:
		return n.Pipe
	case *parse.WithNode:
		return n.Pipe
	case *parse.TemplateNode:
		return n.Pipe
	}
	return nil
}

// variable is a member of .Vars that a template reads, and where.
type variable struct {
	name string
	at   parse.Pos
}

// readBy returns the members of .Vars that a pipe always reads: "and" and "or" may not look at all arguments.
func readBy(p *parse.PipeNode) (all []variable) {
	if p == nil {
		return nil
	}
	for _, c := range p.Cmds {
		if f, ok := c.Args[0].(*parse.IdentifierNode); ok && slices.Contains([]string{"and", "or"}, f.Ident) {
			continue
		}
		for _, arg := range c.Args {
			switch arg := arg.(type) {
			case *parse.FieldNode:
				all = append(all, member(arg.Ident, arg.Pos)...)
			case *parse.VariableNode:
				if arg.Ident[0] == "$" {
					all = append(all, member(arg.Ident[1:], arg.Pos)...)
				}
			case *parse.PipeNode:
				all = append(all, readBy(arg)...)
			}
		}
	}
	return all
}

// member returns the member of .Vars in a chain of names such as .Vars.city, if there is one.
func member(names []string, at parse.Pos) []variable {
	if len(names) < 2 || names[0] != "Vars" {
		return nil
	}
	return []variable{{names[1], at}}
}
