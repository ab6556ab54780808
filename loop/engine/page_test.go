package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// constants returns the constants of a type in a file of the core, by name.
func constants(t *testing.T, file, of string) map[string]string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	all := map[string]string{}
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == of {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			all[spec.Names[0].Name] = text
		}
		return true
	})
	require.Greater(t, len(all), 10)
	return all
}

// The page says of every effect what an engine answers, and names every event.
func TestThePageHasEveryEffectAndEvent(t *testing.T) {
	page, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for name, kind := range constants(t, "../machine/effect.go", "EffectKind") {
		assert.Regexp(t, regexp.MustCompile(`(?m)^//\t`+kind+`  +\S`), string(page), "effect %s", name)
	}
	for name := range constants(t, "../machine/event.go", "EventKind") {
		assert.Regexp(t, regexp.MustCompile(`(?m)^//\t.*\b`+name+`\b`), string(page), "event %s", name)
	}
}
