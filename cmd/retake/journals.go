package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/retake-go/retake/journal"
)

// journals are the journals that a command is given: files, directories, and "-" for standard input.
type journals struct {
	names []string
	// key is the file of the secret key, progress is told what is read.
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
		return misused("- stands twice: standard input is read once")
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

func (j *journals) each() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, name := range j.names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

// open opens a journal.
func (e *env) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(e.in), nil
	}
	return os.Open(name)
}

// title is the name of a journal for people.
func title(name string) string {
	if name == "-" {
		return "(standard input)"
	}
	return plain(name)
}

// readKey reads the file of a secret key. The line feed that editors put at its end is no part of it.
func readKey(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	key, err := readNamed("key", path)
	if err != nil {
		return nil, err
	}
	if key = bytes.TrimRight(key, "\r\n"); len(key) == 0 {
		return nil, misused("-key: %s is empty: give the file of the key that the journals were written with", plain(path))
	}
	return key, nil
}

// replaying says how a journal is read: with progress on a watched terminal.
func (j *journals) replaying(p *byteProgress) (journal.Replaying, error) {
	key, err := readKey(j.key)
	return journal.Replaying{Key: key, Progress: p.of()}, err
}

// byteProgress shows how much of journals was read. It is safe for concurrent use.
type byteProgress struct {
	e     *env
	mu    sync.Mutex
	bytes int64
	shown bool
}

// of is the callback for one journal; nil where nobody watches.
func (p *byteProgress) of() func(bytes, lines int64) {
	if !p.e.watched {
		return nil
	}
	var before int64
	return func(bytes, _ int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.bytes += bytes - before
		before, p.shown = bytes, true
		fmt.Fprintf(p.e.err, "\r%d MiB", p.bytes>>20)
	}
}

// done clears the line.
func (p *byteProgress) done() {
	if p.shown {
		fmt.Fprint(p.e.err, "\r\x1b[K")
	}
}

// unreadable says how many journals could not be read.
func unreadable(bad, of int) error {
	if bad == 0 {
		return nil
	}
	if of == 1 {
		return errors.New("the journal cannot be read")
	}
	return fmt.Errorf("%d of %d journals cannot be read", bad, of)
}
