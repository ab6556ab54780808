package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/retake-go/retake/journal"
)

var compactCommand = command{
	name:    "compact",
	summary: "replaces journals by their snapshots, which lose the history",
	example: "retake compact runs/order-42.jsonl",
	usage:   []string{"compact [-key FILE] [-keep-ids AGE] JOURNAL..."},
	about: `
Replaces each journal by a snapshot of its session. The session continues from it, and what follows still
replays. The history is lost: prompts, replies and decisions. A journal that a process writes to, one without a
run, and a redacted one whose run has not ended are left as they are, with an error.

The ends of requests and actions with an ID stay, so that nobody makes them again. -keep-ids drops those that are
older than AGE, such as 90d, unless calls of theirs are in doubt: then they can be made again.

JOURNAL is a file of a folder of journals (journal.Dir), such a folder, a SQLite database, or a session in one
(FILE#ID).`,
	task: func() task { return &compact{now: time.Now} },
}

type compact struct {
	journals
	keepIDs age
	now     func() time.Time
}

func (c *compact) declare(fs *flag.FlagSet) {
	fs.StringVar(&c.key, "key", "", "the secret key that redacted journals were written with: `FILE`")
	fs.Var(&c.keepIDs, "keep-ids", "drop the ends of requests and actions with an ID that are older than `AGE`")
}

func (c *compact) run(e *env) error {
	key, err := readKey(c.key)
	if err != nil {
		return err
	}
	how := func(store journal.Store, session string) error {
		if c.keepIDs == 0 {
			return journal.Compact(context.Background(), store, session, key)
		}
		keep := journal.Retention{Older: time.Duration(c.keepIDs)}
		return journal.CompactKeeping(context.Background(), store, session, key, keep, c.now())
	}
	var bad error
	for _, p := range c.places {
		before, after, err := e.compact(p, how)
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("%s: %w", p.inErrors(), err))
			continue
		}
		fmt.Fprintf(e.out, "%s  %s\n", title(p), e.paint.faint(fmt.Sprintf("%d bytes, from %d", after, before)))
	}
	return bad
}

// compacting compacts the journal of a session in a store.
type compacting func(store journal.Store, session string) error

// compact compacts one journal, and returns its size before and after.
func (e *env) compact(p place, how compacting) (before, after int64, err error) {
	if p.path == standardInput {
		return 0, 0, misused("standard input cannot be compacted: name a file")
	}
	if before, err = e.size(p); err != nil {
		return 0, 0, err
	}
	if p.session != "" {
		err = e.compactSession(p, how)
	} else {
		err = e.compactFile(p.path, how)
	}
	if err == nil {
		after, err = e.size(p)
	}
	return before, after, err
}

// size is the length of a journal in bytes.
func (e *env) size(p place) (int64, error) {
	in, err := e.openStored(p)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, in)
	return n, errors.Join(err, in.Close())
}

// compactSession compacts the journal of a session in a database.
func (e *env) compactSession(p place, how compacting) error {
	store, err := openDatabase(p.path, false)
	if err != nil {
		return err
	}
	whole, err := e.sealing(store)
	if err == nil {
		err = how(whole, p.session)
	}
	return errors.Join(err, store.Close())
}

// compactFile compacts one file.
func (e *env) compactFile(name string, how compacting) error {
	session, err := e.sessionOf(name)
	if err != nil {
		return err
	}
	if want := journal.FileName(session); want != filepath.Base(name) {
		return fmt.Errorf("it is the journal of session %q, whose file is called %s: give it that name", session, want)
	}
	store, err := e.sealing(journal.Dir(filepath.Dir(name)))
	if err != nil {
		return err
	}
	return how(store, session)
}

// sessionOf returns the session's id by the header of a journal.
func (e *env) sessionOf(name string) (string, error) {
	f, err := e.open(place{path: name})
	if err != nil {
		return "", err
	}
	defer f.Close()
	rec, err := journal.NewReader(f).Next()
	if err == io.EOF {
		return "", errors.New("it is empty; there is nothing to compact")
	}
	if err != nil {
		return "", err
	}
	if rec.Header == nil {
		return "", errors.New("its first record is no header")
	}
	return rec.Header.Session, nil
}
