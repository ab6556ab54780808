package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/report/internal/told"
)

// scan reads the runs of a journal, one after the other.
type scan struct {
	in *journal.Reader
	// begin is called with each new run, and says where its entries go.
	begin func(*run)
	run   *run
	runs  int
	// nests is set if the runs of agents are looked for.
	nests bool
	err   error
}

// all yields the runs in order, as far as the journal can be read. Afterwards err is io.EOF or the error of
// the journal.
func (s *scan) all() iter.Seq[*run] {
	return func(yield func(*run) bool) {
		for more := true; more; {
			rec, err := s.in.Next()
			if err == nil {
				err = s.sound(rec)
			}
			done := s.run
			switch {
			case err != nil:
				s.err, s.run, more = err, nil, false
				if done != nil {
					yield(s.finish(done))
				}
			case rec.Header != nil:
				s.header(rec.Header)
				more = done == nil || yield(done)
			default:
				s.run.add(s.in.Line(), rec)
			}
		}
	}
}

// fault returns the error of the journal; nil if it was read to its end.
func (s *scan) fault() error {
	if errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}

// header begins a run.
func (s *scan) header(h *journal.Header) {
	s.runs++
	h.State = nil
	before := 0
	if s.run != nil {
		before = s.run.inSession
	}
	s.run = &run{
		number: s.runs, inSession: before + 1, nests: s.nests, header: *h, line: s.in.Line(),
		landed: map[string]time.Duration{},
	}
	s.begin(s.run)
	if c := h.Compacted; c != nil {
		s.run.note("compacted: a snapshot stands for " + several.Of(c.Records, "line"))
	}
}

// finish adds a note to the last run if the last line is torn.
func (s *scan) finish(r *run) *run {
	if torn := s.in.TornBytes(); torn > 0 {
		r.line = s.in.Line() + 1
		r.note(tornText(torn))
	}
	return r
}

func tornText(bytes int64) string {
	return "the last line is torn and was not read: " + several.Of(bytes, "byte") + " without a line feed"
}

// sound returns an error for a record that cannot be shown.
func (s *scan) sound(rec journal.Record) error {
	why := ""
	switch {
	case rec.Header == nil && s.run == nil:
		why = "a journal begins with a header"
	case rec.Event != nil && rec.Event.Missing() != "":
		why = fmt.Sprintf("%q stands without its payload", string(rec.Event.Kind))
	default:
		return nil
	}
	return &journal.CorruptError{Line: s.in.Line(), Offset: s.in.Offset(), Why: why}
}

// run is what was read of one run.
type run struct {
	number int
	// inSession is the number in the session, whose earlier runs may have been compacted, and turn that of
	// the latest model call. nests is set if the runs of agents are looked for.
	inSession, turn int
	nests           bool
	header          journal.Header
	// line is the line of the record being read.
	line int64
	// begun and at are the times of the first and the latest event.
	begun, at time.Time
	// asked is the effect that the run waits for.
	asked machine.Effect
	// undecided is the kind of the latest event until the decision on it is read.
	undecided machine.EventKind
	outcome   *machine.Outcome
	totals    totals
	longest   time.Duration
	// Entries go to live if it is set, else to kept.
	kept *kept
	live func(*entry)
	// page is nil if no page is made.
	page *pager
	// tools are the tool calls under way, and ran is when they began. landed has the times of results that
	// came before their turn, by the key of the call.
	tools  []machine.ToolRun
	ran    time.Duration
	landed map[string]time.Duration
	// calling is set while a model call is under way. It began at askedAt.
	calling bool
	askedAt time.Duration
	// said is the number of messages of the conversation, and sizes has it at each model call.
	said  int
	sizes []int
	// gaps are the times in which no process may have had the run.
	gaps []gap
	// why is the error of the latest try.
	why string
	// told is the usage of the latest reply. owed is the usage since the latest attempt, and model the
	// model that was called last, if its name is known.
	told, owed message.Usage
	model      string
	// owedInside is the part of it that was consumed in calls.
	owedInside []inner
}

// gap is the time from the last line before a resumption until then.
type gap struct{ from, to time.Duration }

func (r *run) add(line int64, rec journal.Record) {
	r.line = line
	switch {
	case rec.Note != nil:
		r.noteOf(rec.Note)
	case rec.Event != nil:
		r.event(rec.Event)
	case rec.Decision != nil:
		r.undecided = ""
		r.decision(rec.Decision)
	case rec.Snapshot != nil:
		r.restore(rec.Snapshot.State, rec.Snapshot.Asked)
	}
}

// restore continues from the snapshot of a compacted journal: the state, and what was asked for then or nil.
func (r *run) restore(state json.RawMessage, asked *machine.Effect) {
	st, err := machine.Restore(state)
	if err != nil {
		r.note("the snapshot cannot be read")
		return
	}
	r.at, r.begun = st.At, st.At
	r.inSession, r.turn = st.Run, st.Turn
	r.owed, r.said = st.Owed.Usage, st.TranscriptLen()
	if asked != nil {
		r.asked = *asked
	}
	if st.Outcome != nil {
		r.enter(r.stopped(&machine.Effect{Kind: machine.Stop, Outcome: st.Outcome}))
	}
}

// time is the time since the run began.
func (r *run) time() time.Duration {
	if r.at.IsZero() {
		return 0
	}
	return r.at.Sub(r.begun)
}

// enter adds an entry at the time of the latest event.
func (r *run) enter(e entry) {
	e.Run, e.Line, e.At = r.number, r.line, r.time()
	if r.calling && e.Kind != noted {
		r.calling, e.lane, e.from, e.to = false, calls, r.askedAt, e.At
	}
	if e.asks() {
		r.calling, r.askedAt = true, e.At
	}
	if r.live != nil {
		r.live(&e)
		return
	}
	r.kept.add(e)
}

func (r *run) note(text string) { r.enter(entry{Kind: noted}.says(text)) }

// unfinished goes before what an unfinished run waits for.
const unfinished = "unfinished: "

// underWay says what an unfinished run waits for; empty if the run has ended.
func (r *run) underWay() string {
	text := ""
	switch {
	case r.undecided != "":
		text = fmt.Sprintf("the event %q came in, and what was made of it is not recorded",
			string(r.undecided))
	case r.outcome != nil:
		return ""
	case r.asked.Kind == "":
		text = "nothing was begun"
	case r.asked.Kind == machine.RunTools && len(r.tools) > 0:
		text = "runs " + listed(r.tools, func(t machine.ToolRun) string { return t.Tool })
	case r.asked.Kind == machine.WaitUntil:
		text = r.asked.String() + ", until " + r.asked.Wait.Until.UTC().Format(time.RFC3339Nano)
	default:
		text = r.asked.String()
	}
	return told.Line(text)
}
