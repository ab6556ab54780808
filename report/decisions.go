package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/told"
)

// decision adds the entries of the effects that followed the latest event.
func (r *run) decision(d *journal.Decision) {
	r.page.hear(d.Said)
	r.said += len(d.Said)
	for _, e := range d.Effects {
		if e.Kind != machine.Decided {
			r.asked = e
		}
		if enter, ok := effecting[e.Kind]; ok {
			r.enter(enter(r, &e))
		}
	}
}

// effecting has the function that makes the entry of each kind of effect.
var effecting = map[machine.EffectKind]func(*run, *machine.Effect) entry{
	machine.Decided:    (*run).decided,
	machine.CallModel:  (*run).called,
	machine.TryAction:  (*run).tries,
	machine.RunTools:   (*run).running,
	machine.WaitUntil:  (*run).waiting,
	machine.AskPlanner: plainly(consulted),
	machine.AskPerson:  plainly(asking),
	machine.AskSettled: (*run).settled,
	machine.Stop:       (*run).stopped,
}

func (r *run) called(e *machine.Effect) entry {
	r.totals.Calls++
	r.sizes = append(r.sizes, r.said)
	r.turn, r.model = e.Model.Turn, r.header.Config.Models[e.Model.Model].Name
	text := e.About()
	if e.Model.Model != "" {
		text = "model " + text
	}
	made := entry{Kind: called, shown: r.page.prompt(e.Model.System, r.totals.Calls == 1)}
	return made.says(fmt.Sprintf("%d: %s", r.totals.Calls, text))
}

func (r *run) tries(e *machine.Effect) entry {
	r.totals.Tries++
	made := entry{Kind: trying, shown: r.page.prompt("", r.totals.Tries == 1)}
	return made.says(fmt.Sprintf("%d: %s", r.totals.Tries, e.About()))
}

func (r *run) running(e *machine.Effect) entry {
	clear(r.landed)
	r.tools, r.ran = slices.Clone(e.Tools), r.time()
	made := entry{Kind: running, children: r.childrenOf(e.Tools)}
	for _, t := range e.Tools[:len(made.children)] {
		made.calls = append(made.calls, told.Brief(t.Tool, maxNames))
	}
	return made.says(e.About())
}

func (r *run) waiting(e *machine.Effect) entry {
	r.longest = max(r.longest, e.Wait.Delay)
	r.totals.Waited = backoff.Sum(r.totals.Waited, e.Wait.Delay)
	at := r.time()
	made := entry{Kind: waiting, Wait: e.Wait.Delay, lane: waits, from: at, to: at + e.Wait.Delay}
	return made.says(short(e.Wait.Delay))
}

// plainly makes the entries of effects that are told by their own words alone.
func plainly(k kind) func(*run, *machine.Effect) entry {
	return func(_ *run, e *machine.Effect) entry { return entry{Kind: k}.says(e.About()) }
}

func (r *run) settled(e *machine.Effect) entry {
	return entry{Kind: answered}.says(e.About(), e.Settled.Words)
}

func (r *run) stopped(e *machine.Effect) entry {
	r.outcome = e.Outcome
	made := entry{
		Kind: stopped, good: e.Outcome.OK, marred: marredText(e.Outcome) != "", shown: r.page.outcome(e.Outcome),
	}
	about := e.About()
	if r.page != nil {
		about = told.Outcome(e.Outcome)
	}
	return made.says(about, told.InDoubt(e.Outcome), failedText(e.Outcome),
		strings.Join(e.Outcome.Warnings, "; "))
}

// marredText says what keeps a run from having gone well although it is done; empty if nothing does.
func marredText(o *machine.Outcome) string {
	return joined("; ", told.InDoubt(o), failedWritesText(o))
}

// failedText names the calls that failed and are not in doubt; empty if there are none.
func failedText(o *machine.Outcome) string { return failuresText(o, o.ToolFailures) }

// failedWritesText is failedText without the calls of read-only tools.
func failedWritesText(o *machine.Outcome) string {
	reads := func(f machine.ToolFailure) bool { return f.ReadOnly }
	return failuresText(o, slices.DeleteFunc(slices.Clone(o.ToolFailures), reads))
}

func failuresText(o *machine.Outcome, failed []machine.ToolFailure) string {
	failed = slices.DeleteFunc(slices.Clone(failed), func(f machine.ToolFailure) bool {
		return slices.ContainsFunc(o.InDoubt, func(c machine.CallRef) bool { return c.Key == f.Key })
	})
	if len(failed) == 0 {
		return ""
	}
	return several.Of(len(failed), "call") + " failed: " +
		listed(failed, func(f machine.ToolFailure) string { return f.Tool })
}

