package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/loop/machine"
)

// Retention says which sessions are kept, and in compacted journals which ends.
type Retention struct {
	// Older is the age of the last event from which on a session is deleted; it is positive.
	Older time.Duration
	// Keep are states whose sessions stay whatever their age. Sessions that have not ended stay anyway.
	Keep []SessionState
	// KeepIDs is how long the end of a request or an action with an ID keeps its session, so that nobody
	// makes it again. 0 keeps none for longer than Older, but for those with calls in doubt.
	KeepIDs time.Duration
	// Transcripts is what keeps the texts that were left out of redacted journals. Those of a session go
	// before its journal does. It may be nil.
	Transcripts Forgetter
}

// Validate reports everything that is wrong with a retention, joined.
func (r Retention) Validate() error {
	var errs []error
	if r.Older <= 0 {
		errs = append(errs, fmt.Errorf("older: must be positive, not %v", r.Older))
	}
	if r.KeepIDs < 0 {
		errs = append(errs, fmt.Errorf("keep_ids: must not be negative, not %v", r.KeepIDs))
	}
	for _, s := range r.Keep {
		if !slices.Contains(sessionStates, s) {
			errs = append(errs, fmt.Errorf("keep: %q is no state of a session: give one of %v", s, sessionStates))
		}
	}
	return errors.Join(errs...)
}

// Pruned is what [Prune] says of a session that goes: what may be left of it.
type Pruned struct {
	Summary
	// Hash is that of the last line of its journal that is not a note.
	Hash string
	// Bytes is the length of its journal.
	Bytes int64
	// Err is why it was not deleted after all: [ErrConflict] if a writer holds its journal, which is new
	// then, or a fault of its journal or of the store.
	Err error
}

// Prune deletes the sessions whose last run ended long ago, at the time now. What stays: runs that have not
// ended, the agents within them, ends with calls in doubt, ids that are still kept, journals that a writer
// holds or that cannot be read, and sessions with an item in their inbox. each is called for every session
// that goes, and for those that should and cannot; if it returns false, the session stays. For one that could
// not be deleted after all it is called again, next, with the error. The error is that of the store, or of a
// retention that is not valid.
func Prune(ctx context.Context, store Keeper, r Retention, now time.Time, each func(Pruned) bool) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("journal: retention: %w", err)
	}
	var bad error
	var old []Summary
	open := map[string]bool{}
	for s, err := range Summaries(ctx, store, Filter{}, now) {
		switch {
		case s.Session == "":
			bad = errors.Join(bad, err)
			continue
		case err != nil:
			each(Pruned{Summary: s, Err: err})
		case r.goes(s, now):
			old = append(old, s)
		}
		if err != nil || !s.State.Ended() {
			open[s.Session], open[machine.DigestID(s.Session)] = true, true
		}
	}
	for _, s := range old {
		if err := pruneOne(ctx, store, r, s.Session, open, now, each); err != nil {
			each(Pruned{Summary: s, Err: err})
		}
	}
	return bad
}

// goes reports whether a session is deleted, unless its ids are kept.
func (r Retention) goes(s Summary, now time.Time) bool {
	return s.State.Ended() && !slices.Contains(r.Keep, s.State) && s.InDoubt == 0 && now.Sub(s.Last) >= r.Older
}

// keeps reports whether the end of a request or an action is in doubt, or too young to be forgotten.
func (r Retention) keeps(e *Ended, now time.Time) bool {
	return len(e.Outcome.InDoubt) > 0 || now.Sub(e.At) < r.KeepIDs
}

// drops reports whether the end of a request or an action goes when its journal is compacted.
func (r Retention) drops(e *Ended, now time.Time) bool {
	state := SessionFailed
	if e.Outcome.OK {
		state = SessionDone
	}
	return !r.keeps(e, now) && now.Sub(e.At) >= r.Older && !slices.Contains(r.Keep, state)
}

// errStays ends the deletion of a session that stays.
var errStays = errors.New("it stays")

// pruneOne looks at a session again, as its writer, and deletes it. An agent in an open session stays: a call
// that is made again after a crash would make it anew.
func pruneOne(
	ctx context.Context, store Keeper, r Retention, session string, open map[string]bool, now time.Time,
	each func(Pruned) bool,
) error {
	err := rewrite(ctx, store, session, "", func(log Log) (int64, []byte, error) {
		p, f, err := pruned(ctx, log, now)
		if err != nil {
			return 0, nil, err
		}
		outer, within := machine.Outer(session, f.Header.Config.Seed)
		stays := !r.goes(p.Summary, now) || f.doubt || within && open[outer] || slices.ContainsFunc(f.ends.all,
			func(e Ended) bool { return r.keeps(&e, now) })
		if inbox, has := store.(Inbox); has && !stays {
			items, err := inbox.Items(ctx, session)
			if err != nil {
				return 0, nil, err
			}
			stays = len(items) > 0
		}
		if stays || !each(p) {
			return 0, nil, errStays
		}
		return p.Bytes, nil, forget(ctx, session, r.Transcripts)
	})
	if errors.Is(err, errStays) {
		return nil
	}
	return err
}

// pruned folds a journal.
func pruned(ctx context.Context, log Log, now time.Time) (p Pruned, f *Fold, err error) {
	f = &Fold{folding: folding{trusts: true}}
	r, err := readLog(ctx, log, f, f.take)
	if err != nil {
		return p, nil, err
	}
	if f.begunLast().State.Phase == machine.Idle {
		return p, nil, errStays
	}
	return Pruned{Summary: f.Summary(false, now), Hash: r.head.String(), Bytes: r.Offset()}, f, nil
}
