package gate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chains are the lists in docs/design.md, by the name of the block, with the most functions that each may
// have.
var chains = map[string]int{"chain": 45, "chain of a check": 15 + 4} // four of them in package tool

// link is one line of a list: a function with its package, and its depth.
type link struct {
	depth int
	name  string
}

// chain reads a list of functions in docs/design.md.
func chain(t *testing.T, block string) (all []link) {
	doc, err := os.ReadFile("../../docs/design.md")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(doc), "```"+block+"\n")
	require.True(t, found, "docs/design.md lists the functions in a block called %s", block)
	list, _, _ = strings.Cut(list, "```")
	for line := range strings.Lines(list) {
		name := strings.TrimLeft(line, " ")
		all = append(all, link{(len(line) - len(name)) / 2, strings.TrimSpace(name)})
	}
	return all
}

// function is a function and the file that it stands in.
type function struct {
	*ast.FuncDecl
	file string
}

// functions returns the functions of a package by name: "Run", "process.call".
func functions(t *testing.T, dir string) map[string]function {
	files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	require.NoError(t, err)
	all := map[string]function{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				all[nameOf(fn)] = function{fn, path}
			}
		}
	}
	return all
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// calls reports whether a function names another one.
func calls(fn *ast.FuncDecl, name string) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			found = found || f.Name == name
		case *ast.SelectorExpr:
			found = found || f.Sel.Name == name
		}
		return true
	})
	return found
}

// A bad call goes through few functions. docs/design.md lists them: each exists and calls the next.
func TestTheWayOfABadCallIsAsTheDesignSays(t *testing.T) {
	files := map[string]bool{}
	for block, most := range chains {
		t.Run(block, func(t *testing.T) {
			list := chain(t, block)
			assert.LessOrEqual(t, len(list), most)
			entered := map[string]int{}
			for _, c := range follow(t, list) {
				if c.from != c.dir {
					entered[c.dir]++
				}
				if block == "chain of a check" && c.dir == "schema" {
					files[c.file] = true
				}
			}
			for dir, times := range entered {
				if dir != "feedback" && dir != "loop/engine" { // see docs/design.md
					assert.Equal(t, 1, times, "%s is entered once", dir)
				}
			}
		})
	}
	assert.LessOrEqual(t, len(files), 6, "files of package schema")
}

// called is a function of a list, and the package of its caller.
type called struct {
	function
	dir, from string
}

// follow looks up the functions of a list and checks that each is called by the one above it.
func follow(t *testing.T, list []link) (all []called) {
	packages := map[string]map[string]function{}
	var stack []called
	for _, l := range list {
		dir, name, ok := strings.Cut(l.name, ".")
		require.True(t, ok, l.name)
		if packages[dir] == nil {
			packages[dir] = functions(t, dir)
		}
		fn, known := packages[dir][name]
		require.True(t, known, "there is no %s in %s", name, dir)
		require.LessOrEqual(t, l.depth, len(stack), l.name)
		c := called{fn, dir, dir}
		stack = append(stack[:l.depth], c)
		if l.depth > 0 {
			above := stack[l.depth-1]
			assert.True(t, calls(above.FuncDecl, fn.Name.Name), "%s does not call %s", nameOf(above.FuncDecl), l.name)
			c.from = above.dir
		}
		all = append(all, c)
	}
	return all
}
