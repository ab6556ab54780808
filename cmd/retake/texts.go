package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// texts are what a command reads: files, all files of folders, journals, or standard input if nothing is
// named.
type texts struct {
	jsonAnswer
	unsealing
	during
	places []place
	// journals counts those that were journals, which may have any number of texts.
	journals int
	// without are the journals that have none.
	without []place
}

const textArgs = "give files, folders, journals, SQLite databases or a session of one (DIR#ID, FILE#ID), " +
	"or - for standard input"

const textsOfJournals = `A file may also be a journal, and a SQLite database is one journal for each of its
sessions (FILE#ID is one of them). -since and -until leave out what happened at another time.`

func (t *texts) take(args []string) (err error) {
	if len(args) == 0 {
		args = []string{standardInput}
	}
	t.places, err = allPlaces(args, textArgs, filesIn)
	return err
}

// filesIn lists the files of a folder, those of its folders too, in the order of their names. Hidden folders
// are left out: a folder of journals has its inboxes in one.
func filesIn(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != folder && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() && mayBeRead(path) && !isOfDatabase(path) {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		return nil, misused("%s: there is no file in it: %s", folder, textArgs)
	}
	return files, err
}

// reader is what a command does with its inputs.
type reader struct {
	// inJournals is the noun for what is taken from journals.
	inJournals string
	// text uses a text.
	text func(name string, text []byte) error
	// event uses an event of a journal, and reports whether it had what the command is about.
	event func(name string, ev *machine.Event) (used bool, err error)
}

// each reads every input. One that cannot be read is an error, and the others are used all the same. The
// error is errNotOK if that is all that went wrong.
func (t *texts) each(e *env, r reader) error {
	var bad, refused error
	for _, p := range t.places {
		err := t.one(e, p, r)
		if errors.Is(err, errNotOK) {
			refused, err = errNotOK, nil
		}
		bad = errors.Join(bad, err)
	}
	switch n := len(t.without); n {
	case 0:
	case 1:
		e.note("%s: there is no %s in this journal", t.without[0].inErrors(), r.inJournals)
	default:
		e.note("there is no %s in %d of %d journals", r.inJournals, n, t.journals)
	}
	if bad != nil {
		return bad
	}
	return refused
}

// one reads one input, as the text or the journal that it is.
func (t *texts) one(e *env, p place, r reader) (err error) {
	f, err := e.open(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in, found := findJournal(f)
	if found || p.session != "" {
		return t.journal(e, p, in, r)
	}
	if t.bounded() {
		return misused("-since and -until are for journals: %s is none, and says nothing of time", p.inErrors())
	}
	text, err := readText(p, in)
	if err != nil {
		return err
	}
	if err = r.text(p.String(), text); err == nil || errors.Is(err, errNotOK) {
		return err
	}
	return fmt.Errorf("%s: %w", p.inErrors(), err)
}

// findJournal reports whether an input is a journal, by its first record, and returns all of it. One that is
// sealed, or damaged in its first line, is a journal, too.
func findJournal(in io.Reader) (all io.Reader, found bool) {
	var seen bytes.Buffer
	rec, err := journal.NewReader(io.TeeReader(in, &seen)).Next()
	damage, damaged := errors.AsType[*journal.CorruptError](err)
	found = rec.Header != nil || damaged && damage.Found != "" || errors.Is(err, journal.ErrSealed)
	return io.MultiReader(&seen, in), found
}

// journal uses the events of a journal. The error is errNotOK if that is all that went wrong.
func (t *texts) journal(e *env, p place, in io.Reader, r reader) (refused error) {
	t.journals++
	lines, found := journal.NewReader(in), false
	for {
		rec, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && rec.Event != nil && t.has(rec.Event.At) {
			var used bool
			used, err = r.event(p.at(lines.Line()), rec.Event)
			found = found || used
		}
		switch {
		case errors.Is(err, errNotOK):
			refused = errNotOK
		case err != nil:
			return fmt.Errorf("%s: %w", p.inErrors(), err)
		}
	}
	if !found {
		t.without = append(t.without, p)
	}
	return refused
}

// readText reads a text whole.
func readText(p place, in io.Reader) ([]byte, error) {
	text, err := readAll(p.inErrors(), in)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// several reports whether the answers have to say which text they are about.
func (t *texts) several() bool { return len(t.places) > 1 || t.journals > 0 }

// prefix names a text in notes, if there are several.
func (t *texts) prefix(name string) string {
	if !t.several() {
		return ""
	}
	return place{path: name}.inErrors() + ": "
}

// named is one line of JSON about one of several texts.
type named struct {
	File   string `json:"file"`
	Result any    `json:"result"`
}

// answer writes the answer about a text: as JSON, or by write below its name.
func (t *texts) answer(e *env, name string, v any, write func()) error {
	switch {
	case t.JSON && t.several():
		return e.json(named{name, v})
	case t.JSON:
		return e.json(v)
	case t.several():
		e.printf("%s\n", e.bold(title(place{path: name})))
		write()
		e.println()
	default:
		write()
	}
	return nil
}
