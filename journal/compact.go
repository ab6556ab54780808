package journal

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// Compact replaces a session's journal by a snapshot. The run continues from the snapshot, and what follows
// still replays. The history is lost: prompts, replies and decisions. key is the secret key of a redacted
// journal, or nil: of its ends the texts are lost, and the keys of calls are those made of the marks.
//
// The ends of actions and requests with an ID are kept: see [CompactKeeping].
//
// It returns [ErrConflict] if a run writes to the journal, [ErrNoRun] if no run has begun in it, and
// [ErrRedacted] if it is redacted and its run has not ended.
func Compact(ctx context.Context, store Store, session string, key []byte) error {
	return compact(ctx, store, session, key, func(*Ended) bool { return false })
}

// CompactKeeping is [Compact] for a journal that keeps the ends of actions and requests as long as a
// retention says: for Older and for KeepIDs, and longer with calls in doubt or if Keep has their state. An
// action or a request that is made again after its end was dropped is a new one, but for the last run, which
// is part of the snapshot. now is the time.
func CompactKeeping(
	ctx context.Context, store Store, session string, key []byte, r Retention, now time.Time,
) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("journal: retention: %w", err)
	}
	return compact(ctx, store, session, key, func(e *Ended) bool { return r.drops(e, now) })
}

func compact(ctx context.Context, store Store, session string, key []byte, drops func(*Ended) bool) error {
	return rewrite(ctx, store, session, "compacting", func(log Log) (int64, []byte, error) {
		return compacted(ctx, log, key, drops)
	})
}

// compacted returns the length of a journal, and the lines of the compacted one without the ends that are
// dropped.
func compacted(
	ctx context.Context, log Log, key []byte, drops func(*Ended) bool,
) (at int64, lines []byte, err error) {
	f := &Fold{folding: folding{key: key}}
	r, err := readLog(ctx, log, f, f.take)
	if err != nil {
		return 0, nil, err
	}
	f = f.begunLast() // one that only has its header begins again
	switch {
	case f.Header.Format == "" || f.State.Phase == machine.Idle:
		return 0, nil, ErrNoRun
	case f.Header.Redaction != nil && f.Unfinished():
		return 0, nil, fmt.Errorf("%w: its run has not ended and needs its events to continue: compact it "+
			"after its end", ErrRedacted)
	}
	f.ends.all = slices.DeleteFunc(f.ends.all, func(e Ended) bool { return drops(&e) })
	h, err := f.compactHeader(r)
	if err != nil {
		return 0, nil, err
	}
	snap, err := f.snapshot()
	if err != nil {
		return 0, nil, err
	}
	head := newHash()
	lines = make([]byte, 0, len(snap.State)+len(h.State)+compactRoom)
	for _, rec := range []Record{{Header: h}, {Snapshot: snap}} {
		if lines, head, err = head.appendRecord(lines, &rec); err != nil {
			return 0, nil, err
		}
	}
	made := &Fold{folding: folding{key: key}}
	if err := NewReader(bytes.NewReader(lines)).each(made, made.take); err != nil {
		return 0, nil, fmt.Errorf("it was not changed: the compacted journal could not be opened: %w", err)
	}
	return r.Offset(), lines, nil
}

// compactLines are the lines of a compacted journal to which nothing was added: its header and its snapshot.
const compactLines = 2

// compactRoom is room for what stands in a compacted journal besides the states. If it takes more, the rest
// is copied.
const compactRoom = 64 << 10

// compactHeader returns the header of the last run with an empty session, because the snapshot holds the
// session.
func (f *Fold) compactHeader(r *Reader) (*Header, error) {
	h := f.Header
	empty, err := session.NewState(h.Session)
	if err != nil {
		return nil, err
	}
	if h.State, err = empty.Snapshot(); err != nil {
		return nil, err
	}
	gone := Compacted{Records: r.Line(), Hash: r.head.String()}
	if before := h.Compacted; before != nil && r.Line() == compactLines {
		gone = *before // nothing was written since
	} else if before != nil {
		gone.Records += before.Records
	}
	h.Compacted, h.Held = &gone, 0 // the snapshot has the conversation
	return &h, nil
}

func (f *Fold) snapshot() (*snapshot, error) {
	state, err := f.State.Snapshot()
	if err != nil {
		return nil, err
	}
	s := &snapshot{
		State: state, Said: f.digests.said.String(), Cuts: string(f.digests.cuts), Notes: f.keptNotes(),
		Adjusted: f.Adjusted,
		Ended:    f.ends.all, Since: f.since, InDoubt: f.doubt,
	}
	if f.State.Phase != machine.Stopped {
		s.Asked = &f.Asked
	}
	return s, nil
}
