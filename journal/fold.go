package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Fold is the state of a run after all events of its journal so far, and the current effect: see
// [Journal.Past]. It is for one goroutine.
type Fold struct {
	// Header is the header of the last run; its Format is empty before the first.
	Header Header
	// State is the state of the core.
	State machine.State
	// Asked is the current effect; its kind is empty before the first event of a run.
	Asked machine.Effect
	// Adjusted is the last layer that adjusted the policy in this run, or nil.
	Adjusted *policy.Layer
	// Notes are those of the current calls: tools that began, and results that came before their turn.
	Notes []Note
	// Request is the text of the message that began the run; empty if the journal no longer has it. Failed is
	// the number of its attempts that failed, as far as the journal has them.
	Request string
	Failed  int

	// forms are the notes of tools of whose calls a person was asked.
	forms []Note
	// digests makes the digests of prompts.
	digests *digester
	// undecided is today's decision on the last event, until the recorded one is read.
	undecided *Decision
	// prompt is the digest of the request's prompt, for its end.
	prompt string
	// before is the run before one that has no event yet, which a process may have left so.
	before *Fold
	// since is when the last run began.
	since time.Time
	// answered are the calls about which people answered last, and untaken what was said of what the inbox
	// had and the run did not take.
	answered []answeredCall
	untaken  seq.Log[string]
	last     *machine.Event
	folding
}

// folding is what a fold has of its journal, whatever run it is at.
type folding struct {
	// key is the secret key of a redacted journal.
	key []byte
	// ends are the ends of all actions with an ID.
	ends ends
	// doubt reports that a run ended with calls in doubt.
	doubt bool
	// trusts takes the recorded decisions as they are: today's are not compared with them, and no digests are
	// made.
	trusts bool
	// forgets drops what nobody has to know to go on, for a fold that is not written on. forgot is where it
	// last did.
	forgets bool
	forgot  int64
	// configs are those of the runs so far, which other folds may share; nil for none. compiled is that of
	// the header that is being folded.
	configs  *Configs
	compiled *machine.Compiled
	// events is the number of events so far.
	events int64
}

// Unfinished reports whether a run began and has not stopped.
func (f *Fold) Unfinished() bool {
	return f.Header.Format != "" && !atRest(&f.State)
}

// Form returns the JSON Schema of the arguments of a tool of whose calls a person was asked in the run; nil
// if the journal does not have it.
func (f *Fold) Form(tool string) json.RawMessage {
	for _, n := range f.forms {
		if n.Tool == tool {
			return n.Schema
		}
	}
	return nil
}

// take folds a line.
func (f *Fold) take(e *entry) error {
	switch {
	case e.kind == kindDecision && f.trusts && f.undecided != nil:
		f.undecided = nil
	case e.kind == kindDecision && f.matches(e.raw):
	default:
		rec, err := e.record(f.known())
		if f.compiled = e.compiled; err == nil {
			err = f.add(rec)
		}
		if err != nil {
			return e.locate(err)
		}
	}
	if f.forgets && e.end-f.forgot >= forgetBytes {
		f.forget(e.end)
	}
	return nil
}

// forgetBytes is how many bytes are read before something is dropped.
const forgetBytes = 8 << 20

// forget drops what is no longer needed at an offset: messages, whose digests replace them, attempts, and the
// ends of actions; but not between an event and the decision on it.
func (f *Fold) forget(at int64) {
	if f.undecided == nil {
		f.State.Forget(true)
		f.ends, f.forgot = ends{}, at
	}
}

// known returns the configs of the runs so far.
func (f *Fold) known() *Configs {
	if f.configs == nil {
		f.configs = &Configs{shown: true}
	}
	return f.configs
}

// add folds one record. It returns a [DifferenceError] for a decision that differs from today's, an error of
// [ErrDiffers] for an event or header that today's code refuses, and another error for a record in the wrong
// place. After an error the fold must not be used any more.
func (f *Fold) add(rec Record) error {
	switch {
	case rec.Note != nil:
		f.note(*rec.Note)
		return nil
	case rec.Header == nil && f.Header.Format == "":
		return fmt.Errorf("a journal begins with a header")
	case rec.Decision != nil:
		return f.decided(*rec.Decision)
	case f.undecided != nil:
		return fmt.Errorf("the decision on the previous event is missing")
	case rec.Header != nil:
		return f.begin(*rec.Header)
	case rec.Event != nil:
		return f.event(rec.Event)
	}
	return f.restore(*rec.Snapshot)
}

