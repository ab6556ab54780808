package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// Journal is the journal of one session, open for its one writer. Make it with [Open], hand it to the runs of
// the session, and close it after the last. Safe for concurrent use: notes come from where tools run.
type Journal struct {
	log      Log
	settings Settings
	session  string

	mu   sync.Mutex
	ctx  context.Context
	head hash
	end  int64
	// written is the fold of what is written, real that of what happened: the same where nothing is left out.
	// real is nil where what was left out cannot be had.
	written, real *Fold
	// redactor is nil where nothing is left out.
	redactor *redactor
	// owed are lines that are written with the next append.
	owed []byte
	// torn is what was torn of the first line of all, of tornBytes in all.
	torn      []byte
	tornBytes int64
	// broken is why nothing more is written.
	broken error
}

// Open opens a session's journal and folds what stands in it. A line that is not what was written, and a
// decision that today's code would not take, are errors; a decision that is missing at the end is written,
// and what was torn is kept in a note. ctx is for all that the journal does: its values only, for a cancelled
// run is still recorded.
func Open(ctx context.Context, store Store, session string, s Settings) (*Journal, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if session == "" {
		return nil, errors.New("journal: the session has no id: give it one, by which its journal is found again")
	}
	if store == nil {
		return nil, errNoStore
	}
	ctx = context.WithoutCancel(ctx)
	log, err := store.Open(ctx, session)
	if err != nil {
		return nil, err
	}
	j := &Journal{log: log, settings: s, session: session, ctx: ctx, head: newHash()}
	if s.Redact != nil {
		j.redactor = s.Redact.redactor(ctx, session)
	}
	if err := j.read(session); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return j, nil
}

// Session is the id of the session.
func (j *Journal) Session() string { return j.session }

// Past is what the journal holds, folded, up to the last step. It is the journal's own: read it before the
// next step. Of one that held redacted runs when it was opened it is an error of [ErrRedacted], unless the
// settings give the transcripts; of one that could not be written, or is closed, one of [ErrUnwritable], for
// it is behind its run.
func (j *Journal) Past() (*Fold, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return nil, j.broken
	}
	if j.real == nil {
		return nil, fmt.Errorf("%w: a run goes on only where the settings give the store of what was left out (redact: transcripts)", ErrRedacted)
	}
	return j.real, nil
}

// GoOn makes st, an idle state, go on with the conversation of the journal's last run where history is just
// that: the run then says only what is new, and the journal grows with the conversation and not with its
// square. It reports false, and leaves st as it was, where history is another, or what was left out of the
// journal is left out otherwise.
func (j *Journal) GoOn(st *machine.State, history message.Transcript) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := j.written
	if j.broken != nil || j.real == nil || history.Len() == 0 || last.State.Phase != machine.Stopped {
		return false
	}
	if !sameRedaction(last.Header.Redaction, j.settings.Redact.header()) ||
		!sameConversation(j.real.State.Transcript, history) {
		return false
	}
	st.GoOn(&j.real.State)
	return true
}

func sameRedaction(a, b *Redacted) bool { return a == b || a != nil && b != nil && *a == *b }

// sameConversation compares what was said, unless both share it.
func sameConversation(a, b message.Transcript) bool {
	if a.Len() != b.Len() {
		return false
	}
	if a.Same(b) {
		return true
	}
	for n, m := range a.All() {
		if !m.Equal(b.At(n)) {
			return false
		}
	}
	return true
}

// Begin begins a run under h, whose Format, Session, Held and State it fills in. The transcript of st is
// empty, or as [Journal.GoOn] left it. Nothing is written before the run's first event. A run that has not
// ended is an error of [ErrConflict], a journal that could not be written one as of [Journal.Step].
func (j *Journal) Begin(h Header, st machine.State) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.stops()
	}
	if j.written.Unfinished() {
		return fmt.Errorf("%w: its last run has not ended: resume that, or give the new run a session of its own", ErrConflict)
	}
	if held, there := j.written.ended(h.Config.ActionID); there {
		return fmt.Errorf("%w: action %q has ended: take its recorded end, or give the new action an ID of its own", ErrConflict, held.ID)
	}
	h.Format, h.Session, h.Redaction = Format, st.Session.ID(), j.settings.Redact.header()
	h.Held = st.Transcript.Len()
	if err := j.settle(&h, st); err != nil {
		return err
	}
	real, err := h, error(nil)
	past := j.realEnds()
	if j.redactor != nil {
		if h, err = j.redactor.header(h); err != nil {
			return err
		}
	}
	same, err := j.begun(h)
	if err != nil {
		return err
	}
	if !same {
		if err := j.beginWritten(h, st); err != nil {
			return err
		}
	}
	if j.real = j.written; j.redactor != nil {
		j.real = &Fold{Header: real, State: st, digests: newDigester(), ends: past}
	}
	if same {
		return nil
	}
	return j.oweHeader(&h)
}

