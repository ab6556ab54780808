package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// event enters what came in. What it led to follows with its decision.
func (r *run) event(ev *machine.Event) {
	if r.undecided != "" {
		r.note(fmt.Sprintf("what was made of the event %q is not recorded", string(r.undecided)))
	}
	r.at, r.on, r.undecided, r.why = ev.At, ev.Kind, ev.Kind, ""
	if r.begun.IsZero() {
		r.begun = ev.At
	}
	if enter, ok := entering[ev.Kind]; ok {
		e := enter(r, ev)
		if e.Kind == "" {
			return
		}
		if e.detail == nil {
			e.detail = &detail{}
		}
		e.detail.event = *ev
		r.enter(e)
	}
}

// entering makes an entry of an event; one without a kind is not entered.
var entering = map[machine.EventKind]func(*run, *machine.Event) entry{
	machine.Started:     (*run).started,
	machine.Replied:     (*run).replied,
	machine.CallFailed:  (*run).callFailed,
	machine.ToolEnded:   (*run).toolEnded,
	machine.Tried:       (*run).tried,
	machine.Planned:     (*run).planned,
	machine.Adjusted:    (*run).adjust,
	machine.Dispatched:  (*run).dispatched,
	machine.ReducersRan: (*run).reducersRan,
	machine.Cancelled:   (*run).cancelled,
}

func (r *run) started(ev *machine.Event) entry {
	if len(ev.Messages) == 0 {
		return entry{}
	}
	last := ev.Messages[len(ev.Messages)-1]
	text := fmt.Sprintf("%s, the last of them from the %s: ", many(len(ev.Messages), "message"), last.Role)
	return entry{Kind: started}.says(text + last.Text)
}

func (r *run) replied(ev *machine.Event) entry {
	m := ev.Reply.Message
	r.spend(m.Usage)
	r.totals.Replies++
	r.told = m.Usage
	text := cmp.Or(callsText(ev.Reply), shownText(&m)) + bracketed(originText(&m))
	return entry{Kind: replied, Usage: m.Usage}.says(text)
}

// originText says which model replied, and why it ended.
func originText(m *message.Reply) string {
	var parts []string
	if m.Model != "" {
		parts = append(parts, "from "+m.Model)
	}
	if m.Finish != "" {
		parts = append(parts, "finish "+string(m.Finish))
	}
	return strings.Join(parts, ", ")
}

// replyNote says what a reply holds, without its text.
func replyNote(r *machine.Reply) string {
	kind := "text"
	if r.Message.Refusal != "" {
		kind = "refusal"
	}
	return line(strings.TrimSuffix(kind+", "+callsText(r), ", ") + bracketed(originText(&r.Message)))
}

