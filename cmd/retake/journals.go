package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// journals are the journals that a command is given: files, directories, databases, and "-" for standard
// input.
type journals struct {
	unsealing
	places []place
}

// keyed is a part of tasks that need the secret key of redacted journals, whose file it names.
type keyed struct {
	Key string `flag:"key FILE" help:"the secret key that redacted journals were written with: FILE"`
}

const journalArgs = "JOURNAL is a file, a directory of files *.jsonl, a SQLite database, " +
	"a session in either (DIR#ID, FILE#ID), or - for standard input"

func (j *journals) take(args []string) (err error) {
	if len(args) == 0 {
		return misused("a journal is missing: %s", journalArgs)
	}
	j.places, err = allPlaces(args, journalArgs, journalsIn)
	return err
}

// outermost leaves out the sessions of agents, because what they used is in the runs around them, too. If
// there are no others, they stay.
func (e *env) outermost(all []place) []place {
	isAgent := func(p place) bool { return !p.once() && e.isAgent(p) }
	outer := slices.DeleteFunc(slices.Clone(all), isAgent)
	agents := len(all) - len(outer)
	if agents == 0 || len(outer) == 0 {
		return all
	}
	e.note("%s of agents left out: what they used counts in the runs around them",
		several.Of(agents, "session"))
	return outer
}

// isAgent reports whether a journal is that of an agent in another run. What cannot be read is told later.
func (e *env) isAgent(p place) bool {
	h, err := e.headerOf(p)
	if err != nil {
		return false
	}
	_, is := machine.Outer(h.Session, h.Config.Seed)
	return is
}

// headerOf returns the header that a journal begins with.
func (e *env) headerOf(p place) (*journal.Header, error) {
	in, err := e.open(p)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rec, err := journal.NewReader(in).Next()
	switch {
	case err == io.EOF:
		return nil, errors.New("it is empty")
	case err == nil && rec.Header == nil:
		return nil, errors.New("its first record is no header")
	}
	return rec.Header, err
}

// readKey reads the file of a secret key, without the line feed at its end.
func readKey(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	key, err := readPlaced("-key", path)
	if err != nil {
		return nil, err
	}
	if key = bytes.TrimRight(key, "\r\n"); len(key) == 0 {
		return nil, misused("-key: %s is empty: give the file of the key that the journals were written with",
			plain(path))
	}
	return key, nil
}

// each calls work for every journal, with the secret key in a file, and use with the result. It ends at the
// first error of use.
func each[T any](e *env, places []place, keyFile string, work func(in io.Reader, key []byte) (T, error),
	use func(p place, result T, err error) error) error {
	key, err := readKey(keyFile)
	if err != nil {
		return err
	}
	for _, p := range places {
		var result T
		in, err := e.open(p)
		if err == nil {
			result, err = work(in, key)
			err = errors.Join(err, in.Close())
		}
		if err := use(p, result, err); err != nil {
			return err
		}
	}
	return nil
}

// unreadable returns the error for the journals that cannot be read; nil if there are none.
func unreadable(bad []place, of int) error {
	switch {
	case len(bad) == 0:
		return nil
	case of == 1:
		return fmt.Errorf("%s: the journal cannot be read", bad[0].inErrors())
	}
	return fmt.Errorf("%d of %d journals cannot be read, the first is %s", len(bad), of, bad[0].inErrors())
}