// beginWritten has the fold of what is written begin. Its session is that of the run, unless things are left
// out of it, or nobody could read it.
func (j *Journal) beginWritten(h Header, st machine.State) error {
	if j.redactor != nil || len(h.State) > session.MaxSnapshotBytes {
		return j.written.begin(h)
	}
	return j.written.beginWith(h, st.Session)
}

// oweHeader writes a header, and what was torn before it.
func (j *Journal) oweHeader(h *Header) error {
	err := j.owe(Record{Header: h})
	if err == nil && len(j.torn) > 0 {
		err = j.owe(Record{Note: tornNote(j.torn, j.tornBytes)})
		j.torn = nil
	}
	return err
}

// settle gives the header the state of the session, where the journal does not hold it.
func (j *Journal) settle(h *Header, st machine.State) error {
	if past := j.past(); past.Header.Format != "" && past.State.Session.Same(st.Session) {
		return nil
	}
	now, err := st.Session.Snapshot()
	if err != nil {
		return err
	}
	left := now
	if j.redactor != nil {
		if left, err = j.redactor.state(now); err != nil {
			return err
		}
	}
	past, is := j.past(), left
	if past != j.written {
		is = now
	}
	if past.Header.Format == "" {
		h.State = left
		return nil
	}
	held, err := past.State.Session.Snapshot()
	if err != nil {
		return err
	}
	if !bytes.Equal(is, held) {
		h.State = left
	}
	return nil
}

// past is the fold that the session of a new run is compared with: what happened where that is known, else
// what is written.
func (j *Journal) past() *Fold {
	if j.erases() {
		return j.real
	}
	return j.written
}

// begun reports whether the journal ends with this very header: a run that died before its first event.
func (j *Journal) begun(h Header) (bool, error) {
	if last := j.written; last.Header.Format == "" || last.State.Phase != machine.Idle {
		return false, nil
	}
	if h.State == nil {
		h.State = j.written.Header.State
	}
	was, err := canon.Marshal(j.written.Header)
	if err != nil {
		return false, err
	}
	is, err := canon.Marshal(h)
	return bytes.Equal(was, is), err
}

// Step records one step: the event and what the core made of it. An error of [ErrUnwritable] says that
// nothing of it was recorded and the run must stop; where the settings say to go on there is none, and
// [Journal.Warning] says so.
func (j *Journal) Step(ev machine.Event, effects []machine.Effect, st machine.State) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.stops()
	}
	d, err := j.step(&ev, effects, &st)
	if err == nil {
		err = errors.Join(j.owe(Record{Event: &ev}), j.owe(Record{Decision: d}))
	}
	if err != nil {
		return j.failed(err)
	}
	return j.flush(j.durable(effects))
}

// erases reports whether the run under way is one that things are left out of.
func (j *Journal) erases() bool {
	return j.redactor != nil && j.real != nil && j.written.Header.Redaction != nil
}

// step folds a step into what is written, and returns its decision. ev becomes the event that is written.
func (j *Journal) step(ev *machine.Event, effects []machine.Effect, st *machine.State) (*Decision, error) {
	if !j.erases() {
		return j.written.follow(ev, effects, st)
	}
	left, err := j.redactor.event(*ev, &j.real.State, j.written.Header.Tools)
	if err != nil {
		return nil, err
	}
	if _, err := j.real.follow(ev, effects, st); err != nil {
		return nil, err
	}
	*ev = left
	if err := j.written.event(ev); err != nil {
		return nil, fmt.Errorf("the redacted event: %w", err)
	}
	d := j.written.open
	j.written.open = nil
	return d, nil
}

