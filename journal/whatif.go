package journal

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// WhatIf asks what would have become of recorded runs under another policy, other words or another reading of
// the replies. The zero value changes nothing.
//
// The recorded outcomes are taken in their order: what the model replied or how the call failed, what became
// of each tool call, what the planner said, with the time that each took; waits are made anew, on a clock
// that is not there. It is supposed that a model that is told the same in other words says the same. Where a
// run would ask what was never asked, the record no longer answers: what follows is unknown, and
// [RunOutlook].Silent says so.
type WhatIf struct {
	// Policy takes the place of the recorded one; nil keeps that.
	Policy *policy.Set
	// Feedback takes the place of the template of the words that correct the model; nil keeps that, and empty
	// means the default words.
	Feedback *string
	// Reread, where it is not nil, reads a recorded reply again: it returns what is to be made of
	// recorded.Message in a run under h and set. What it returns may be recorded itself, which is read-only.
	Reread func(h *Header, set *policy.Set, recorded *machine.Reply) *machine.Reply
	// Prices are what tokens cost; zero for nothing.
	Prices Prices
	// Replaying says how the journal is read.
	Replaying Replaying
}

// Outlook is the answer of a [WhatIf] for one journal.
type Outlook struct {
	Session string       `json:"session"`
	Runs    []RunOutlook `json:"runs"`
	// Comparison sums up all runs.
	Comparison
	// Warnings say what is not answered.
	Warnings []string `json:"warnings,omitempty"`
}

// Comparison is what runs took as they were recorded, and what they would have taken.
type Comparison struct {
	// Recorded is what the runs took, Answered is that up to where the record answers, WhatIf what they would
	// have taken up to there. In a run that would have come to its end, Answered is Recorded.
	Recorded Totals `json:"recorded"`
	Answered Totals `json:"answered"`
	WhatIf   Totals `json:"what_if"`
}

// Change is what would have been spent more than was; what is negative was saved. It goes as far as the
// record answers.
func (c Comparison) Change() Totals { return c.WhatIf.minus(c.Answered) }

// Plus sums up two comparisons.
func (c Comparison) Plus(d Comparison) Comparison {
	return Comparison{c.Recorded.plus(d.Recorded), c.Answered.plus(d.Answered), c.WhatIf.plus(d.WhatIf)}
}

// RunOutlook is what would have become of one run.
type RunOutlook struct {
	// Line is that of the run's first event.
	Line int64 `json:"line"`
	Comparison
	// RecordedEnd is how the run ended, as one sentence; empty where the journal ends before.
	RecordedEnd string `json:"recorded_end,omitempty"`
	// End is how it would have ended; empty where the record does not say.
	End string `json:"end,omitempty"`
	// Silent is why the record no longer answers; nil where it does to the end.
	Silent *Silence `json:"silent,omitempty"`
	// First is the first decision that would have been another; nil where all would have been the same.
	First *OtherDecision `json:"first,omitempty"`
	// Warnings say what the answer leaves out of account.
	Warnings []string `json:"warnings,omitempty"`
}

// Silence is where a record no longer answers.
type Silence struct {
	// Line and Event are those of the recorded event that does not answer; 0 where the run has no further
	// event.
	Line  int64 `json:"line,omitempty"`
	Event int64 `json:"event,omitempty"`
	// Asks is what the run would ask for, Has what the record has instead, as one sentence each.
	Asks string `json:"asks"`
	Has  string `json:"has"`
}

// String says it in one line.
func (s *Silence) String() string {
	where := ""
	if s.Line > 0 {
		where = fmt.Sprintf(" (line %d, event %d)", s.Line, s.Event)
	}
	return fmt.Sprintf("the record no longer answers: it would %s; %s%s", s.Asks, s.Has, where)
}

// OtherDecision is a decision that would have been another.
type OtherDecision struct {
	// Line and Event are those of the recorded event.
	Line  int64 `json:"line"`
	Event int64 `json:"event"`
	// Was and Now are what was decided and what would have been, as sentences.
	Was []string `json:"was"`
	Now []string `json:"now"`
}

// Run reads a journal to its end and asks of each of its runs. The journal must replay: errors are those of
// [Replay], and what is wrong with the policy, the template and the prices.
func (w WhatIf) Run(in io.Reader) (Outlook, error) {
	if err := w.Validate(); err != nil {
		return Outlook{}, err
	}
	a := asking{w: &w, player: newPlayer(in, w.Replaying)}
	for {
		err := a.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return a.outlook, err
		}
	}
	a.settle()
	a.close()
	a.outlook.Session = a.report.Session
	return a.outlook, nil
}

// Validate says all that is wrong with the question, joined.
func (w WhatIf) Validate() error {
	cfg := machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}
	w.change(&cfg)
	_, err := machine.New(cfg, session.State{})
	return errors.Join(err, w.Prices.Validate())
}

// change makes the config of a run that of the question.
func (w *WhatIf) change(cfg *machine.Config) {
	if w.Policy != nil {
		cfg.Policy = *w.Policy
	}
	if w.Feedback != nil {
		cfg.Feedback = *w.Feedback
	}
}

// asking goes through a journal and drives a second run beside each that it holds.
type asking struct {
	*player
	w       *WhatIf
	outlook Outlook
	// run is the one that is driven; nil where none is.
	run *supposed
	// past is the event at hand, until the decision on it has been read.
	past *occurred
	// askedAt is when the recorded run asked for what it waits for, shape is that of all that was said by
	// then.
	askedAt time.Time
	shape   shape
}

// occurred is a recorded event, with where the run stood before it.
type occurred struct {
	ev           Event
	line, number int64
	before       machine.State
	// asked is what the run waited for, askedAt since when, shape that of all that was said by then.
	asked    machine.Effect
	askedAt  time.Time
	shape    shape
	decision Decision
}

// next reads one line.
func (a *asking) next() error {
	before, asked := a.State, a.Asked
	e, err := a.read()
	if err == nil {
		err = a.take(&e)
	}
	if err != nil {
		return err
	}
	switch e.kind {
	case kindHeader:
		a.close()
	case kindEvent:
		a.past = &occurred{
			ev: *a.last, line: e.line, number: a.events, before: before,
			asked: asked, askedAt: a.askedAt, shape: a.shape, decision: *a.open,
		}
	case kindDecision:
		a.settle()
	case kindSnapshot:
		if a.Unfinished() {
			a.outlook.Warnings = append(a.outlook.Warnings, "of the run that was compacted nothing can be asked: its beginning is not there")
		}
	}
	return nil
}

// settle deals with the event at hand.
func (a *asking) settle() {
	o := a.past
	if o == nil {
		return
	}
	a.past = nil
	if o.ev.Kind == machine.Started {
		a.close()
		a.shape, o.shape = 0, 0
		a.run = a.w.begin(&a.Header, o)
	}
	if a.run != nil {
		a.run.met(o)
	}
	a.shape = a.shape.add(o.decision.Said)
	if fx := o.decision.Effects; len(fx) > 0 && fx[len(fx)-1].Kind != machine.Decided {
		a.askedAt = o.ev.At
	}
}

// close ends the run that is driven.
func (a *asking) close() {
	if a.run == nil {
		return
	}
	run := a.run.finish()
	a.outlook.Runs = append(a.outlook.Runs, run)
	a.outlook.Comparison = a.outlook.Plus(run.Comparison)
	a.run = nil
}
