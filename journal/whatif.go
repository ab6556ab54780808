package journal

import (
	"fmt"
	"io"
	"time"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// WhatIf computes what recorded runs would have done under another policy, with other feedback texts, or with
// replies read differently. The zero value changes nothing.
//
// It uses the recorded outcomes in order, with the time that each took: replies, failed calls, ends of tool
// calls, answers of planners. Waits are computed again. A model is assumed to reply the same to a differently
// worded prompt, and if it is told elsewhere that it repeats itself. If the run would ask for something that
// the record does not have, the rest is unknown, and [RunOutlook].Silent says so.
type WhatIf struct {
	// Policy replaces the recorded policy; nil keeps it.
	Policy *policy.Set
	// Feedback replaces the template of the feedback; nil keeps it, and "" means the default text.
	Feedback *string
	// Reread, if not nil, reads a recorded reply again, for a run under h and set. It may return recorded,
	// which is read-only.
	Reread func(h *Header, set *policy.Set, recorded *machine.Reply) *machine.Reply
	// Model is the name of the model for prices, where the header of a run names none: a run without prices
	// and budgets does not record it.
	Model string
	// Key is the secret key of a redacted journal, or nil: see [Replay].
	Key []byte
}

// Outlook is the answer for one journal.
type Outlook struct {
	Session string       `json:"session"`
	Runs    []RunOutlook `json:"runs"`
	// Comparison is the sum of all runs.
	Comparison
	// Warnings name what the answer leaves out.
	Warnings []string `json:"warnings,omitempty"`
}

// Comparison compares the recorded totals of runs with what they would have been.
type Comparison struct {
	// Recorded are the totals of the recorded runs. Answered is the part for which the record has answers,
	// and WhatIf what the same part would have been. For a run that would have ended, Answered equals
	// Recorded.
	Recorded Totals `json:"recorded"`
	Answered Totals `json:"answered"`
	WhatIf   Totals `json:"what_if"`
}

// Change returns how much more would have been used, as far as the record answers. Negative values were
// saved.
func (c Comparison) Change() Totals { return c.WhatIf.plus(c.Answered, -1) }

// Plus returns the sum of two comparisons.
func (c Comparison) Plus(d Comparison) Comparison {
	return Comparison{c.Recorded.plus(d.Recorded, 1), c.Answered.plus(d.Answered, 1), c.WhatIf.plus(d.WhatIf, 1)}
}

// RunOutlook is the answer for one run.
type RunOutlook struct {
	// Line is the line of the run's first event.
	Line int64 `json:"line"`
	Comparison
	// RecordedEnd is how the run ended, as one sentence; empty if the journal ends first.
	RecordedEnd string `json:"recorded_end,omitempty"`
	// End is how it would have ended; empty if that is unknown.
	End string `json:"end,omitempty"`
	// RecordedOK and OK report whether these ends are a success.
	RecordedOK bool `json:"recorded_ok"`
	OK         bool `json:"ok"`
	// SameEnd reports that both ends were decided alike: the same answer, or the same reason for the same
	// failure. Their sentences may differ, as in "attempt 1 of 5" and "attempt 1 of 6".
	SameEnd bool `json:"same_end"`
	// Silent is where the record stops to answer; nil if it answers to the end.
	Silent *noAnswer `json:"silent,omitempty"`
	// First is the first decision that differs, or nil.
	First *otherDecision `json:"first,omitempty"`
	// Warnings name what the answer leaves out, and are those that the run would have had besides.
	Warnings []string `json:"warnings,omitempty"`
}

// noAnswer is where a record stops to answer.
type noAnswer struct {
	// Line and Event are those of the recorded event that does not fit; 0 if there is no further event.
	Line  int64 `json:"line,omitempty"`
	Event int64 `json:"event,omitempty"`
	// Asks is what the run would ask for, and Has what the record has instead, one sentence each.
	Asks string `json:"asks"`
	Has  string `json:"has"`
}

// String returns the silence in one line.
func (s *noAnswer) String() string {
	where := ""
	if s.Line > 0 {
		where = fmt.Sprintf(" (line %d, event %d)", s.Line, s.Event)
	}
	return fmt.Sprintf("the record no longer answers: it would %s; %s%s", s.Asks, s.Has, where)
}

// otherDecision is a decision that would have differed.
type otherDecision struct {
	// Line and Event are those of the recorded event.
	Line  int64 `json:"line"`
	Event int64 `json:"event"`
	// Was and Now are the decisions then and now, as sentences.
	Was []string `json:"was"`
	Now []string `json:"now"`
}

// Run reads a journal to its end and answers for each of its runs. The journal must replay. Errors are those
// of [Replay] and [WhatIf.Validate].
func (w WhatIf) Run(in io.Reader) (Outlook, error) {
	all, err := WhatIfs(in, w)
	return all[0], err
}

// WhatIfs is [WhatIf.Run] for several questions about one journal, which is read once, with the key of the
// first. There is an answer for each, in their order, also with an error.
func WhatIfs(in io.Reader, all ...WhatIf) ([]Outlook, error) {
	answers := make([]Outlook, len(all))
	var a asking
	for n := range all {
		if err := all[n].Validate(); err != nil {
			return answers, err
		}
		a.questions = append(a.questions, question{w: &all[n], outlook: &answers[n]})
	}
	if len(all) == 0 {
		return answers, nil
	}
	a.player = newPlayer(in, all[0].Key)
	if err := a.r.each(a.Fold, a.next); err != nil {
		return answers, err
	}
	a.close()
	for n := range answers {
		answers[n].Session = a.report.Session
	}
	return answers, nil
}

// Validate reports all faults, joined.
func (w WhatIf) Validate() error {
	cfg := machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}
	w.change(&cfg)
	_, err := machine.New(cfg, session.State{})
	return err
}

