package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// listed is a package as the go command lists it.
type listed struct {
	ImportPath, Name, Export string
	DepOnly                  bool
	Error                    *struct{ Err string }
}

// load reads the packages of the core and of the adapters, in order of their folders.
func load(repo string) (packages []pkg, err error) {
	mods, err := filepath.Glob(filepath.Join(repo, "adapter", "*", "go.mod"))
	if err != nil {
		return nil, err
	}
	for _, mod := range append(mods, filepath.Join(repo, "go.mod")) {
		found, err := loadModule(filepath.Dir(mod))
		if err != nil {
			return nil, err
		}
		packages = append(packages, found...)
	}
	slices.SortFunc(packages, func(a, b pkg) int { return cmp.Compare(a.dir, b.dir) })
	return packages, nil
}

// loadModule reads the packages of a module that others can import.
func loadModule(dir string) (packages []pkg, err error) {
	const fields = "-json=ImportPath,Name,Export,DepOnly,Error"
	list := exec.Command("go", "list", "-e", "-export", "-deps", fields, "./...")
	list.Dir = dir
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: go list: %w: %s", dir, err, complaint.String())
	}
	exports := map[string]string{}
	var public []string
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Error != nil {
			return nil, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && p.Name != "main" && !strings.Contains(p.ImportPath+"/", "/internal/") {
			public = append(public, p.ImportPath)
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	read := importer.ForCompiler(token.NewFileSet(), "gc", open)
	for _, path := range public {
		p, err := read.Import(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		packages = append(packages, describe(p))
	}
	return packages, nil
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