// begin begins a run with the session in its header.
func (f *Fold) begin(h Header) error {
	if f.Unfinished() {
		return fmt.Errorf("a run begins before the previous one has ended")
	}
	held := f.State.Session
	if h.State != nil {
		var err error
		if held, err = session.ParseState(h.State); err != nil {
			return fmt.Errorf("header: state: %w", err)
		}
	}
	compiled := f.compiled
	if f.compiled = nil; compiled == nil {
		var err error
		if compiled, err = machine.Compile(new(h.Config)); err != nil {
			return kindError{fmt.Errorf("the header is refused now: config: %w", err), ErrDiffers}
		}
	}
	compiled = compiled.For(h.Config.RequestID, h.Config.Deadline, h.Config.Seed)
	return f.beginAs(h, compiled.New(held))
}

// beginAs begins a run in an idle state.
func (f *Fold) beginAs(h Header, st machine.State) error {
	if h.Session == "" || st.Session.ID() != h.Session {
		return fmt.Errorf("header: the session is %q, its state is that of %q", h.Session, st.Session.ID())
	}
	before := *f
	*f = Fold{Header: h, State: st, digests: newDigester(), folding: f.folding}
	if f.before = before.begunLast(); h.Redaction != nil {
		f.digests = newKeyedDigester(h.Session, f.key)
	}
	if h.Held == 0 {
		return nil
	}
	said := before.State.TranscriptLen()
	if h.Held != said || (before.Header.Redaction == nil) != (h.Redaction == nil) {
		return fmt.Errorf("header: held: the run continues %d messages, but the run before it has %d, or other "+
			"redaction rules",
			h.Held, said)
	}
	f.State.GoOn(&before.State)
	f.digests = before.digests
	return nil
}

// begunLast returns the last run that has an event.
func (f *Fold) begunLast() *Fold {
	if f.State.Phase == machine.Idle && f.before != nil {
		return f.before
	}
	return f
}

// begun reports whether the journal ends with the same header, because a run died before its first event.
func (f *Fold) begun(h Header) (bool, error) {
	if f.Header.Format == "" || f.State.Phase != machine.Idle {
		return false, nil
	}
	if h.State == nil {
		h.State = f.Header.State
	}
	was, err := canon.Marshal(f.Header)
	if err != nil {
		return false, err
	}
	is, err := canon.Marshal(h)
	return bytes.Equal(was, is), err
}

// event steps the core and keeps its decision for comparison.
func (f *Fold) event(ev *machine.Event) error {
	f.events, f.last = f.events+1, ev
	from := f.standing()
	effects, err := machine.Step(&f.State, ev)
	if err != nil {
		return kindError{fmt.Errorf("event %d (%s) does not fit now: %w", f.events, ev.Kind, err), ErrDiffers}
	}
	f.undecided, err = f.stepped(from, ev, effects)
	return err
}

// follow takes over a step and returns its decision.
func (f *Fold) follow(ev *machine.Event, effects []machine.Effect, st *machine.State) (*Decision, error) {
	from := f.standing()
	f.State = *st
	return f.stepped(from, ev, effects)
}

// standing is what counts of the state before a step: the number of messages, the turn and its batch.
type standing struct {
	said, turn int
	batch      *machine.Batch
}

func (f *Fold) standing() standing {
	return standing{f.State.TranscriptLen(), f.State.Turn, f.State.Batch}
}

// stepped notes what a step did, after which the fold has its state, and returns its decision.
func (f *Fold) stepped(from standing, ev *machine.Event, effects []machine.Effect) (*Decision, error) {
	f.keepAnswered(from, ev, effects)
	f.before = nil
	d := &Decision{Effects: effects, Said: f.State.TranscriptFrom(from.said)}
	if !f.trusts {
		if err := f.digest(ev, d); err != nil {
			return nil, err
		}
	}
	if ev.Kind == machine.Started {
		f.Adjusted, f.since, f.Request, f.Failed = nil, ev.At, lastOf(ev.Messages).Text, 0
	}
	for n := range effects {
		if d := effects[n].Decision; d != nil && d.Class != "" {
			f.Failed++
		}
	}
	if ev.Adjust != nil {
		f.Adjusted = ev.Adjust
	}
	last := lastOf(effects)
	if last.Kind != "" && last.Kind != machine.Decided {
		f.Asked, f.Notes = last, nil
	}
	if last.Kind == machine.Stop {
		f.end(last.Outcome)
	}
	return d, nil
}

// lastOf returns the last effect or message; a zero one if there is none.
func lastOf[T any](all []T) (last T) {
	if n := len(all); n > 0 {
		last = all[n-1]
	}
	return last
}

