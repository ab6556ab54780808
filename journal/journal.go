package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/loop/machine"
)

// Journal is the journal of one session, open for its one writer. Open it with [Open], make the session with
// it ([session.Config].Journal), and close it after the last run. It is held until then, except while its log
// rests ([Journal.Rest]) or it is released ([Journal.Release]), as in a pool. It is safe for concurrent use.
type Journal struct {
	store    Store
	settings Settings
	session  string

	mu  sync.Mutex
	ctx context.Context
	// log is nil while the journal rests or is released.
	log Log
	// chained is the last line of the chain, with those that are pending. written is the last in the log,
	// which ends at end.
	chained, written chainLine
	end              int64
	folds
	// pending are lines to write with the next append.
	pending []byte
	// held reports that they are a step that waits for another one: see [Journal.Flush].
	held bool
	// torn is the beginning of a torn first line of tornBytes in all. A note keeps it once there is a header.
	torn      []byte
	tornBytes int64
	// broken is why nothing more is written.
	broken error
}

// chainLine is a line of the chain: its hash, and where it begins.
type chainLine struct {
	hash hash
	at   int64
}

// Session returns the id of the session; empty for a nil journal.
func (j *Journal) Session() string {
	if j == nil {
		return ""
	}
	return j.session
}

// Inbox returns the inbox of the journal's store, or nil if it has none.
func (j *Journal) Inbox() Inbox {
	if j == nil {
		return nil
	}
	inbox, _ := j.store.(Inbox)
	return inbox
}

// Redacts reports whether the journal leaves something out of what it records.
func (j *Journal) Redacts() bool { return j.settings.Redact != nil }

// Begin begins a run under h and sets its Format, Session, Held and State. The transcript of st is empty, or
// as [Journal.GoOn] left it. Nothing is written before the run's first event. The error is [ErrConflict] if
// the last run has not ended, and that of [Journal.Step] if the journal could not be written.
func (j *Journal) Begin(h Header, st machine.State) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.stops()
	}
	if err := j.reopen(); err != nil {
		return j.failed(err)
	}
	if j.file.Unfinished() {
		return heldError("its last run has not ended: continue it with Loop.Resume, or with Loop.Run of the same " +
			"request; or use another session for the new run")
	}
	if held := j.file.ended(endKey{id: h.Config.ActionID}); held != nil {
		return heldError(fmt.Sprintf("action %q has ended: take its recorded end, or give the new action an ID "+
			"of its own", held.ID))
	}
	h.Format, h.Session, h.Redaction = format, st.Session.ID(), j.settings.Redact.header()
	h.Held = st.TranscriptLen()
	left, begun, err := j.begin(h, st)
	if err != nil || begun {
		return err
	}
	if err = j.enqueue(Record{Header: &left}); err == nil {
		err = j.enqueueTorn()
	}
	return err
}

// Step records one step: the event and the core's decision. One that asks for a grant ([machine.AskGrant])
// is written with the next record, unless it must not be lost: see [Journal.Flush]. After an error of
// [ErrUnwritable] nothing of the step is recorded, and the run must stop. If the settings say to continue
// there is no error, and [Journal.Warning] says what is missing.
func (j *Journal) Step(ev machine.Event, effects []machine.Effect, st machine.State) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.stops()
	}
	ev, d, err := j.step(ev, effects, &st)
	if err == nil {
		err = errors.Join(j.enqueue(Record{Event: &ev}), j.enqueue(Record{Decision: d}))
	}
	if err != nil {
		return j.failed(err)
	}
	last := lastOf(effects).Kind
	durable := j.durable(ev.Kind, last)
	// A grant is mostly given at once, and what follows is written before the call.
	if j.held = !durable && last == machine.AskGrant; j.held {
		return nil
	}
	return j.flush(durable)
}

// Flush writes a step that asked for a grant, which is not written by itself: for a driver whose limiter does
// not answer at once. It does nothing for a nil journal. Errors are those of [Journal.Step].
func (j *Journal) Flush() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.broken != nil:
		return j.stops()
	case !j.held:
		return nil
	}
	return j.flush(false)
}

