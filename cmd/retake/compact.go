package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
)

var compactCommand = command{
	name:    "compact",
	summary: "replaces journals by their snapshots, which lose the history",
	example: "retake compact runs/order-42.jsonl",
	usage:   []string{"compact [-key FILE] [-keep-ids AGE] JOURNAL..."},
	about: `
Replaces each journal by a snapshot of its session. The session continues from it, and what follows still
replays. The history is lost: prompts, replies and decisions. A journal that a process writes to, one
without a run, and a redacted one whose run has not ended are left as they are, with an error.

The ends of requests and actions with an ID stay, so that nobody makes them again. -keep-ids drops those
that are older than AGE, such as 90d, unless calls of theirs are in doubt: then they can be made again.

JOURNAL is a file of a folder of journals (journal.Dir), such a folder, a SQLite database, or a session in
either (DIR#ID, FILE#ID).`,
	task: newTask[compact],
}

type compact struct {
	journals
	keyed
	KeepIDs age `flag:"keep-ids AGE" help:"drop the ends of requests and actions with an ID that are older than AGE"`
}

func (c *compact) run(e *env) error {
	key, err := readKey(c.Key)
	if err != nil {
		return err
	}
	var bad error
	for _, p := range c.places {
		if err := c.one(e, p, key); err != nil {
			bad = errors.Join(bad, fmt.Errorf("%s: %w", p.inErrors(), err))
			continue
		}
		e.println(title(p))
	}
	return bad
}

// one compacts one journal.
func (c *compact) one(e *env, p place, key []byte) error {
	if p.path == standardInput {
		return misused("standard input cannot be compacted: name a file")
	}
	store, session, err := e.storeOf(p)
	if err != nil {
		return err
	}
	ctx, keep := context.Background(), journal.Retention{Older: time.Duration(c.KeepIDs)}
	if c.KeepIDs == 0 {
		return journal.Compact(ctx, store, session, key)
	}
	return journal.CompactKeeping(ctx, store, session, key, keep, time.Now())
}

// storeOf opens the store of a journal, and returns the session's id, too.
func (e *env) storeOf(p place) (store inbox.Store, session string, err error) {
	if store, session = journal.Dir(filepath.Dir(p.path)), p.session; session != "" {
		store, err = e.database(p.path, toWrite)
	} else if h, unread := e.headerOf(p); unread != nil {
		err = unread
	} else if session = h.Session; journal.FileName(session) != filepath.Base(p.path) {
		err = fmt.Errorf("it is the journal of session %q, whose file is called %s: give it that name", session,
			journal.FileName(session))
	}
	if err == nil {
		store, err = e.sealing(store)
	}
	return store, session, err
}
