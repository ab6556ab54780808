package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/retake-go/retake/internal/chain"
)

// Keeper is a [Store] that tells of its journals while others write to them. It takes no lock and keeps
// nobody out.
type Keeper interface {
	Store
	// Stats returns what is known of the sessions with a journal without reading it, in ascending order of
	// their ids. A journal whose session cannot be read is left out: the error names it and is returned with
	// the others. known are from an earlier call: one of a journal whose Bytes and Changed are as they were
	// may be returned as it is, whoever holds the journal now.
	Stats(ctx context.Context, known ...Stat) ([]Stat, error)
	// Peek returns a journal from its first byte, as it is now; its last line may be half of one. The caller
	// closes it. If it is an [io.Seeker], a [Follower] does not read twice what it has read. The error is
	// [ErrNoRun] if the session has none.
	Peek(ctx context.Context, session string) (io.ReadCloser, error)
}

// Stat is what is known of a journal without reading it.
type Stat struct {
	Session string
	// Bytes is its length as it is stored, and Changed when it was last written; zero if the store does not
	// know. A journal whose Bytes and Changed are equal has not changed.
	Bytes   int64
	Changed time.Time
	// Held reports that a writer holds it. One that rests is not held: see [Rester].
	Held bool
}

// Delete deletes the journal of a session, and its inbox, after what transcripts have of it. It returns
// [ErrConflict] while a writer holds the journal, and [ErrNoRun] if there is none; what else is left of the
// session goes even so. A request or an action of the session that is made again is then a new one.
func Delete(ctx context.Context, store Store, session string, transcripts ...Forgetter) error {
	const doing = "deleting"
	none := false
	err := rewrite(ctx, store, session, doing, func(log Log) (end int64, _ []byte, err error) {
		if end, err = lengthOf(ctx, log); err != nil {
			return 0, nil, err
		}
		none = end == 0
		if inbox, has := store.(Inbox); has {
			err = empty(ctx, inbox, session)
		}
		if err == nil {
			err = forget(ctx, session, transcripts...)
		}
		return end, nil, err
	})
	if err == nil && none {
		err = rewriting(doing, session, ErrNoRun)
	}
	return err
}

// forget deletes what transcripts have of a session. After a crash its journal is still there, so that it is
// done again.
func forget(ctx context.Context, session string, transcripts ...Forgetter) error {
	for _, t := range transcripts {
		if t == nil {
			continue
		}
		if err := t.Forget(ctx, session); err != nil {
			return fmt.Errorf("the texts that were left out of it: %w", err)
		}
	}
	return nil
}

// rewrite replaces a journal, or deletes it where look returns no lines; unless look returns an error. look
// returns where the journal ends, too. What is done is said of errors; nothing is if it is empty.
func rewrite(
	ctx context.Context, store Store, session, doing string,
	look func(Log) (end int64, lines []byte, err error),
) error {
	if store == nil {
		return errNoStore
	}
	log, err := store.Open(ctx, session)
	if err != nil {
		return chain.Bounded(err)
	}
	end, lines, err := look(log)
	if err == nil {
		err = log.Replace(ctx, end, lines)
	}
	if err = chain.Bounded(err); err != nil && doing != "" {
		err = rewriting(doing, session, err)
	}
	return errors.Join(err, chain.Bounded(log.Close()))
}

// rewriting says what was done when an error came.
func rewriting(doing, session string, err error) error {
	return fmt.Errorf("%s the journal of session %q: %w", doing, session, err)
}

// lengthOf returns where the complete lines of a journal end.
func lengthOf(ctx context.Context, log Log) (int64, error) {
	in, err := log.Read(ctx)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	return linesEnd(in, math.MaxInt64)
}

// empty removes the items of an inbox.
func empty(ctx context.Context, inbox Inbox, session string) error {
	items, err := inbox.Items(ctx, session)
	for _, i := range items {
		err = errors.Join(err, inbox.Remove(ctx, session, i))
	}
	return err
}
