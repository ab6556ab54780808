package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-go/retake/journal"
)

var compactCommand = command{
	name:    "compact",
	summary: "replaces journals by their snapshots, which lose the history",
	example: "retake compact runs/order-42.jsonl",
	usage:   []string{"compact [-key FILE] JOURNAL..."},
	about: `
Replaces each journal by a snapshot of its session. The session continues from it, and what follows still
replays. The history is lost: prompts, replies and decisions. A journal that a process writes to, one without a
run, and a redacted one whose run has not ended are left as they are, with an error.

JOURNAL is a file of a folder of journals (journal.Dir), or such a folder.`,
	task: func() task { return &compact{} },
}

type compact struct{ journals }

func (c *compact) declare(fs *flag.FlagSet) {
	fs.StringVar(&c.key, "key", "", "the secret key that redacted journals were written with: `FILE`")
}

func (c *compact) run(e *env) error {
	key, err := readKey(c.key)
	if err != nil {
		return err
	}
	var bad error
	for _, name := range c.names {
		before, after, err := compactFile(name, key)
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("%s: %w", inputName(name), err))
			continue
		}
		fmt.Fprintf(e.out, "%s  %s\n", title(name), e.paint.faint(fmt.Sprintf("%d bytes, from %d", after, before)))
	}
	return bad
}

// compactFile compacts one file, and returns its size before and after.
func compactFile(name string, key []byte) (before, after int64, err error) {
	if name == "-" {
		return 0, 0, misused("standard input cannot be compacted: name a file")
	}
	session, err := sessionOf(name)
	if err != nil {
		return 0, 0, err
	}
	if want := journal.FileName(session); want != filepath.Base(name) {
		return 0, 0, fmt.Errorf("it is the journal of session %q, whose file is called %s: give it that name", session, want)
	}
	old, err := os.Stat(name)
	if err != nil {
		return 0, 0, err
	}
	if err := journal.Compact(context.Background(), journal.Dir(filepath.Dir(name)), session, key); err != nil {
		return 0, 0, err
	}
	now, err := os.Stat(name)
	if err != nil {
		return 0, 0, err
	}
	return old.Size(), now.Size(), nil
}

// sessionOf returns the session's id by the header of a journal.
func sessionOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	rec, err := journal.NewReader(f).Next()
	if err != nil {
		return "", err
	}
	if rec.Header == nil {
		return "", errors.New("its first record is no header")
	}
	return rec.Header.Session, nil
}
