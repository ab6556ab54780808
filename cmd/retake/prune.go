package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

var pruneCommand = command{
	name:    "prune",
	summary: "deletes sessions whose runs ended long ago",
	example: "retake prune runs/ -older 30d -keep failed",
	usage:   []string{"prune [-keep STATES] [-keep-ids AGE] [-hashes FILE] [-dry-run] -older AGE STORE..."},
	about: `
Deletes the journals of sessions whose last run ended long ago. What stays: runs that have not ended, those
that wait for a person, the agents within them, ends with calls in doubt, sessions with something in their
inbox, and journals that a process writes to or that cannot be read: for the last two the exit status is 2.

A session that is gone has forgotten what it did: a request or an action with an ID that is made again is then
new. -keep-ids keeps such sessions for longer.

STORE is a folder of journals (journal.Dir), a SQLite database or an address postgres://…. AGE is a number
with a unit: 12h, 30d, 8w.`,
	task: newTask[prune],
}

type prune struct {
	stores
	Older               age    `flag:"older AGE" help:"delete what ended longer ago than AGE"`
	Keep                string `flag:"keep STATES" help:"keep sessions in these STATES: done, failed"`
	KeepIDs             age    `flag:"keep-ids AGE" help:"keep sessions with the end of a request or an action with an ID, until AGE after it"`
	Hashes              string `flag:"hashes FILE" help:"append the id and the hash of what is deleted to FILE"`
	DryRun              bool   `flag:"dry-run" help:"say what would be deleted, and delete nothing"`
	deleted, kept, size int64
}

func (p *prune) take(args []string) error {
	if len(args) > 0 && p.Older == 0 {
		return misused("-older: give the age from which on sessions are deleted, " +
			"more than 0, such as -older 30d")
	}
	return p.stores.take(args)
}

func (p *prune) run(e *env) error {
	keep := journal.Retention{Older: time.Duration(p.Older), KeepIDs: time.Duration(p.KeepIDs)}
	for state := range strings.SplitSeq(p.Keep, ",") {
		if state != "" {
			keep.Keep = append(keep.Keep, journal.SessionState(state))
		}
	}
	if err := keep.Validate(); err != nil {
		return misused("-%w", err)
	}
	hashes, err := p.openHashes()
	if err != nil {
		return err
	}
	for _, name := range p.names {
		err = errors.Join(err, p.store(e, name, keep, hashes))
	}
	if hashes != nil {
		err = errors.Join(err, hashes.Close())
	}
	verb := "deleted"
	if p.DryRun {
		verb = "would be deleted"
	}
	e.printf("%s %s, %d bytes\n", several.Of(p.deleted, "session"), verb, p.size)
	if err == nil && p.kept > 0 {
		err = fmt.Errorf("%s could not be deleted", several.Of(p.kept, "session"))
	}
	return err
}

// openHashes opens the file of what is deleted, or returns nil if there is none. It refuses a file of other
// lines.
func (p *prune) openHashes() (*os.File, error) {
	if p.Hashes == "" {
		return nil, nil
	}
	end, err := endOfHashes(p.Hashes)
	if err != nil {
		return nil, misused("-hashes: %w", err)
	}
	if p.DryRun {
		return nil, nil
	}
	f, err := os.OpenFile(p.Hashes, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil && end != "" && !strings.HasSuffix(end, "\n") {
		_, err = f.WriteString("\n") // a prune that was killed left half of a line
	}
	if err != nil {
		return nil, misused("-hashes: %w", err)
	}
	return f, nil
}

// hashLine is a line of the file of what is deleted, or the beginning of one.
var hashLine = regexp.MustCompile(`^[0-9a-f]{1,32}( ("[^\n]*)?)?\n?$`)

// endOfHashes returns the last line of the file of what is deleted; empty if there is none.
func endOfHashes(path string) (last string, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", nil // it will be made, or is a device or a folder, which cannot be opened
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if line != "" && !hashLine.MatchString(line) {
			return "", fmt.Errorf("%s is another file: its line %d is no hash and session: name a new file, or one "+
				"that prune has written", path, n)
		}
		if errors.Is(err, io.EOF) {
			return cmp.Or(line, last), nil
		}
		if last = line; err != nil {
			return "", err
		}
	}
}

// store prunes one store.
func (p *prune) store(e *env, name string, keep journal.Retention, hashes *os.File) error {
	store, err := e.openInbox(name, toWrite)
	if err != nil {
		return err
	}
	var noted error
	var going journal.Pruned // is deleted, unless the next call says that it was not
	gone := func() {
		if going.Session == "" {
			return
		}
		p.deleted, p.size = p.deleted+1, p.size+going.Bytes
		what := fmt.Sprintf("%s %s, %d bytes", going.State, going.Last.Format(time.DateOnly), going.Bytes)
		e.printf("%s  %s\n", title(sessionIn(name, going.Session)), e.faint(what))
	}
	err = journal.Prune(context.Background(), store, keep, time.Now(), func(one journal.Pruned) bool {
		if one.Err == nil || one.Session != going.Session {
			gone()
		}
		if going = (journal.Pruned{}); one.Err != nil {
			p.kept++
			e.warn("%s stays: %v", title(sessionIn(name, one.Session)), one.Err)
			return false
		}
		if hashes != nil && noted == nil {
			if _, noted = fmt.Fprintf(hashes, "%s %q\n", one.Hash, one.Session); noted == nil {
				noted = hashes.Sync()
			}
		}
		if noted != nil {
			return false // nothing goes unnoted
		}
		going = one
		return !p.DryRun
	})
	gone()
	return errors.Join(err, noted)
}
