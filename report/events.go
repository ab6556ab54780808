package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/told"
)

// event adds the entry of an event. The decision on it follows.
func (r *run) event(ev *machine.Event) {
	if r.undecided != "" {
		r.note(fmt.Sprintf("what was made of the event %q is not recorded", string(r.undecided)))
	}
	r.at, r.undecided, r.why = ev.At, ev.Kind, ""
	if r.begun.IsZero() {
		r.begun = ev.At
	}
	if enter, ok := entering[ev.Kind]; ok {
		if e := enter(r, ev); e.Kind != "" {
			r.enter(e)
		}
	}
}

// entering has the function that makes the entry of each kind of event. An entry without a kind is dropped.
var entering = map[machine.EventKind]func(*run, *machine.Event) entry{
	machine.Started:     (*run).started,
	machine.Granted:     (*run).granted,
	machine.Replied:     (*run).replied,
	machine.CallFailed:  (*run).callFailed,
	machine.ToolEnded:   (*run).toolEnded,
	machine.Tried:       (*run).tried,
	machine.Planned:     (*run).planned,
	machine.Adjusted:    (*run).adjusted,
	machine.Spoken:      (*run).spoken,
	machine.Dispatched:  (*run).dispatched,
	machine.ReducersRan: (*run).reducersRan,
	machine.Shortened:   (*run).shortened,
	machine.Summarised:  (*run).summarised,
	machine.Cancelled:   (*run).cancelled,
	machine.Broken:      (*run).broken,
}

func (r *run) started(ev *machine.Event) entry {
	if len(ev.Messages) == 0 {
		return entry{}
	}
	last := &ev.Messages[len(ev.Messages)-1]
	text := fmt.Sprintf("the %s says: ", last.Role)
	if n := len(ev.Messages); n > 1 {
		text = fmt.Sprintf("%s, the last from the %s: ", several.Of(n, "message"), last.Role)
	}
	e := entry{Kind: started, shown: r.page.request(messageText(last))}
	return e.says(text + messageText(last))
}

// messageText returns the text of a message and the names of its media.
func messageText(m *message.Message) string { return joined("\n", m.Text, partsText(m.Parts)) }

// partsText names media: "[image, image/png, 67 bytes]".
func partsText(parts []message.Part) string { return listed(parts, message.Part.String) }

// granted tells a wait for the limiter, a probe and a denial; a grant at once is no news.
func (r *run) granted(ev *machine.Event) entry {
	g := ev.Grant
	if g.Denied == "" && g.Waited == 0 && !g.Probe {
		return entry{}
	}
	return entry{Kind: waiting}.says("limiter: " + g.String() + bracketed(g.Scope))
}

func (r *run) replied(ev *machine.Event) entry {
	m := &ev.Reply.Message
	r.spend(m.Usage)
	r.told, r.model = m.Usage, told.Brief(cmp.Or(m.Model, r.model), maxNames)
	calls := callsText(ev.Reply)
	origin := bracketed(after("from ", m.Model), after("finish ", r.named(string(m.Finish))))
	refusal := after("refused: ", told.Brief(m.Refusal, maxShown))
	text := cmp.Or(calls, refusal, told.Brief(m.Text, maxShown), "nothing")
	var repairs []string
	for _, c := range ev.Reply.Calls {
		repairs = append(repairs, after(c.Tool+" ", repairsText(c.Repairs)))
	}
	if a := ev.Reply.Answer; a != nil {
		repairs = append(repairs, repairsText(a.Repairs))
	}
	e := entry{Kind: replied, Usage: m.Usage}.says(text+origin, repairs...)
	if e.shown = r.page.reply(ev.Reply); e.shown != nil && len(e.shown.Texts) > 0 {
		kind := "text"
		if m.Refusal != "" {
			kind = "refusal"
		}
		e.Text = told.Line(joined(", ", kind, calls) + origin) // the page shows the text itself
	}
	return e
}

// callsText names the calls of a reply; empty if it has none.
func callsText(r *machine.Reply) string {
	n, names := len(r.Calls), listed(r.Calls, func(c machine.Call) string { return c.Tool })
	if n == 0 {
		n, names = len(r.Message.Calls),
			listed(r.Message.Calls, func(c message.Call) string { return c.Name })
	}
	return after(several.Of(n, "call")+": ", names)
}

