package journal

import (
	"bytes"
	"context"
	"fmt"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// folds are the fold of the file and that of what happened. They are one fold without redaction. clear is nil
// if what was left out is not available.
type folds struct {
	file, clear *Fold
	// redactor redacts records; nil without redaction.
	redactor *redactor
}

func newFolds(r *redactor) folds {
	f := new(Fold)
	if r != nil {
		f.key = r.Key
	}
	return folds{f, f, r}
}

// redacts reports whether the current run is redacted, and what was left out is known.
func (f *folds) redacts() bool { return f.clear != nil && f.clear != f.file }

// last returns the fold of the current run: of what happened if that is known.
func (f *folds) last() *Fold {
	if f.clear != nil {
		return f.clear
	}
	return f.file
}

// split decides whether the recorded runs after a header need one fold or two.
func (f *folds) split(h *Header) error {
	if h.Redaction == nil {
		f.clear = f.file
		return nil
	}
	if id := keyID(f.file.key); f.redactor != nil && h.Redaction.KeyID != id {
		return fmt.Errorf("%w: its digests were made with the key %q, the settings have %q", ErrRedacted,
			h.Redaction.KeyID, id)
	}
	switch {
	case f.redactor == nil || f.redactor.Transcripts == nil:
		f.clear = nil
	case f.clear == f.file:
		f.clear = &Fold{State: f.file.State}
	}
	return nil
}

// take folds a line: as written and, if possible, as it was before redaction.
func (f *folds) take(ctx context.Context, e *entry) error {
	if h := e.rec.Header; h != nil {
		if err := f.split(h); err != nil {
			return err
		}
	}
	if !f.redacts() {
		return f.file.take(e)
	}
	named := e.rec
	named.Event, named.Note = f.file.named(f.clear, named.Event, named.Note)
	if err := f.file.take(e); err != nil {
		return err
	}
	if e.kind == kindDecision { // the fold of the file has compared it
		f.clear.undecided = nil
		return nil
	}
	rec, err := restored(ctx, f.redactor.Transcripts, f.file.Header.Session, named)
	if err == nil {
		err = f.clear.add(rec)
	}
	return e.locate(err)
}

// named returns an event and a note with the question and the call as another fold of the run has them: IDs
// and keys are made of arguments.
func (f *Fold) named(in *Fold, ev *machine.Event, n *Note) (*machine.Event, *Note) {
	if ev != nil && ev.Response != nil {
		ev = new(*ev)
		ev.Response = new(*ev.Response)
		ev.Response.Question = questionIn(&f.State, &in.State, ev.Response.Question)
	}
	if n != nil {
		if at := f.call(n.Key); at >= 0 && at < len(in.Asked.Tools) {
			n = new(*n)
			n.Key = in.Asked.Tools[at].Key
		}
	}
	return ev, n
}

// begin begins a run and returns the header to write. begun reports that the journal ends with that header,
// because a run died before its first event.
func (f *folds) begin(h Header, st machine.State) (left Header, begun bool, err error) {
	if err := f.addState(&h, st); err != nil {
		return h, false, err
	}
	left, before := h, f.clear
	if f.redactor != nil {
		if left, err = f.redactor.header(h); err != nil {
			return h, false, err
		}
	}
	if begun, err = f.file.begun(left); err != nil {
		return h, false, err
	}
	if !begun {
		if err := f.beginFile(left, st); err != nil {
			return h, false, err
		}
	}
	if f.clear = f.file; f.redactor == nil {
		return left, begun, nil
	}
	f.clear = &Fold{Header: h, State: st, digests: newDigester()}
	if before != nil {
		f.clear.before = before.begunLast()
	}
	if before != nil && before != f.file {
		f.clear.ends = before.ends // the file has those of its other runs
	}
	return left, begun, nil
}

// beginFile begins the run in the fold of the file. That fold has the state of the run, unless it is redacted
// or the snapshot of its session is too large to be read back.
func (f *folds) beginFile(h Header, st machine.State) error {
	if f.redactor != nil || len(h.State) > session.MaxSnapshotBytes {
		return f.file.begin(h)
	}
	return f.file.beginAs(h, st)
}

// addState adds the state of the session to the header, unless the journal has it already.
func (f *folds) addState(h *Header, st machine.State) error {
	past := f.last()
	if past.Header.Format != "" && past.State.Session.Same(st.Session) {
		return nil
	}
	now, err := st.Session.Snapshot()
	if err != nil {
		return err
	}
	left := now
	if f.redactor != nil {
		if left, err = f.redactor.state(now, h); err != nil {
			return err
		}
	}
	if past.Header.Format == "" {
		h.State = left
		return nil
	}
	if past == f.file {
		now = left
	}
	held, err := past.State.Session.Snapshot()
	if err == nil && !bytes.Equal(now, held) {
		h.State = left
	}
	return err
}

// step folds a step and returns the event and the decision to write.
func (f *folds) step(
	ev machine.Event, effects []machine.Effect, st *machine.State,
) (machine.Event, *Decision, error) {
	if !f.redacts() {
		d, err := f.file.follow(&ev, effects, st)
		return ev, d, err
	}
	left, err := f.redactor.event(ev, &f.clear.State, f.file.Header.Tools)
	if err != nil {
		return left, nil, err
	}
	as, _ := f.clear.named(f.file, &left, nil)
	left = *as
	if _, err := f.clear.follow(&ev, effects, st); err != nil {
		return left, nil, err
	}
	if err := f.file.event(&left); err != nil {
		return left, nil, fmt.Errorf("the redacted event: %w", err)
	}
	d := f.file.undecided
	f.file.undecided = nil
	return left, d, nil
}

// note folds a note of call at of the current run, or of none if at is negative. It returns the note to
// write.
func (f *folds) note(n Note, at int) (Note, error) {
	last := f.last()
	last.note(n)
	if last == f.file {
		return n, nil
	}
	_, as := last.named(f.file, nil, &n)
	tool := ""
	if at >= 0 {
		tool = last.Asked.Tools[at].Tool
	}
	return f.redactor.note(*as, tool)
}

// ended returns the end of an action or a request, or nil. It is lost if its run was redacted, and what was
// left out is not available.
func (f *folds) ended(key endKey) (end *Ended, lost bool) {
	end = f.file.ended(key)
	if end == nil || !end.Redacted {
		return end, false
	}
	known := f.clear.ended(key)
	if known == nil {
		return end, true
	}
	whole := *known
	whole.Prompt = end.Prompt // the key makes that of the file
	return &whole, false
}
