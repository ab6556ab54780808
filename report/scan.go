package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// scan reads the runs of a journal, one after the other.
type scan struct {
	in *journal.Reader
	// sink is where the entries of the run go.
	sink *kept
	// fresh makes a sink for each run; nil where one takes the entries of all.
	fresh func() *kept
	run   *run
	runs  int
	err   error
}

// next gives the next run: whole, or as far as the journal can be read. After the last it gives io.EOF, or
// what is wrong with the journal.
func (s *scan) next() (*run, error) {
	for s.err == nil {
		rec, err := s.in.Next()
		if err == nil {
			err = s.sound(rec)
		}
		done := s.run
		switch {
		case err != nil:
			s.err, s.run = err, nil
			if done != nil {
				return s.finish(done), nil
			}
		case rec.Header != nil:
			s.begin(rec.Header)
			if done != nil {
				return done, nil
			}
		default:
			s.run.add(s.in.Line(), rec)
		}
	}
	return nil, s.err
}

// begin begins a run.
func (s *scan) begin(h *journal.Header) {
	s.runs++
	if s.fresh != nil {
		s.sink = s.fresh()
	}
	h.State = nil
	s.run = &run{
		number: s.runs, header: *h, kept: s.sink,
		ledger: newLedger(h.Config.Policy), tools: map[int]machine.ToolRun{},
	}
	s.run.line = s.in.Line()
	if c := h.Compacted; c != nil {
		s.run.note("compacted: a snapshot stands for " + several.Of(c.Records, "line", "lines"))
	}
}

// finish is the last run, with what was torn.
func (s *scan) finish(r *run) *run {
	if torn := int(s.in.TornBytes()); torn > 0 {
		r.line = s.in.Line() + 1
		r.note(tornText(torn))
	}
	if !errors.Is(s.err, io.EOF) {
		r.wrong = s.err
	}
	return r
}

func tornText(bytes int) string {
	return "the last line is torn: " +
		several.Of(bytes, "byte without a line feed was not read", "bytes without a line feed were not read")
}

// sound says what keeps a record from being shown.
func (s *scan) sound(rec journal.Record) error {
	why := ""
	switch {
	case rec.Header == nil && s.run == nil:
		why = "a journal begins with a header"
	case rec.Event != nil:
		why = eventLacks(rec.Event)
	case rec.Decision != nil:
		for _, e := range rec.Decision.Effects {
			why = cmp.Or(why, effectLacks(e))
		}
	}
	if why == "" {
		return nil
	}
	return &journal.CorruptError{Line: s.in.Line(), Offset: s.in.Offset(), Why: why}
}

// eventLacks names the payload that an event's kind needs and the event lacks.
func eventLacks(ev *machine.Event) string {
	return lacks(string(ev.Kind), map[machine.EventKind]bool{
		machine.Replied: ev.Reply != nil, machine.CallFailed: ev.Failure != nil,
		machine.ToolEnded: ev.Tool != nil, machine.Tried: ev.Try != nil, machine.Planned: ev.Plan != nil,
		machine.Adjusted: ev.Adjust != nil, machine.Dispatched: ev.Reduced != nil,
	}, ev.Kind)
}

// effectLacks names the payload that an effect's kind needs and the effect lacks.
func effectLacks(e machine.Effect) string {
	return lacks(string(e.Kind), map[machine.EffectKind]bool{
		machine.Decided:   e.Decision != nil,
		machine.CallModel: e.Model != nil, machine.MakePrompt: e.Model != nil,
		machine.RunTools: e.Tools != nil, machine.TryAction: e.Try != nil, machine.WaitUntil: e.Wait != nil,
		machine.AskPlanner: e.Exhaustion != nil || e.Consultation != nil, machine.Stop: e.Outcome != nil,
	}, e.Kind)
}

func lacks[K comparable](name string, there map[K]bool, kind K) string {
	if has, known := there[kind]; known && !has {
		return fmt.Sprintf("%q stands without its payload", name)
	}
	return ""
}

// run is one run of a journal, as far as it was read.
type run struct {
	number int
	header journal.Header
	// begun and at are the times of its first and latest event.
	begun, at time.Time
	// asked is the effect that was to be carried out next; on is the kind of the latest event, undecided
	// that of an event whose decision is missing.
	asked         machine.Effect
	on, undecided machine.EventKind
	outcome       *machine.Outcome
	totals        totals
	longest       time.Duration
	wrong         error

	ledger ledger
	kept   *kept
	// line is that of the record being read.
	line int64
	// tools are the calls that are under way, by their index.
	tools map[int]machine.ToolRun
	// landed is when results came that were early, by the key of the call.
	landed map[string]time.Duration
	why    string
	// told is the usage of the latest reply.
	told message.Usage
	// said is what was added to the conversation since the model was called last, first the number of its
	// first message.
	said  []message.Message
	first int
	// unsaid counts those that were left out.
	unsaid int
	// policies are the explanations so far, by what they explain.
	policies map[string]policy.Explanation
	adjusted int
}

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
		r.restore(rec.Snapshot)
	}
}

// restore takes over a run as it stood when its journal was compacted.
func (r *run) restore(s *journal.Snapshot) {
	st, err := machine.Restore(s.State)
	if err != nil {
		r.note("the snapshot cannot be read: what is left of budgets is counted from here")
		return
	}
	r.at, r.begun = st.At, st.At
	r.ledger.restore(&st)
	r.first = st.Transcript.Len()
	r.outcome = st.Outcome
	if s.Asked != nil {
		r.asked = *s.Asked
	}
}

// enter adds an entry at the time of the latest event.
func (r *run) enter(e entry) {
	e.Run, e.Line = r.number, r.line
	if !r.at.IsZero() {
		e.At = r.at.Sub(r.begun)
	}
	if e.detail != nil && r.kept.bytes > 0 {
		e.detail.cut()
	}
	r.kept.add(e)
}

func (r *run) note(text string) { r.enter(entry{Kind: noted}.says(text)) }