// digest makes the digests of a decision and, of an event that begins a run, that of its prompt.
func (f *Fold) digest(ev *machine.Event, d *Decision) error {
	var cuts []projection.Cut
	switch {
	case ev.Cut != nil:
		cuts = ev.Cut.Cuts
	case ev.Kept != nil:
		cuts = ev.Kept.Cuts
	}
	if len(cuts) > 0 {
		if err := f.digests.cut(cuts); err != nil {
			return err
		}
	}
	if err := f.digests.decide(d); err != nil || ev.Kind != machine.Started {
		return err
	}
	return f.asked(ev.Messages)
}

// decided compares a recorded decision with today's.
func (f *Fold) decided(recorded Decision) error {
	if f.undecided == nil {
		return fmt.Errorf("a decision without an event")
	}
	now := *f.undecided
	f.undecided = nil
	if f.lacksKey() {
		recorded.Prompt, now.Prompt = "", ""
	}
	return difference(f.events, f.last.Kind, recorded, now)
}

// matches reports whether the bytes of a recorded decision equal today's. If not, they may still be equal.
func (f *Fold) matches(raw []byte) bool {
	if f.undecided == nil || f.lacksKey() {
		return false
	}
	same := false
	err := f.digests.written(&Record{Decision: f.undecided}, func(now []byte) { same = bytes.Equal(raw, now) })
	if err != nil || !same {
		return false
	}
	f.undecided = nil
	return true
}

// lacksKey reports whether the digests of prompts cannot be made without the secret key.
func (f *Fold) lacksKey() bool {
	return f.Header.Redaction != nil && f.Header.Redaction.KeyID != "" && len(f.key) == 0
}

// call returns the index in Asked of the call with a key, or a negative number.
func (f *Fold) call(key string) int {
	return slices.IndexFunc(f.Asked.Tools, func(run machine.ToolRun) bool { return run.Key == key })
}

func (f *Fold) note(n Note) {
	if n.Kind == AskForm && f.Form(n.Tool) == nil {
		f.forms = append(f.forms, n)
	}
	if n.Kind == Undelivered {
		f.untaken = f.untaken.Append(n.Text)
		f.warn(n.Text)
	}
	if n.Kind == ToolBegan || n.Kind == ResultLanded {
		f.Notes = append(f.Notes, n)
	}
}

// keptNotes returns the notes that matter later.
func (f *Fold) keptNotes() []Note {
	kept := slices.Clip(f.Notes)
	if f.Asked.Kind == machine.AskPerson {
		kept = append(kept, f.forms...)
	}
	for _, text := range f.untaken.All() {
		kept = append(kept, Note{Kind: Undelivered, Text: text})
	}
	return kept
}

// restore takes over the run of a compacted journal.
func (f *Fold) restore(s snapshot) error {
	if f.State.Phase != machine.Idle {
		return fmt.Errorf("a snapshot is allowed only after the header of a compacted journal")
	}
	st, err := machine.Restore(s.State)
	if err != nil {
		return err
	}
	if st.Session.ID() != f.Header.Session {
		return fmt.Errorf("snapshot: the session is %q, the header's is %q", st.Session.ID(), f.Header.Session)
	}
	f.State, f.Adjusted, f.since, f.doubt = st, s.Adjusted, s.Since, s.InDoubt
	for _, n := range s.Notes {
		f.note(n)
	}
	for _, one := range s.Ended {
		f.ends.add(one)
	}
	if err := f.restoreDigests(s); err != nil {
		return err
	}
	if s.Asked != nil {
		f.Asked = *s.Asked
	}
	said := st.Transcript()
	said = said[:min(st.Began, len(said))]
	f.Request = lastOf(said).Text
	return f.asked(said)
}

// asked keeps the digest of the prompt of a request, which ends the messages of a run's beginning.
func (f *Fold) asked(said []message.Message) (err error) {
	if f.prompt = ""; len(said) > 0 && f.Header.Config.RequestID != "" && !f.lacksKey() {
		f.prompt, err = f.digests.message(lastOf(said))
	}
	return err
}

// whole returns an error for a compacted journal that ends before its snapshot. Who went on with it would
// make all anew that the snapshot had.
func (f *Fold) whole(r *Reader) error {
	if f.Header.Compacted != nil && f.State.Phase == machine.Idle {
		return r.noSnapshot()
	}
	return nil
}

// restoreDigests continues the digests of a conversation.
func (f *Fold) restoreDigests(s snapshot) error {
	for _, of := range [...]struct{ name, digest string }{{"said", s.Said}, {"cuts", cmp.Or(s.Cuts, s.Said)}} {
		if len(of.digest) != hashLen {
			return fmt.Errorf("snapshot: %s: %.64q is not a digest of %d hexadecimal digits", of.name, of.digest,
				hashLen)
		}
	}
	copy(f.digests.said[:], s.Said)
	f.digests.cuts = []byte(s.Cuts)
	return nil
}
