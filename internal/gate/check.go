package gate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the core module.
const Module = "github.com/retake-go/retake"

// Check checks the Go source below root, except for tests and nested modules. It returns a sorted line for
// each violation of a rule. imports has the types of imported packages; see [Exports].
func Check(root string, imports types.Importer) ([]string, error) {
	dirs, err := packages(root)
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, dir := range dirs {
		p, err := load(root, dir)
		if err != nil {
			return nil, err
		}
		faults = append(faults, p.layering()...)
		if slices.Contains(Pure, dir) {
			faults = append(faults, p.purity(imports)...)
		}
	}
	slices.Sort(faults)
	return faults, nil
}

// packages returns the directories below root with Go source of the core module.
func packages(root string) ([]string, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && isSkipped(path):
			return fs.SkipDir
		case !d.IsDir() && isSource(d.Name()):
			rel, err := filepath.Rel(root, filepath.Dir(path))
			found[filepath.ToSlash(rel)] = true
			return err
		}
		return nil
	})
	return slices.Sorted(maps.Keys(found)), err
}

// isSkipped reports whether a directory has no source of the core module.
func isSkipped(dir string) bool {
	mod, _ := filepath.Glob(filepath.Join(dir, "go.mod"))
	name := filepath.Base(dir)
	return strings.HasPrefix(name, ".") || name == "testdata" || len(mod) > 0
}

func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// pkg is one parsed package.
type pkg struct {
	dir   string
	fset  *token.FileSet
	files []*ast.File
}

func load(root, dir string) (*pkg, error) {
	p := &pkg{dir: dir, fset: token.NewFileSet()}
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !isSource(name) {
			continue
		}
		f, err := parser.ParseFile(p.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	return p, nil
}

// at returns a fault with its place.
func (p *pkg) at(n ast.Node, format string, args ...any) string {
	pos := p.fset.Position(n.Pos())
	return fmt.Sprintf("%s/%s:%d: %s", p.dir, filepath.Base(pos.Filename), pos.Line,
		fmt.Sprintf(format, args...))
}

func layerOf(dir string) int {
	return slices.IndexFunc(Layers, func(l []string) bool { return slices.Contains(l, dir) })
}

// layering finds imports of packages that are not in a lower layer.
func (p *pkg) layering() []string {
	if slices.Contains(Outside, p.dir) {
		return nil
	}
	own := layerOf(p.dir)
	if own < 0 {
		return []string{p.dir + ": in no layer: give it its place in rules.go"}
	}
	var faults []string
	for _, imp := range p.imports() {
		path, _ := strconv.Unquote(imp.Path.Value)
		dir, ours := strings.CutPrefix(path, Module+"/")
		if ours && layerOf(dir) >= own {
			faults = append(faults, p.at(imp, "imports %s, which is not in a lower layer", dir))
		}
	}
	return faults
}

func (p *pkg) imports() []*ast.ImportSpec {
	var all []*ast.ImportSpec
	for _, f := range p.files {
		all = append(all, f.Imports...)
	}
	return all
}

// purity finds code whose result may differ between two runs.
func (p *pkg) purity(imports types.Importer) []string {
	var faults []string
	for _, imp := range p.imports() {
		path, _ := strconv.Unquote(imp.Path.Value)
		for _, ban := range slices.Sorted(maps.Keys(BannedImports)) {
			if path == ban || strings.HasPrefix(path, ban+"/") {
				faults = append(faults, p.at(imp, "imports %s: %s", path, BannedImports[ban]))
			}
		}
		if imp.Name != nil && imp.Name.Name == "." {
			faults = append(faults, p.at(imp, "imports %s by a dot: uses of it cannot be seen", path))
		}
	}
	info := p.types(imports)
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if why := p.impure(n, info); why != "" {
				faults = append(faults, p.at(n, "%s", why))
			}
			return !sortedKeys(n)
		})
	}
	return faults
}

// types resolves the types of expressions, to find maps.
func (p *pkg) types(imports types.Importer) *types.Info {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: imports, Error: func(error) {}}
	_, _ = conf.Check(Module+"/"+p.dir, p.fset, p.files, info)
	return info
}

// impure returns what is wrong with one node, or "".
func (p *pkg) impure(n ast.Node, info *types.Info) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine: order would depend on the scheduler"
	case *ast.SelectStmt:
		return "selects: order would depend on the scheduler"
	case *ast.ChanType, *ast.SendStmt:
		return "uses a channel: order would depend on the scheduler"
	case *ast.RangeStmt:
		if t := info.TypeOf(n.X); t != nil && isMap(t) {
			return "ranges over a map: " + order
		}
	case *ast.SelectorExpr:
		return bannedUse(n, info)
	}
	return ""
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// bannedUse finds uses of banned functions, also as values and under another package name.
func bannedUse(n *ast.SelectorExpr, info *types.Info) string {
	id, ok := n.X.(*ast.Ident)
	if !ok {
		return ""
	}
	name, ok := info.Uses[id].(*types.PkgName)
	if !ok {
		return ""
	}
	use := name.Imported().Path() + "." + n.Sel.Name
	if why, banned := BannedCalls[use]; banned {
		return "uses " + use + ": " + why
	}
	return ""
}

// sortedKeys reports whether n is slices.Sorted(maps.Keys(m)), the only permitted use of maps.Keys.
func sortedKeys(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || exprText(call.Fun) != "slices.Sorted" {
		return false
	}
	inner, ok := call.Args[0].(*ast.CallExpr)
	return ok && exprText(inner.Fun) == "maps.Keys"
}

func exprText(e ast.Expr) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return id.Name + "." + sel.Sel.Name
}