// callsText names the calls of a reply; empty where it has none.
func callsText(r *machine.Reply) string {
	names := make([]string, len(r.Calls))
	for n, c := range r.Calls {
		names[n] = c.Tool
	}
	if len(r.Calls) == 0 {
		for _, c := range r.Message.Calls {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return many(len(names), "call") + ": " + strings.Join(names, ", ")
}

// maxShown is how many characters of a reply a line shows.
const maxShown = 200

// shownText is the beginning of a reply's text.
func shownText(m *message.Reply) string {
	if m.Refusal != "" {
		return "refused: " + clip(line(m.Refusal), maxShown)
	}
	return cmp.Or(clip(line(m.Text), maxShown), "nothing")
}

func (r *run) callFailed(ev *machine.Event) entry {
	r.why = failureText(ev.Failure)
	return entry{Kind: replied, bad: true}.says("failed: " + string(ev.Failure.Class) + bracketed(r.why))
}

func (r *run) tried(ev *machine.Event) entry {
	r.spend(ev.Try.Usage)
	r.why = failureText(&ev.Try.Failure)
	return entry{}
}

func (r *run) spend(u message.Usage) {
	r.totals.Usage = r.totals.Usage.Add(u)
	r.ledger.owed = r.ledger.owed.Add(u)
}

// failureText is what an operator is told of a failure.
func failureText(f *fault.Failure) string {
	text := f.Message
	if f.RetryAfter > 0 {
		text = strings.TrimPrefix(text+"; the server asks for "+f.RetryAfter.String(), "; ")
	}
	return text
}

func (r *run) toolEnded(ev *machine.Event) entry {
	t := ev.Tool
	was := r.tools[t.Index]
	delete(r.tools, t.Index)
	r.totals.Tools++
	e := entry{Kind: ended, detail: &detail{run: was, landed: r.landed[was.Key]}}
	name := cmp.Or(was.Tool, fmt.Sprint("call ", t.Index))
	switch t.Verdict {
	case machine.Done:
		text := fmt.Sprintf("%s: result of %s", name, sizeText(len(t.Result)))
		if t.Reduced != nil && len(t.Reduced.Ops) > 0 {
			text += ", " + many(len(t.Reduced.Ops), "state update")
		}
		return e.says(text)
	case machine.AskAgain:
		return e.says(name+" asks again", issuesText(t.Issues))
	case machine.Failed:
		e.bad = true
		return e.says(name + " failed for good: " + t.Text)
	}
	e.bad = true
	how := " broke"
	if words, ok := lostWords[t.Verdict]; ok {
		how = words
	}
	if t.Failure == nil {
		return e.says(name + how)
	}
	return e.says(name+how+": "+string(t.Failure.Class), failureText(t.Failure))
}

// lostWords say how calls ended that did not break and have no result.
var lostWords = map[machine.Verdict]string{
	machine.TryLater: " asks to be tried later", machine.Unknown: " began, and its outcome is not known",
}

func (r *run) planned(ev *machine.Event) entry {
	p := ev.Plan
	r.ledger.adopt(p)
	if p.Policy != nil {
		r.adjusted++
	}
	parts := []string{string(p.Do)}
	if p.Model != "" {
		parts = append(parts, "model "+p.Model)
	}
	if p.Delay > 0 {
		parts = append(parts, "after "+p.Delay.String())
	}
	if p.Policy != nil {
		parts = append(parts, "another policy")
	}
	if p.ResetBudgets {
		parts = append(parts, "budgets anew")
	}
	if p.Prompt != "" {
		parts = append(parts, "prompt: "+p.Prompt)
	}
	return entry{Kind: planned}.says(strings.Join(parts, ", "), p.Note, p.Warning)
}

func (r *run) adjust(ev *machine.Event) entry {
	r.ledger.set = policy.Fold(r.ledger.set, *ev.Adjust)
	r.adjusted++
	return entry{Kind: adjusted}.says("adjusted: " + layerText(*ev.Adjust))
}

// layerText is what a layer says, as its JSON.
func layerText(l policy.Layer) string {
	text, err := l.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (r *run) dispatched(ev *machine.Event) entry {
	if e := ev.Reduced.Error; e != nil {
		return entry{Kind: reduced}.says(fmt.Sprintf("reducer %s refused: %s", e.Reducer, e.Message))
	}
	return entry{Kind: reduced}.says(many(len(ev.Reduced.Ops), "state update"))
}

func (r *run) reducersRan(ev *machine.Event) entry {
	updates, refused := 0, ""
	for _, one := range ev.Reductions {
		updates += len(one.Ops)
		if e := one.Error; e != nil {
			refused += fmt.Sprintf(", reducer %s refused: %s", e.Reducer, e.Message)
		}
	}
	return entry{Kind: reduced}.says(many(updates, "state update") + refused)
}

func (r *run) cancelled(ev *machine.Event) entry {
	if f := ev.Failure; f != nil && f.Class == fault.DeadlineExceeded {
		return entry{Kind: cancelled}.says("the time is up")
	}
	return entry{Kind: cancelled}.says("the caller gave up")
}

// noteOf enters what happened beside the run, at its own time.
func (r *run) noteOf(n *journal.Note) {
	if n.Began != nil {
		return // the line before says what is run
	}
	at := r.at
	if n.At.After(r.at) {
		r.at = n.At
	}
	r.note(r.noteText(n))
	r.at = at
}

func (r *run) noteText(n *journal.Note) string {
	switch {
	case n.Landed != nil:
		r.land(n.Landed.Key)
		return fmt.Sprintf("%s landed before its turn: %s", r.toolOf(n.Landed.Key), n.Landed.End.Verdict)
	case n.Progress != nil:
		return fmt.Sprintf("%s reports %s", n.Progress.Tool, n.Progress.Progress)
	case n.Kind == journal.Resumed:
		r.totals.Resumed++
		return fmt.Sprintf("taken up again, at %s", n.Resumed)
	case n.Kind == journal.Torn:
		text := fmt.Sprintf("the last line had been torn: %s are kept aside; %s", sizeText(len(n.Torn)), n.Text)
		return strings.TrimSuffix(text, "; ")
	case n.Kind == journal.MaybePaid:
		return "a model call's outcome was lost, and it may have been paid for: " + n.Text
	}
	return string(n.Kind) + " " + n.Text
}

// land keeps when a result came, for the calls that are under way.
func (r *run) land(key string) {
	if r.landed == nil {
		r.landed = map[string]time.Duration{}
	}
	if len(r.landed) < len(r.tools) {
		r.landed[key] = r.at.Sub(r.begun)
	}
}

// toolOf is the tool of the call under way that has a key.
func (r *run) toolOf(key string) string {
	for _, index := range r.order() {
		if r.tools[index].Key == key {
			return fmt.Sprintf("%s (call %d)", r.tools[index].Tool, index+1)
		}
	}
	return "a call"
}

// order are the indexes of the calls under way.
func (r *run) order() []int {
	var all []int
	for index := range r.tools {
		all = append(all, index)
	}
	slices.Sort(all)
	return all
}

// since is a time within a run for people.
func since(d time.Duration) string { return "+" + short(d) }

// short is a duration to a precision that can be read.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.String()
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// many counts things: "1 call", "2 calls".
func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		what = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sizeText is a number of bytes for people.
func sizeText(bytes int) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	case bytes >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return many(bytes, "byte")
}
