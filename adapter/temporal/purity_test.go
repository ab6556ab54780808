package temporal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// workflowFiles are the files with code that runs within a workflow and is replayed.
var workflowFiles = []string{"workflow.go", "calls.go", "think.go", "talk.go", "again.go", "attributes.go", "trail.go"}

// notInWorkflows are what the linter of workflows misses, and what would differ in a replay.
var notInWorkflows = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"os":   {"Getenv", "LookupEnv", "Environ", "Hostname", "Getpid", "ReadFile"},
	"maps": {"Keys", "Values", "All"},
}

// The linter of workflows misses calls through interfaces and values, other random generators, and the
// environment.
func TestCodeOfWorkflowsIsPure(t *testing.T) {
	for _, name := range workflowFiles {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		require.NoError(t, err)
		for _, imp := range f.Imports {
			assert.NotContains(t, []string{`"math/rand"`, `"math/rand/v2"`, `"crypto/rand"`, `"sync"`, `"net/http"`}, imp.Path.Value, name)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			assert.Empty(t, impure(n), "%s", fset.Position(pos(n)))
			return true
		})
	}
}

func pos(n ast.Node) token.Pos {
	if n == nil {
		return token.NoPos
	}
	return n.Pos()
}

func impure(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine: workflow.Go does"
	case *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
		return "uses a channel of Go: workflow.Channel is one"
	case *ast.SelectorExpr:
		pkg, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		for _, name := range notInWorkflows[pkg.Name] {
			if n.Sel.Name == name {
				return "uses " + pkg.Name + "." + name
			}
		}
	}
	return ""
}
