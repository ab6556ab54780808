package random

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/retake-go/retake/journal"
)

// Crash returns the world as it is after the process died when the journal had length bytes: with this part
// of the journal, and with the replies that it does not have yet. The run can be made again in it, which
// resumes it: see [Run].
func (w *World) Crash(length int) (*World, error) {
	text := w.Store.Text(w.Session.ID)
	whole, err := w.read(w.Session.ID, text)
	if err != nil {
		return nil, err
	}
	text = text[:length]
	done, err := w.read(w.Session.ID, text)
	if err != nil {
		return nil, err
	}
	again, err := NewWorld(w.Case)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	again.replied, again.usage, again.begun = done.replied, done.usage, done.begun
	again.Clock.Set(done.at)
	again.crashed, again.InDoubt = true, done.inDoubt(&whole)
	again.records, again.compacted = w.records, maps.Clone(w.compacted)
	asked := done.replied
	if end := w.Case.Input.Deadline; done.calling && !end.IsZero() && !done.at.Before(end) {
		asked++                                                      // a run that is resumed at its deadline asks no more
		again.InDoubt = again.InDoubt || len(w.asked) > done.replied // what that call consumed is lost
	}
	again.asked = slices.Clone(w.asked[:min(asked, len(w.asked))])
	again.redacted, again.texts.held = w.redacted, maps.Clone(w.texts.held)
	ctx := context.Background()
	log, err := again.Store.Open(ctx, w.Session.ID)
	if err != nil {
		return nil, err
	}
	again.spoken, again.heard = w.spoken, maps.Clone(w.heard)
	for _, i := range w.items {
		if done.before(i.Kind) <= i.after { // it is said and answered again
			again.spoken = min(again.spoken, i.said)
			continue
		}
		if again.items = append(again.items, i); i.runs == done.runs { // the next run has removed it
			err = errors.Join(err, again.Store.Put(ctx, w.Session.ID, i.Item))
		}
	}
	err = errors.Join(err, log.Append(ctx, 0, text, false), log.Close(), w.crashAgents(again, length))
	again.written = append(again.written, written{w.Session.ID, length})
	return again, err
}

// Compact replaces the journals of the session and of its agents by their snapshots, if they have a run. The
// trace keeps the steps that are lost with them.
func (w *World) Compact(ctx context.Context) error {
	if w.compacted == nil {
		w.compacted = map[string]recorded{}
	}
	ids, err := w.Store.List(ctx)
	ids = append(slices.DeleteFunc(ids, func(id string) bool { return id == w.Session.ID }), w.Session.ID)
	w.written = nil
	for _, id := range ids {
		had, broken := w.read(id, w.Store.Text(id))
		switch stays := journal.Compact(ctx, w.Store, id, w.Case.Redact.Key); {
		case stays == nil:
			w.compacted[id] = had
		case !errors.Is(stays, journal.ErrNoRun):
			err = errors.Join(err, stays)
		}
		w.written = append(w.written, written{id, len(w.Store.Text(id))})
		err = errors.Join(err, broken)
	}
	return err
}

// read returns what the journal of a session says, and what it had before it was compacted.
func (w *World) read(session string, text []byte) (recorded, error) {
	return w.records.journal(text, w.compacted[session])
}
