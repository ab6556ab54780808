package gate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/gate"
)

// core has the public packages of the core by their names, and what those of the adapters export as a text.
func core(t *testing.T) (found map[string]*types.Package, adapters string) {
	imports, err := exports()
	require.NoError(t, err)
	found = map[string]*types.Package{}
	err = filepath.WalkDir("../../api", func(file string, _ fs.DirEntry, err error) error {
		dir, isText := strings.CutSuffix(strings.TrimPrefix(filepath.ToSlash(file), "../../api/"), ".txt")
		if err != nil || !isText {
			return err
		}
		if strings.HasPrefix(dir, "adapter/") {
			text, err := os.ReadFile(file)
			adapters += string(text)
			return err
		}
		p, err := imports.Import(gate.Module + "/" + dir)
		found[path.Base(dir)] = p
		return err
	})
	require.NoError(t, err)
	require.Contains(t, found, "loop")
	return found, adapters
}

// has reports whether a package has an exported name and, unless they are empty, that has the members.
func has(p *types.Package, name string, members ...string) bool {
	of := p.Scope().Lookup(name)
	if of == nil {
		return false
	}
	t := of.Type()
	for _, member := range members {
		if member == "" {
			continue
		}
		found, _, _ := types.LookupFieldOrMethod(t, true, p, member)
		if found == nil {
			return false
		}
		t = found.Type()
	}
	return true
}

// typesCalled returns the packages that have a type with the name.
func typesCalled(packages map[string]*types.Package, name string) (found []*types.Package) {
	for _, p := range packages {
		if _, ok := p.Scope().Lookup(name).(*types.TypeName); ok {
			found = append(found, p)
		}
	}
	return found
}

var (
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	quoted = regexp.MustCompile("`[^`\n]+`")
	// A name is pkg.Name, with a member or without, or Type.Member.
	inText  = regexp.MustCompile(`(?:^|[^\w./-])([a-z]\w*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	ofAType = regexp.MustCompile(`(?:^|[^\w./-])([A-Z]\w*)\.([A-Z]\w*)`)
	// A link is [Name], [pkg.Name] or [Name.Member], and may be followed by a field: [Config].Seed.
	inComment = regexp.MustCompile(`\[\*?(?:(?:[a-z][\w.-]*/)*([a-z]\w*)\.)?([A-Z]\w*)(?:\.([A-Z]\w*))?\](?:\.([A-Z]\w*))?`)
	// Tokens of models and type parameters look like links: [TOOL_CALLS].
	capitals = regexp.MustCompile(`^[A-Z_]+$`)
)

// What pages call by the name of a package is there.
func TestTheNamesOnPagesExist(t *testing.T) {
	found := 0
	packages, adapters := core(t)
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/guides/*.md"} {
		pages, err := filepath.Glob("../../" + pattern)
		require.NoError(t, err)
		for _, page := range pages {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			for _, code := range quoted.FindAllString(fenced.ReplaceAllString(string(text), ""), -1) {
				for _, n := range inText.FindAllStringSubmatch(code, -1) {
					if p := packages[n[1]]; p != nil {
						found++
						assert.True(t, has(p, n[2], n[3]), "%s: %s: package %s has no %s", page, code, n[1], n[2])
					}
				}
				for _, n := range ofAType.FindAllStringSubmatch(code, -1) {
					if of := typesCalled(packages, n[1]); len(of) > 0 {
						found++
						has := func(p *types.Package) bool { return has(p, n[1], n[2]) }
						inAdapter := regexp.MustCompile(`(?m)^(field|method) (` + n[1] + `\.|\(\*?` + n[1] + `\) )` + n[2] + `\b`)
						assert.True(t, slices.ContainsFunc(of, has) || inAdapter.MatchString(adapters), "%s: %s: no %s has a %s", page, code, n[1], n[2])
					}
				}
			}
		}
	}
	assert.Greater(t, found, 400, "the names are found")
}

// What comments link to is there: of the package itself, or of another one of the core that is named.
func TestTheLinksInCommentsLeadSomewhere(t *testing.T) {
	found := 0
	packages, _ := core(t)
	for _, p := range packages {
		dir := filepath.Join("../..", strings.TrimPrefix(p.Path(), gate.Module+"/"))
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			require.NoError(t, err)
			for _, group := range docs(parsed) {
				for _, n := range inComment.FindAllStringSubmatch(group.Text(), -1) {
					of := p
					if n[1] != "" {
						of = packages[n[1]]
					}
					if of == nil || capitals.MatchString(n[2]) {
						continue // of another module, or no link
					}
					found++
					assert.True(t, has(of, n[2], n[3], n[4]), "%s: %s leads nowhere", file, n[0])
				}
			}
		}
	}
	assert.Greater(t, found, 1000, "the links are found")
}

// docs returns the comments that documentation shows: of a package, and of what it declares outside of
// functions.
func docs(f *ast.File) (found []*ast.CommentGroup) {
	if f.Doc != nil {
		found = append(found, f.Doc)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && (!fn.Name.IsExported() || fn.Doc == nil) {
			continue
		} else if ok {
			found = append(found, fn.Doc)
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if group, ok := n.(*ast.CommentGroup); ok {
				found = append(found, group)
			}
			return true
		})
	}
	return found
}