// maxShown is the most characters of a reply that a line shows.
const maxShown = 200

func (r *run) callFailed(ev *machine.Event) entry {
	r.why = failureText(ev.Failure)
	return entry{Kind: replied, bad: true}.says("failed: " +
		r.named(string(ev.Failure.Class)) + bracketed(r.why))
}

func (r *run) tried(ev *machine.Event) entry {
	r.spend(ev.Try.Usage)
	r.why = failureText(&ev.Try.Failure)
	return entry{}
}

// inner is what models consumed in a call: the runs of an agent, or those of a tool's own code.
type inner struct {
	tool, child string
	took        time.Duration
	policy.Charge
}

// inside counts what models consumed in a call.
func (r *run) inside(call machine.ToolRun, end *machine.ToolEnd) {
	r.spend(end.Usage)
	c := inner{tool: call.Tool, took: r.time() - r.ran, Charge: policy.Charge{Usage: end.Usage}}
	if end.Cost != nil {
		c.Cost = *end.Cost
	}
	if c.Charge == (policy.Charge{}) {
		return
	}
	if ids := r.childrenOf([]machine.ToolRun{call}); len(ids) > 0 {
		c.child = ids[0]
	}
	r.owedInside = append(r.owedInside, c)
}

func (r *run) spend(u message.Usage) {
	r.totals.Usage, r.owed = r.totals.Usage.Add(u), r.owed.Add(u)
}

// verdicts say how a tool call without a result ended.
var verdicts = map[machine.Verdict]string{
	machine.AskAgain: " asks again", machine.Failed: " failed for good", machine.Broke: " broke",
	machine.TryLater: " asks to be tried later", machine.Unknown: " began, and its outcome is not known",
	machine.Denied: " was not run: a person refused it",
}

// partlyDone says that a call which ended by itself has left something in doubt.
const partlyDone = "something it did may or may not have happened"

func (r *run) toolEnded(ev *machine.Event) entry {
	t := ev.Tool
	var was machine.ToolRun
	if at := slices.IndexFunc(r.tools,
		func(run machine.ToolRun) bool { return run.Index == t.Index }); at >= 0 {
		was = r.tools[at]
		r.tools = slices.Delete(r.tools, at, at+1)
	}
	r.totals.Tools++
	r.inside(was, t)
	e := entry{Kind: ended, lane: tools, from: r.ran, to: cmp.Or(r.landed[was.Key], r.time())}
	e.bad = !slices.Contains([]machine.Verdict{machine.Done, machine.AskAgain, machine.Denied}, t.Verdict)
	text := cmp.Or(was.Tool, fmt.Sprint("call ", t.Index)) + verdicts[t.Verdict]
	more := []string{issuesText(t.Issues)}
	switch {
	case t.Verdict == machine.Done:
		text += ": " + joined(", ", "result of "+sizeText(len(t.Result)), partsText(t.Parts))
		if t.Reduced != nil && len(t.Reduced.Ops) > 0 {
			text += ", " + several.Of(len(t.Reduced.Ops), "state update")
		}
	case t.Failure != nil:
		text, more = text+": "+r.named(string(t.Failure.Class)), []string{failureText(t.Failure)}
	default:
		text += after(": ", t.Text)
	}
	e.ran = t.Verdict != machine.Unknown
	if !e.ran || t.InDoubt && !was.ReadOnly {
		e.doubt = was.Key
	}
	if e.ran && e.doubt != "" {
		text += "; " + partlyDone
	}
	if e.bad {
		r.totals.Broken++
	}
	e.shown = r.page.toolEnd(was.Tool, string(was.Arguments), t)
	return e.says(text, more...)
}

func (r *run) planned(ev *machine.Event) entry {
	p := ev.Plan
	another := ""
	if p.Policy != nil {
		another = "another policy: " + layerText(p.Policy)
	}
	text := joined(", ", string(p.Do), after("model ", p.Model), when(p.Delay > 0, "after "+p.Delay.String()),
		another, when(p.ResetBudgets && p.Do == machine.Fallback, "budgets anew"), after("prompt: ", p.Prompt))
	return entry{Kind: planned}.says(text, p.Note, p.Warning)
}

