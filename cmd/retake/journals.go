package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-go/retake/journal"
)

// journals are the journals that a command is given: files, directories, and "-" for standard input.
type journals struct {
	names []string
	// key names the file of the secret key.
	key string
}

const journalArgs = "JOURNAL is a file, a directory of files *.jsonl, or - for standard input"

func (j *journals) take(args []string) error {
	if len(args) == 0 {
		return misused("a journal is missing: %s", journalArgs)
	}
	for _, name := range args {
		more, err := expand(name)
		if err != nil {
			return err
		}
		j.names = append(j.names, more...)
	}
	if n := slices.Index(j.names, "-"); n >= 0 && slices.Contains(j.names[n+1:], "-") {
		return misused("- is given twice: standard input can be read once")
	}
	return nil
}

// expand lists the journals of a directory.
func expand(name string) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, misused("%v: %s", err, journalArgs)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".jsonl") && !e.IsDir() {
			found = append(found, filepath.Join(name, e.Name()))
		}
	}
	if len(found) == 0 {
		return nil, misused("%s: there is no journal in it: %s", name, journalArgs)
	}
	return found, nil
}

// open opens a journal.
func (e *env) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(e.in), nil
	}
	f, err := openNamed("JOURNAL", name, "give a file that can be read, or - for standard input")
	if err != nil {
		return nil, err
	}
	return f, nil
}

// title is the name of a journal in answers.
func title(name string) string {
	if name == "-" {
		return "(standard input)"
	}
	return plain(name)
}

// readKey reads the file of a secret key, without the line feed at its end.
func readKey(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	key, err := readNamed("key", path)
	if err != nil {
		return nil, err
	}
	if key = bytes.TrimRight(key, "\r\n"); len(key) == 0 {
		return nil, misused("-key: %s is empty: give the file of the key that the journals were written with",
			plain(path))
	}
	return key, nil
}

// each calls work for every journal, and use with the result. It ends at the first error of use.
func each[T any](e *env, j *journals, work func(io.Reader, journal.Replaying) (T, error),
	use func(name string, result T, err error) error) error {
	key, err := readKey(j.key)
	if err != nil {
		return err
	}
	seen := &progress{e: e}
	defer seen.done()
	for _, name := range j.names {
		var result T
		in, err := e.open(name)
		if err == nil {
			result, err = work(&reading{in, seen}, journal.Replaying{Key: key})
			err = errors.Join(err, in.Close())
		}
		seen.done()
		if err := use(name, result, err); err != nil {
			return err
		}
	}
	return nil
}

// unreadable is the error for journals that cannot be read; nil if there are none.
func unreadable(bad, of int) error {
	if bad == 0 {
		return nil
	}
	if of == 1 {
		return errors.New("the journal cannot be read")
	}
	return fmt.Errorf("%d of %d journals cannot be read", bad, of)
}