// durable reports whether a step with an event and a last effect has to survive a loss of power.
func (j *Journal) durable(event machine.EventKind, last machine.EffectKind) bool {
	switch j.settings.Sync {
	case SyncRecords:
		return true
	case SyncNever:
		return false
	}
	switch last {
	// a try that began must not be lost
	case machine.WaitUntil, machine.AskPerson, machine.Stop, machine.TryAction:
		return true
	}
	return event == machine.Responded || event == machine.Spoken // who answered is told that it was taken
}

// Note records at once what happened beside the run. It drops results of calls that the run does not wait for
// and, in a redacted journal, their progress. Errors are those of [Journal.Step].
func (j *Journal) Note(n Note) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.stops()
	}
	n.At = n.At.UTC().Round(0)
	fold := j.last()
	at := fold.call(n.Key)
	switch {
	case n.Kind == AskForm && fold.Form(n.Tool) != nil:
		return nil
	case n.Kind == ResultLanded && n.End == nil:
		return errors.New("journal: the note of a result that landed has no end")
	case at < 0 && n.Kind == ToolBegan:
		return fmt.Errorf("journal: the call of %q that begins is none that the run asks for", n.Tool)
	case at < 0 && (n.Kind == ResultLanded || n.Kind == Progressed && j.redacts()):
		return nil
	}
	n, err := j.note(n, at)
	if err == nil {
		err = j.enqueue(Record{Note: &n})
	}
	if err != nil {
		return j.failed(err)
	}
	// The start of a call that must not be repeated has to survive a loss of power.
	once := n.Kind == ToolBegan && !fold.Asked.Tools[at].Repeatable
	return j.flush(j.settings.Sync == SyncRecords || once && j.settings.Sync != SyncNever)
}

// Unfinished reports whether the last run has not ended and can continue. It is false if the journal could
// not be written.
func (j *Journal) Unfinished() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken == nil && j.file.Unfinished()
}

// Resumed records that the run was resumed, and the effect that was current.
func (j *Journal) Resumed(at time.Time, asked machine.EffectKind) error {
	n := Note{Kind: Resumed, At: at, Resumed: asked}
	switch asked {
	case machine.CallModel:
		n.Text = "the model is called again: the call that was under way may have been paid for"
	case machine.Summarise:
		n.Text = "the summary is made again: the call that was under way may have been paid for"
	}
	return j.Note(n)
}

// enqueue adds a record to the next append.
func (j *Journal) enqueue(rec Record) error {
	lines, next, err := j.chained.hash.appendRecord(j.pending, &rec)
	if err != nil {
		return err
	}
	if rec.Note == nil {
		j.chained = chainLine{next, j.end + int64(len(j.pending))}
	}
	j.pending = lines
	return nil
}

func (j *Journal) flush(durable bool) error {
	j.held = false
	if err := j.reopen(); err != nil {
		return j.failed(err)
	}
	if err := j.log.Append(j.ctx, j.end, j.pending, durable); err != nil {
		return j.failed(err)
	}
	j.end, j.written = j.end+int64(len(j.pending)), j.chained
	if j.pending = j.pending[:0]; cap(j.pending) > keptRoom {
		j.pending = nil
	}
	return nil
}

// failed stops all writing and returns the error for the run.
func (j *Journal) failed(err error) error {
	j.broken = fmt.Errorf("%w: %w", ErrUnwritable, chain.Bounded(err))
	return j.stops()
}

// stops returns the error that ends a run whose journal is broken, or nil if the settings say to continue. A
// conflict always ends the run, because two runs must not make the same calls.
func (j *Journal) stops() error {
	if j.settings.OnError == GoOn && !errors.Is(j.broken, ErrConflict) {
		return nil
	}
	return j.broken
}

// Warning says what is missing from the journal; empty if nothing is.
func (j *Journal) Warning() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		return ""
	}
	return fmt.Sprintf("the run is not recorded beyond byte %d of its journal: %v", j.end, j.broken)
}

// Close closes the journal. A second call does nothing. What a tool reports after its run is dropped.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	switch {
	case errors.Is(j.broken, errClosed):
		return nil
	case j.broken == nil && j.held:
		err = j.flush(false)
	}
	if j.broken = errClosed; j.log != nil {
		err = errors.Join(err, chain.Bounded(j.log.Close()))
	}
	return err
}

var errClosed = fmt.Errorf("%w: it is closed: open it again", ErrUnwritable)
