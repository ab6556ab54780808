// Api writes down what the packages of this repo export, one line a name, so that a change of it is seen.
//
//	go run ./api -repo ..           # compares with the files in api/, and fails where they differ
//	go run ./api -repo .. -write    # writes the files
//
// It lists the packages of the core and the adapters that others can import. The lines are sorted, and look
// like those in Go's own folder api. The README of the folder counts the names of each package.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	repo := flag.String("repo", ".", "the `folder` of the repo")
	write := flag.Bool("write", false, "write the files")
	flag.Parse()
	if err := run(*repo, *write); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func run(repo string, write bool) error {
	packages, err := load(repo)
	if err != nil {
		return err
	}
	now, dir := map[string]string{"README.md": table(packages)}, filepath.Join(repo, "api")
	for _, p := range packages {
		now[p.file()] = strings.Join(p.lines, "\n") + "\n"
	}
	if write {
		return writeFiles(dir, now)
	}
	before, err := readFiles(dir)
	if err != nil {
		return err
	}
	if changes := difference(before, now); len(changes) > 0 {
		return fmt.Errorf("the exported names have changed; if that is meant, run make api and commit the result:\n%s",
			strings.Join(changes, "\n"))
	}
	return nil
}

// table counts the names of each package.
func table(packages []pkg) string {
	var b bytes.Buffer
	b.WriteString("# What retake exports\n\nEach package has a file, and each exported name a line. ")
	b.WriteString("`make api` writes the files, and `make lint` fails when they are out of date.\n\n")
	b.WriteString("| package | names | with fields and methods |\n|---|--:|--:|\n")
	names, all := 0, 0
	for _, p := range packages {
		fmt.Fprintf(&b, "| [%s](%s) | %d | %d |\n", p.dir, p.file(), p.names, len(p.lines))
		names, all = names+p.names, all+len(p.lines)
	}
	fmt.Fprintf(&b, "| all | %d | %d |\n", names, all)
	return b.String()
}

// writeFiles makes a folder hold these files and no others.
func writeFiles(dir string, files map[string]string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readFiles reads the files of a folder; none where there is no such folder.
func readFiles(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		doc, err := os.ReadFile(path)
		files[filepath.ToSlash(name)] = string(doc)
		return err
	})
	if os.IsNotExist(err) {
		return files, nil
	}
	return files, err
}

// difference lists the lines that went (-) and came (+), by their files.
func difference(before, now map[string]string) (changes []string) {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range now {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := strings.Split(before[name], "\n"), strings.Split(now[name], "\n")
		for _, line := range was {
			if !slices.Contains(is, line) {
				changes = append(changes, name+": - "+line)
			}
		}
		for _, line := range is {
			if !slices.Contains(was, line) {
				changes = append(changes, name+": + "+line)
			}
		}
	}
	return changes
}