// decided makes the entry of an attempt.
func (r *run) decided(e *machine.Effect) entry {
	d := *e.Decision
	if d.Reason == policy.ReasonNudged {
		return r.nudged(d)
	}
	made := entry{
		Kind: attempted, Decision: &d, Usage: r.owed, Cost: d.Cost, told: r.owed == r.told, model: r.model,
		inside: r.owedInside,
		Left:   leftAfter(d.Failed, r.header.Config.Policy.Budgets),
		shown:  r.page.decided(e.Decision),
	}
	r.totals.count(&d, r.owed)
	r.owed, r.owedInside = message.Usage{}, nil
	var more []string
	if refused := d.ReducerError; refused != nil {
		more = append(more, refusalText(refused))
	} else if d.Feedback != nil && r.page == nil { // a page lists the issues
		more = append(more, issuesText(d.Feedback.Issues), d.Feedback.Detail)
		made.Issues = issuesOf(d.Feedback.Issues)
	}
	if r.header.Config.Single {
		more = append(more, r.why)
	}
	if d.Cycle != nil {
		more = append(more, cycleText(d.Cycle))
	}
	d.Feedback, d.ReducerError, d.Failed = nil, nil, machine.FailedAttempts{}
	if r.page != nil {
		return made.says(joined(": ", d.Position.String(), r.named(string(d.Class))),
			append(more, verdictText(&d))...)
	}
	return made.says(attemptText(&d), append(more, verdictText(&d))...)
}

// nudged makes the entry of words about a cycle. They are about no attempt.
func (r *run) nudged(d machine.Decision) entry {
	d.Feedback = nil
	return entry{Kind: attempted, Decision: &d}.says("the model is told what it repeats", cycleText(d.Cycle))
}

// cycleText says what was repeated without progress.
func cycleText(c *machine.Cycle) string {
	if c == nil {
		return "" // a journal of another program
	}
	return fmt.Sprintf("%s, %s", c, several.Of(c.Rounds, "time"))
}

// totals are the counts of a run.
type totals struct {
	Calls  int `json:"model_calls"`
	Tries  int `json:"-"`
	Tools  int `json:"tool_runs"`
	Broken int `json:"failed_tool_runs,omitempty"`
	// Accepted counts accepted attempts. Corrected and Sent count failed ones, of the correction and the
	// transport plane.
	Accepted  int           `json:"accepted"`
	Corrected int           `json:"failed"`
	Sent      int           `json:"transport_faults"`
	Resumed   int           `json:"-"`
	Waited    time.Duration `json:"waited_ns"`
	Usage     message.Usage `json:"usage,omitzero"`
	// Cost is what the attempts cost, in the unit of a [policy.Price]. Wasted is what the failed ones
	// consumed.
	Cost   int64         `json:"cost_micros,omitempty"`
	Wasted policy.Charge `json:"wasted,omitzero"`
}

// count counts a decision on an attempt that consumed u.
func (t *totals) count(d *machine.Decision, u message.Usage) {
	if t.Cost += d.Cost; d.Class != "" {
		t.Wasted = t.Wasted.Plus(policy.Charge{Usage: u, Cost: d.Cost})
	}
	switch {
	case d.Class != "" && d.Plane == fault.Transport:
		t.Sent++
	case d.Class != "":
		t.Corrected++
	case d.Reason == policy.ReasonAccepted:
		t.Accepted++
	}
}

// String returns all totals that are not 0, on one line.
func (t *totals) String() string {
	wasted := t.Wasted.Usage.Total()
	return joined(", ",
		counted(t.Calls, "model call"), counted(t.Tries, "try"), counted(t.Tools, "tool run"),
		counted(t.Broken, "failed tool run"), counted(t.Accepted, "accepted attempt"),
		counted(t.Corrected, "failed attempt"), counted(t.Sent, "transport fault"),
		counted(t.Resumed, "resumption"),
		when(t.Waited > 0, short(t.Waited)+" waited"), usageText(t.Usage),
		when(wasted > 0, several.Grouped(wasted)+" tokens of failed attempts"),
		when(t.Cost > 0, several.Money(t.Cost)+" cost"),
		when(t.Wasted.Cost > 0, several.Money(t.Wasted.Cost)+" cost of failed attempts"))
}
