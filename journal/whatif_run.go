package journal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/policy"
)

// counterfactualRun is a run under the changes, driven by the record of another.
type counterfactualRun struct {
	w      *WhatIf
	header *Header
	out    RunOutlook
	st     machine.State
	// before is the recorded run before it began: st has forgotten the conversation until then.
	before machine.State
	request
	// end and recordedEnd are how the run and the recorded one ended, in a form that can be compared.
	end, recordedEnd string
	// warned are the warnings of the recorded run.
	warned []string
}

// begin begins the second run at the start of a recorded one.
func (q *question) begin(h *Header, of *machine.Compiled, o *occurrence) *counterfactualRun {
	r := &counterfactualRun{w: q.w, header: h, out: RunOutlook{Line: o.line}}
	compiled, err := q.config(h, of)
	if err != nil {
		r.out.Silent = &noAnswer{Asks: "begin", Has: "its config is refused: " + err.Error()}
		return r
	}
	cfg, st := compiled.Config(), compiled.New(o.before.Session)
	st.Run, st.Opened, st.At = o.before.Run, o.before.Opened, o.before.At
	st.GoOn(&o.before)
	st.Forget(strings.Contains(cfg.System, "{{")) // else the first message would copy the conversation
	r.st, r.before = st, o.before
	r.out.Warnings = q.w.leftOut(h)
	if cfg.Policy.Spending.Costs() && !h.Config.Policy.Meters() && len(cfg.Models) == 0 {
		r.out.Silent = &noAnswer{Asks: "price its model", Has: "the record does not name it: say its name (-model)"}
	}
	return r
}

// leftOut names the changes that have no effect on a run.
func (w *WhatIf) leftOut(h *Header) []string {
	var all []string
	if w.Reread != nil && h.Redaction != nil {
		all = append(all, "replies are not read again: parts of them were left out of the journal")
	}
	if w.Reread != nil || w.Policy == nil {
		return all
	}
	now := Header{Config: h.Config}
	now.Config.Policy = *w.Policy
	for _, of := range targetsOf(h, &now) {
		was, is := h.Config.Policy.Policy(of), w.Policy.Policy(of)
		for _, f := range []struct {
			name string
			same bool
		}{
			{"text_repairs", was.TextRepairs == is.TextRepairs},
			{"native_repairs", was.NativeRepairs == is.NativeRepairs},
			{"forms_off", slices.Equal(was.FormsOff, is.FormsOff)},
		} {
			if !f.same {
				all = append(all, fmt.Sprintf("%s of %s has no effect: replies are taken as they were read", f.name,
					policyName(of.String())))
			}
		}
	}
	return all
}

// live reports whether the run goes on and the record still answers.
func (r *counterfactualRun) live() bool { return r.out.Silent == nil && r.st.Phase != machine.Stopped }

// take takes the next recorded event, after which the recorded run has the state after.
func (r *counterfactualRun) take(o *occurrence, after *machine.State) {
	if r.live() {
		r.feed(o)
	}
	r.out.Recorded.add(&o.ev, o.decision.Effects, &o.request, after)
	r.warned = after.Warnings
	if r.live() {
		r.out.Answered = r.out.Recorded
	}
	if last := lastOf(o.decision.Effects); last.Outcome != nil {
		r.out.RecordedOK, r.out.RecordedEnd = last.Outcome.OK, last.String()
		r.recordedEnd = endOf(last.Outcome)
	}
}

// feed steps the run with an event that answers its request.
func (r *counterfactualRun) feed(o *occurrence) {
	if o.asked.Kind == machine.AskPerson && r.asked.Kind == machine.AskPerson && o.ev.Kind == machine.Woke {
		r.nobodyAnswers(o)
		return
	}
	if o.ev.Kind == machine.Woke || o.ev.Kind == machine.ReducersRan && r.asked.Kind != machine.Reduce ||
		o.ev.Kind == machine.Responded && r.asked.Kind != machine.AskPerson {
		return // waits are computed again; reductions and answers without a request are dropped
	}
	if o.asked.Kind != machine.WaitUntil {
		r.wake(o)
	}
	if asked := remade[o.ev.Kind]; !r.live() || asked != "" && r.asked.Kind != asked {
		return // the run has no need of it
	}
	ev, ok := r.answer(o)
	switch {
	case ok:
		r.step(ev, o)
	case o.ev.Kind != machine.ToolEnded:
		r.silence(o, "the record says: "+eventText(&o.ev))
	}
}

// remade are the events that are made anew where the record has none, and the requests that they answer.
var remade = map[machine.EventKind]machine.EffectKind{
	machine.Estimated: machine.EstimateCall, machine.Shortened: machine.Shorten,
	machine.Granted: machine.AskGrant,
}