func (r *run) adjusted(ev *machine.Event) entry {
	return entry{Kind: adjusted}.says("adjusted: " + layerText(ev.Adjust))
}

// spoken returns the entry of what a user said to the run.
func (r *run) spoken(ev *machine.Event) entry {
	w := &ev.Said.Words
	text := cmp.Or(w.By, "the user") + " says" + when(w.Reset, ", and begins the attempts anew") +
		when(w.Stop, ", and stops what is under way")
	return entry{Kind: said, stands: true}.says(text + ": " + w.Text)
}

// layerText returns a layer as JSON.
func layerText(l *policy.Layer) string {
	text, err := l.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (r *run) dispatched(ev *machine.Event) entry {
	return reductions([]machine.Reduced{*ev.Reduced})
}

func (r *run) reducersRan(ev *machine.Event) entry { return reductions(ev.Reductions) }

// reductions makes the entry of what reducers did.
func reductions(all []machine.Reduced) entry {
	updates, texts := 0, []string{""}
	for _, one := range all {
		updates += len(one.Ops)
		if one.Error != nil {
			texts = append(texts, refusalText(one.Error))
		}
	}
	if updates > 0 || len(texts) == 1 {
		texts[0] = several.Of(updates, "state update")
	}
	return entry{Kind: reduced}.says(joined(", ", texts...))
}

func (r *run) cancelled(ev *machine.Event) entry {
	if f := ev.Failure; f != nil && f.Class == fault.DeadlineExceeded {
		return entry{Kind: cancelled}.says("the time is up")
	}
	return entry{Kind: cancelled}.says("the caller gave up")
}

func (r *run) broken(*machine.Event) entry {
	return entry{Kind: broken}.says("the run could not continue")
}

// noteOf adds the entry of a note, at the time of the note.
func (r *run) noteOf(n *journal.Note) {
	if n.Kind == journal.ToolBegan || n.Kind == journal.AskForm {
		return // the entry before names the tools, and what is asked
	}
	at, began := r.at, r.time()
	if n.At.After(r.at) {
		r.at = n.At
	}
	if n.Kind == journal.Resumed {
		r.gaps = append(r.gaps, gap{began, r.time()})
	}
	e := entry{Kind: noted, stands: n.Kind == journal.Resumed || n.Kind == journal.Torn ||
		n.Kind == journal.MaybePaid ||
		n.Kind == journal.Undelivered}
	r.enter(e.says(r.noteText(n)))
	r.at = at
}

func (r *run) noteText(n *journal.Note) string {
	switch n.Kind {
	case journal.ResultLanded:
		return r.early(n)
	case journal.Progressed:
		return fmt.Sprintf("%s reports %s", n.Tool, n.Progress)
	case journal.Resumed:
		r.totals.Resumed++
		if was := underWay[n.Resumed]; r.page != nil && was != "" {
			return "taken up again: " + was
		}
		return fmt.Sprintf("taken up again, at %s", n.Resumed)
	case journal.Torn:
		text := fmt.Sprintf("the last line had been torn: %s are kept aside", sizeText(len(n.Torn)))
		return joined("; ", text, n.Text)
	case journal.Undelivered:
		return n.Text
	case journal.MaybePaid:
		return "a model call's outcome was lost, and it may have been paid for: " + n.Text
	}
	return string(n.Kind) + " " + n.Text
}

// underWay says what a resumed run had begun.
var underWay = map[machine.EffectKind]string{
	machine.CallModel: "a model call was under way", machine.RunTools: "tool calls were under way",
	machine.WaitUntil: "it waited", machine.AskGrant: "it waited for the limiter",
	machine.TryAction: "a try was under way", machine.AskPlanner: "the planner was asked",
	machine.Summarise: "a summary was under way",
}

// named returns a name of the API: in plain words on a page.
func (r *run) named(name string) string {
	if r.page != nil {
		return told.Words(name)
	}
	return name
}

// early records a result that came before its turn.
func (r *run) early(l *journal.Note) string {
	name := "a call"
	for _, t := range r.tools {
		if t.Key == l.Key {
			r.landed[l.Key], name = r.time(), fmt.Sprintf("%s (call %d)", t.Tool, t.Index+1)
		}
	}
	return fmt.Sprintf("%s landed before its turn: %s", name, l.End.Verdict)
}
