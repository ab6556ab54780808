package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// texts are what a command reads: files, all files of folders, or standard input if nothing is named.
type texts struct{ names []string }

const textArgs = "give files, folders, or - for standard input"

func (t *texts) take(args []string) error {
	for _, name := range args {
		found, err := filesOf(name)
		if err != nil {
			return err
		}
		t.names = append(t.names, found...)
	}
	if len(args) == 0 {
		t.names = []string{"-"}
	}
	if n := slices.Index(t.names, "-"); n >= 0 && slices.Contains(t.names[n+1:], "-") {
		return misused("- is given twice: standard input can be read once")
	}
	return nil
}

// filesOf lists the files of a folder, those of its folders too, in the order of their names.
func filesOf(name string) (files []string, err error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, misused("%v: %s", err, textArgs)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		return nil, misused("%s: there is no file in it: %s", name, textArgs)
	}
	return files, err
}

// each calls use with every text. A text that cannot be read is an error, and the others are used all the
// same. what names the content of a text. The error is errNotOK if that is all that went wrong.
func (t *texts) each(e *env, what string, use func(name string, text []byte) error) error {
	var bad, refused error
	for _, name := range t.names {
		text, err := e.text(name, what)
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		switch err := use(name, text); {
		case err == nil:
		case errors.Is(err, errNotOK):
			refused = err
		default:
			bad = errors.Join(bad, fmt.Errorf("%s: %w", inputName(name), err))
		}
	}
	if bad != nil {
		return bad
	}
	return refused
}

// text reads a file, or standard input.
func (e *env) text(name, what string) ([]byte, error) {
	if name == "-" {
		return e.standardInput(what)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := readAll(name, f)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// inputName names an input in errors.
func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// several reports whether the answers have to say which text they are about.
func (t *texts) several() bool { return len(t.names) > 1 }

// prefix names a text in notes, if there are several.
func (t *texts) prefix(name string) string {
	if !t.several() {
		return ""
	}
	return inputName(name) + ": "
}

// named is one line of JSON about one of several texts.
type named struct {
	File   string `json:"file"`
	Result any    `json:"result"`
}

// answer writes the answer about a text: as JSON, or by write below its name.
func (t *texts) answer(e *env, asJSON bool, name string, v any, write func()) error {
	switch {
	case asJSON && t.several():
		return e.json(named{name, v})
	case asJSON:
		return e.json(v)
	case t.several():
		fmt.Fprintf(e.out, "%s\n", e.paint.bold(title(name)))
		write()
		fmt.Fprintln(e.out)
	default:
		write()
	}
	return nil
}