func (j *Journal) durable(effects []machine.Effect) bool {
	switch j.settings.Sync {
	case SyncRecords:
		return true
	case SyncNever:
		return false
	}
	if len(effects) == 0 {
		return false
	}
	switch effects[len(effects)-1].Kind {
	case machine.WaitUntil, machine.Stop, machine.TryAction: // a try that began must not be forgotten
		return true
	}
	return false
}

// Note records what happened beside the run, at once. Of a call that the run does not wait for, no result is
// kept, nor in a journal that things are left out of its progress. Errors are as those of [Journal.Step].
func (j *Journal) Note(n Note) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.stops()
	}
	n.At = n.At.UTC().Round(0)
	fold, erases := j.written, j.erases()
	if erases {
		fold = j.real
	}
	at := fold.call(&n)
	if at < 0 && n.Began != nil {
		return fmt.Errorf("journal: the call of %q that begins is none that the run asks for", n.Began.Tool)
	}
	if at < 0 && (n.Landed != nil || (n.Progress != nil && erases)) {
		return nil
	}
	fold.note(n)
	var err error
	if erases {
		n, err = j.redactor.note(n, fold.Asked.Tools, j.written.Asked.Tools, at)
	}
	if err == nil {
		err = j.owe(Record{Note: &n})
	}
	if err != nil {
		return j.failed(err)
	}
	// That a call began which may not be made again must outlive a loss of power.
	once := n.Began != nil && !fold.Asked.Tools[at].Repeatable
	return j.flush(j.settings.Sync == SyncRecords || once && j.settings.Sync != SyncNever)
}

// Unfinished reports whether the last run has not ended, and can be gone on with: not where the journal could
// not be written.
func (j *Journal) Unfinished() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken == nil && j.written.Unfinished()
}

// Resumed notes that the run was taken up again at the given time, and what was under way then.
func (j *Journal) Resumed(at time.Time, asked machine.EffectKind) error {
	n := Note{Kind: Resumed, At: at, Resumed: asked}
	if asked == machine.CallModel {
		n.Text = "the model is called again: the call that was under way may have been paid for"
	}
	return j.Note(n)
}

// owe adds a record to what the next append writes.
func (j *Journal) owe(rec Record) error {
	raw, err := canon.Marshal(rec)
	if err != nil {
		return err
	}
	if rawStart+len(raw)+len(afterLine) > MaxLineBytes {
		return fmt.Errorf("a record of %d bytes is longer than a line may be: %d", len(raw), MaxLineBytes)
	}
	h := j.head.next(raw)
	j.owed = appendLine(j.owed, h, raw)
	if rec.Note == nil {
		j.head = h
	}
	return nil
}

func (j *Journal) flush(durable bool) error {
	if err := j.log.Append(j.ctx, j.end, j.owed, durable); err != nil {
		return j.failed(err)
	}
	j.end += int64(len(j.owed))
	if j.owed = j.owed[:0]; cap(j.owed) > keptRoom {
		j.owed = nil
	}
	return nil
}

// failed ends all writing.
func (j *Journal) failed(err error) error {
	j.broken = fmt.Errorf("%w: %w", ErrUnwritable, err)
	return j.stops()
}

// stops is the error that a run whose journal is broken ends with, if it is to. Another writer always ends
// it: two runs must not make the same calls.
func (j *Journal) stops() error {
	if j.settings.OnError == GoOn && !errors.Is(j.broken, ErrConflict) {
		return nil
	}
	return j.broken
}

// Warning says what is missing from the journal; empty where nothing is.
func (j *Journal) Warning() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		return ""
	}
	return fmt.Sprintf("the run is not recorded beyond byte %d of its journal: %v", j.end, j.broken)
}

// Close lets the journal go. Closed again, it does nothing; what a tool that outlives its run reports then is
// dropped.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.broken, errClosed) {
		return nil
	}
	j.broken = errClosed
	return j.log.Close()
}

var errClosed = fmt.Errorf("%w: it is closed: open it again", ErrUnwritable)
