package main

import (
	"cmp"
	"fmt"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// core is the path of the core module.
const core = "github.com/retake-go/retake"

// pkg is a package as others see it.
type pkg struct {
	// dir is its folder in the repo.
	dir string
	// lines are its exported names with their fields and methods, one a line, sorted. names counts the names
	// without fields and methods.
	lines []string
	names int
}

func (p pkg) file() string { return p.dir + ".txt" }

// load reads the packages of the core and of the adapters, in order of their folders.
func load(repo string) (all []pkg, err error) {
	mods, err := filepath.Glob(filepath.Join(repo, "adapter", "*", "go.mod"))
	if err != nil {
		return nil, err
	}
	for _, mod := range append(mods, filepath.Join(repo, "go.mod")) {
		found, err := loadModule(filepath.Dir(mod))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b pkg) int { return cmp.Compare(a.dir, b.dir) })
	return all, nil
}

// loadModule reads the packages of a module that others can import.
func loadModule(dir string) (all []pkg, err error) {
	found, err := packages.Load(&packages.Config{Mode: packages.LoadTypes, Dir: dir}, "./...")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for _, p := range found {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		if p.Name != "main" && !strings.Contains(p.PkgPath+"/", "/internal/") {
			all = append(all, describe(p.Types))
		}
	}
	return all, nil
}

// describe lists what a package exports.
func describe(p *types.Package) pkg {
	d := pkg{dir: strings.TrimPrefix(p.Path(), core+"/")}
	short := func(other *types.Package) string {
		if other == p {
			return ""
		}
		return other.Name()
	}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		d.names++
		for _, line := range object(o, short) {
			d.lines = append(d.lines, asWritten(line))
		}
	}
	slices.Sort(d.lines)
	return d
}

// madeNames match the names that the compiler gives to results of a function that ranges over an iterator.
var madeNames = [...]*regexp.Regexp{regexp.MustCompile(`\(#rv1 ([^,]*)\)$`), regexp.MustCompile(`#rv\d+ (.)`)}

// asWritten is a line without the names that the compiler has made.
func asWritten(line string) string {
	for _, made := range madeNames {
		line = made.ReplaceAllString(line, "$1")
	}
	return line
}

// object is the line of a name, and those of its fields and methods.
func object(o types.Object, short types.Qualifier) []string {
	t, isType := o.(*types.TypeName)
	switch {
	case isType && t.IsAlias():
		return []string{types.ObjectString(o, short)}
	case isType:
		return typeLines(t, short)
	}
	line := types.ObjectString(o, short)
	if c, isConst := o.(*types.Const); isConst {
		line += " = " + c.Val().ExactString()
	}
	return []string{line}
}

// typeLines are the line of a type, and one for each of its exported fields and methods, promoted ones too.
func typeLines(t *types.TypeName, short types.Qualifier) (lines []string) {
	name := types.TypeString(t.Type(), short)
	switch u := t.Type().Underlying().(type) {
	case *types.Struct:
		lines = append(lines, "type "+name+" struct")
		for f := range u.Fields() {
			if f.Exported() {
				typed := types.TypeString(f.Type(), short)
				lines = append(lines, fmt.Sprintf("field %s.%s %s", t.Name(), f.Name(), typed))
			}
		}
	case *types.Interface:
		lines = append(lines, "type "+name+" interface")
		for m := range u.Methods() {
			lines = append(lines, method(t.Name(), m, short)...)
		}
		return lines
	default:
		lines = append(lines, "type "+name+" "+types.TypeString(u, short))
	}
	values := types.NewMethodSet(t.Type())
	for m := range types.NewMethodSet(types.NewPointer(t.Type())).Methods() {
		receiver := t.Name()
		if values.Lookup(m.Obj().Pkg(), m.Obj().Name()) == nil {
			receiver = "*" + receiver
		}
		lines = append(lines, method(receiver, m.Obj(), short)...)
	}
	return lines
}

// method is the line of a method; none where it is not exported.
func method(receiver string, m types.Object, short types.Qualifier) []string {
	if !m.Exported() {
		return nil
	}
	signature := strings.TrimPrefix(types.TypeString(m.Type(), short), "func")
	return []string{fmt.Sprintf("method (%s) %s%s", receiver, m.Name(), signature)}
}