// change applies the changes to the config of a run.
func (w *WhatIf) change(cfg *machine.Config) {
	if w.Policy != nil {
		cfg.Policy = *w.Policy
	}
	if w.Feedback != nil {
		cfg.Feedback = *w.Feedback
	}
	if w.Model != "" && len(cfg.Models) == 0 {
		cfg.Models = map[string]machine.ModelInfo{"": {Name: w.Model}}
	}
}

// asking folds a journal, and drives another run for each question beside each of its runs.
type asking struct {
	*player
	questions []question
	request
	// config is that of the recorded run, which others share, or nil.
	config *machine.Compiled
}

// question is a question with its answer so far. run is the other run, or nil.
type question struct {
	w       *WhatIf
	outlook *Outlook
	run     *counterfactualRun
	// was is the config of the last run, and is what becomes of it.
	was, is *machine.Compiled
}

// config returns the config of the other run beside one with a header. of is that which the run shares.
func (q *question) config(h *Header, of *machine.Compiled) (*machine.Compiled, error) {
	if of == nil || of != q.was {
		cfg := h.Config
		q.w.change(&cfg)
		made, err := machine.Compile(&cfg)
		if err != nil {
			return nil, err
		}
		q.was, q.is = of, made
	}
	return q.is.For(h.Config.RequestID, h.Config.Deadline, h.Config.Seed), nil
}

// request is what a run waits for.
type request struct {
	// asked is the current effect, and askedAt when it was asked for.
	asked   machine.Effect
	askedAt time.Time
	// shape is the form of the conversation at that time, without nudges.
	shape shape
}

// follow takes over what was said and decided at a time, after which a run has the state st.
func (r *request) follow(st *machine.State, said []message.Message, effects []machine.Effect, at time.Time) {
	r.shape = r.shape.add(st.WithoutNudges(said, effects))
	if last := lastOf(effects); last.Kind != "" && last.Kind != machine.Decided {
		r.asked, r.askedAt = last, at
	}
}

// occurrence is a recorded event, with the state of the run before it.
type occurrence struct {
	ev           machine.Event
	line, number int64
	before       machine.State
	request
	decision Decision
}

// next takes the next line.
func (a *asking) next(e *entry) error {
	before := a.State
	if err := a.take(e); err != nil {
		return err
	}
	switch e.kind {
	case kindHeader:
		a.close()
		a.config = e.compiled
	case kindEvent:
		a.happened(&occurrence{
			ev: *a.last, line: e.line, number: a.events, before: before, request: a.request, decision: *a.undecided,
		})
	case kindSnapshot:
		for _, q := range a.questions {
			if a.Unfinished() {
				q.outlook.Warnings = append(q.outlook.Warnings,
					"of the run that was compacted nothing can be asked: its beginning is not there")
			}
		}
	}
	return nil
}

// happened passes an event to the other runs.
func (a *asking) happened(o *occurrence) {
	if o.ev.Kind == machine.Started {
		a.close()
		a.request, o.request = request{}, request{}
	}
	for n := range a.questions {
		q := &a.questions[n]
		if o.ev.Kind == machine.Started {
			q.run = q.begin(&a.Header, a.config, o)
		}
		if q.run != nil {
			q.run.take(o, &a.State)
		}
	}
	a.follow(&a.State, o.decision.Said, o.decision.Effects, o.ev.At)
}

// close ends the other runs.
func (a *asking) close() {
	for n := range a.questions {
		q := &a.questions[n]
		if q.run == nil {
			continue
		}
		run := q.run.finish()
		q.outlook.Runs = append(q.outlook.Runs, run)
		q.outlook.Comparison = q.outlook.Plus(run.Comparison)
		q.run = nil
	}
}