// nobodyAnswers ends the questions that nobody answers, at the deadline that they have now.
func (r *counterfactualRun) nobodyAnswers(o *occurrence) {
	until := machine.AskedUntil(r.asked.Asks)
	if until.IsZero() {
		r.silence(o, "nobody answered in time, and now the question has no deadline")
		return
	}
	r.step(machine.Event{Kind: machine.Woke, At: until}, nil)
}

// responded returns a recorded answer for the question of the run that asks the same.
func (r *counterfactualRun) responded(o *occurrence) (ev machine.Event, ok bool) {
	ev = o.ev
	for _, was := range o.asked.Asks {
		for _, is := range r.asked.Asks {
			if was.ID == o.ev.Response.Question && was.Kind == is.Kind && was.Tool == is.Tool &&
				was.Index == is.Index && bytes.Equal(was.Arguments, is.Arguments) {
				ev.Response = new(*ev.Response)
				ev.Response.Question = is.ID
				return ev, true
			}
		}
	}
	return ev, false
}

// wake ends the waits before the run's next request, grants it, and skips notices for which the record has no
// reductions.
func (r *counterfactualRun) wake(o *occurrence) {
	for r.live() && remade[o.ev.Kind] != r.asked.Kind {
		ev := machine.Event{At: r.askedAt}
		switch r.asked.Kind {
		case machine.WaitUntil:
			ev.Kind, ev.At = machine.Woke, r.asked.Wait.Until
		case machine.AskGrant:
			ev.Kind, ev.Grant = machine.Granted, &machine.Grant{Turn: r.asked.Grant.Turn + 1}
		case machine.EstimateCall:
			ev.Kind, ev.Tokens = machine.Estimated, r.whole().EstimateAdded()
		case machine.Shorten:
			ev.Kind, ev.Cut = machine.Shortened, new(r.whole().PlanCuts())
		case machine.Reduce:
			if o.ev.Kind == machine.ReducersRan && len(o.ev.Reductions) == len(r.st.Notices) {
				return
			}
			ev.Kind, ev.Reductions = machine.ReducersRan, make([]machine.Reduced, len(r.st.Notices))
		default:
			return
		}
		r.step(ev, nil)
	}
}

// whole returns the state with all of the conversation.
func (r *counterfactualRun) whole() *machine.State {
	st, said := r.st, r.before.TranscriptLen()
	turns := append(r.before.Kept().Turns, st.Kept().Turns...)
	st.Continue(append(r.before.Transcript(), st.TranscriptFrom(said)...), &projection.Kept{Turns: turns, Cuts: st.Cuts})
	return &st
}

// answer returns the event as the run takes it; ok is false if it answers another request.
func (r *counterfactualRun) answer(o *occurrence) (ev machine.Event, ok bool) {
	ev = o.ev
	switch {
	case ev.Kind == machine.Started || ev.Kind == machine.Adjusted || ev.Kind == machine.Dispatched ||
		ev.Kind == machine.Spoken:
		return ev, true
	case o.asked.Kind != r.asked.Kind || o.shape != r.shape:
		return ev, false
	}
	switch ev.Kind {
	case machine.Cancelled, machine.Broken, machine.Granted:
		return ev, true
	case machine.Tried:
		was, is := o.asked.Try, r.asked.Try
		return ev, was.Attempt == is.Attempt && was.Transport == is.Transport
	case machine.Responded:
		return r.responded(o)
	case machine.Planned:
		return ev, sameQuestion(&o.asked, &r.asked)
	case machine.ToolEnded:
		return ev, r.expects(o)
	case machine.Replied:
		ev.Reply = r.reread(ev.Reply)
	}
	return ev, r.asked.Model != nil && sameCall(o.asked.Model, r.asked.Model)
}

// sameCall reports whether two model calls are equal except for their texts and limits.
func sameCall(a, b *machine.ModelCall) bool {
	return a.Turn == b.Turn && a.Transport == b.Transport && a.Model == b.Model &&
		slices.EqualFunc(a.At, b.At, sameAttempt)
}

func sameAttempt(a, b machine.Position) bool { return a.Action == b.Action && a.Attempt == b.Attempt }

// sameQuestion reports whether a planner is asked the same.
func sameQuestion(a, b *machine.Effect) bool {
	x, y := a.Question, b.Question
	switch {
	case x == nil || y == nil || x.Exhausted != y.Exhausted || !sameAttempt(x.Position, y.Position):
		return false
	case x.Exhausted:
		return x.Plane == y.Plane && x.Reason == y.Reason
	}
	return x.Failure.Class == y.Failure.Class
}

