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

// maxChain is how many functions a reader may have to know to follow a bad call from Run to the next prompt.
const maxChain = 45

// link is one line of the list: a function by package and name, and how deep it stands.
type link struct {
	depth int
	name  string
}

// chain is the list of functions in docs/design.md.
func chain(t *testing.T) (all []link) {
	doc, err := os.ReadFile("../../docs/design.md")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(doc), "```chain\n")
	require.True(t, found, "docs/design.md lists the functions in a block called chain")
	list, _, _ = strings.Cut(list, "```")
	for line := range strings.Lines(list) {
		name := strings.TrimLeft(line, " ")
		all = append(all, link{(len(line) - len(name)) / 2, strings.TrimSpace(name)})
	}
	return all
}

// functions are those of a package's files by their names: "Run", "process.call".
func functions(t *testing.T, dir string) map[string]*ast.FuncDecl {
	files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	require.NoError(t, err)
	all := map[string]*ast.FuncDecl{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				all[nameOf(fn)] = fn
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

// The way of a bad call through the code is short, and stands in the design as it is: each function is there, and calls the next.
func TestTheWayOfABadCallIsAsTheDesignSays(t *testing.T) {
	list := chain(t)
	assert.LessOrEqual(t, len(list), maxChain)
	packages, entered := map[string]map[string]*ast.FuncDecl{}, map[string]int{}
	type above struct {
		dir string
		fn  *ast.FuncDecl
	}
	var stack []above
	for _, l := range list {
		dir, name, ok := strings.Cut(l.name, ".")
		require.True(t, ok, l.name)
		if packages[dir] == nil {
			packages[dir] = functions(t, dir)
		}
		fn := packages[dir][name]
		require.NotNil(t, fn, "there is no %s in %s", name, dir)
		require.LessOrEqual(t, l.depth, len(stack), l.name)
		stack = append(stack[:l.depth], above{dir, fn})
		if l.depth == 0 {
			continue
		}
		from := stack[l.depth-1]
		assert.True(t, calls(from.fn, fn.Name.Name), "%s does not call %s", nameOf(from.fn), l.name)
		if from.dir != dir {
			entered[dir]++
		}
	}
	for dir, times := range entered {
		if dir != "feedback" { // the record is made first, the words last
			assert.Equal(t, 1, times, "%s is entered once", dir)
		}
	}
}