// expects reports whether a tool's outcome is that of the next call. Outcomes of calls that the run does not
// make are skipped.
func (r *counterfactualRun) expects(o *occurrence) bool {
	next := callOf(r.asked.Tools, r.st.Batch.Cursor)
	was := callOf(o.asked.Tools, o.ev.Tool.Index)
	return next != nil && was != nil && next.Index == was.Index && next.Tool == was.Tool &&
		next.Transport == was.Transport && bytes.Equal(next.Arguments, was.Arguments)
}

func callOf(runs []machine.ToolRun, index int) *machine.ToolRun {
	for n := range runs {
		if runs[n].Index == index {
			return &runs[n]
		}
	}
	return nil
}

// reread reads a reply again. The results of reducers for an answer are kept.
func (r *counterfactualRun) reread(was *machine.Reply) *machine.Reply {
	if r.w.Reread == nil || r.header.Redaction != nil {
		return was
	}
	now := r.w.Reread(r.header, r.st.Policy, was)
	if now == nil {
		return was
	}
	if was.Answer == nil || now.Answer == nil || len(now.Answer.Issues) > 0 {
		return now
	}
	if bytes.Equal(was.Answer.Value, now.Answer.Value) && len(was.Answer.Issues) == 0 {
		return was
	}
	if len(r.st.Session.Slices()) > 0 {
		r.out.Warnings = append(r.out.Warnings, "an answer is accepted that was not: no reducer has seen it")
	}
	return now
}

// step steps the run. o is the recorded event behind ev, whose decision is compared, or nil.
func (r *counterfactualRun) step(ev machine.Event, o *occurrence) {
	if o != nil && ev.Kind != machine.Started {
		ev.At = r.askedAt.Add(o.ev.At.Sub(o.askedAt))
	}
	if ev.At.Before(r.st.At) {
		ev.At = r.st.At
	}
	said := r.st.TranscriptLen()
	effects, err := machine.Step(&r.st, &ev)
	if err != nil {
		r.silence(o, "what was recorded does not fit: "+err.Error())
		return
	}
	r.out.WhatIf.add(&ev, effects, &r.request, &r.st)
	if o != nil {
		r.compare(o, effects)
	}
	r.follow(&r.st, r.st.TranscriptFrom(said), effects, ev.At)
	if o := r.st.Outcome; r.st.Phase == machine.Stopped {
		r.out.OK = o.OK
		r.out.End, r.end = r.asked.String(), endOf(o)
	}
}

// The warnings if the model would not have been told what was wrong, or that it repeats itself at another
// round.
const (
	untold = "the model would not have been told what was wrong, but is assumed to have replied the same"
	nudged = "the model would have been told elsewhere that it repeats itself, but is assumed to have replied " +
		"the same"
)

// compare keeps the first decision that differs.
func (r *counterfactualRun) compare(o *occurrence, effects []machine.Effect) {
	was, now := tellings(o.decision.Effects), tellings(effects)
	r.warn(untold, was.wrong && !now.wrong)
	r.warn(nudged, was.nudge != now.nudge)
	if r.out.First != nil {
		return
	}
	then, a := decisionsOf(o.decision.Effects)
	today, b := decisionsOf(effects)
	if a != b {
		r.out.First = &otherDecision{Line: o.line, Event: o.number, Was: then, Now: today}
	}
}

// warn adds a warning once, unless the run is over.
func (r *counterfactualRun) warn(text string, is bool) {
	if is && r.live() && !slices.Contains(r.out.Warnings, text) {
		r.out.Warnings = append(r.out.Warnings, text)
	}
}

// telling is what the model is told: that something was wrong, or that it repeats itself.
type telling struct{ wrong, nudge bool }

func tellings(effects []machine.Effect) (all telling) {
	for _, e := range effects {
		if d := e.Decision; d != nil && d.Feedback != nil {
			isNudge := d.Reason == policy.ReasonNudged
			all.nudge, all.wrong = all.nudge || isNudge, all.wrong || !isNudge
		}
	}
	return all
}

// silence records that the record no longer answers what the run asks for.
func (r *counterfactualRun) silence(o *occurrence, has string) {
	r.out.Silent = &noAnswer{Asks: r.asked.String(), Has: has}
	if o != nil {
		r.out.Silent.Line, r.out.Silent.Event = o.line, o.number
	}
}

// finish ends the run where the record ends.
func (r *counterfactualRun) finish() RunOutlook {
	r.wake(&occurrence{})
	if r.live() {
		has := "the recorded run had ended: " + r.out.RecordedEnd
		if r.out.RecordedEnd == "" {
			has = "the record ends here, before the run does"
		}
		r.silence(nil, has)
	}
	if r.out.Silent == nil {
		r.out.Answered = r.out.Recorded
	}
	r.out.SameEnd = r.out.Silent == nil && r.end == r.recordedEnd
	for _, text := range r.st.Warnings {
		if !slices.Contains(r.warned, text) {
			r.out.Warnings = append(r.out.Warnings, text)
		}
	}
	return r.out
}
