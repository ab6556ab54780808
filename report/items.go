package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// tell adds an entry to the page.
func (t *teller) tell(e *entry) {
	if e.asks() {
		t.begin(e)
		return
	}
	if e.Kind == started {
		return
	}
	v := t.item(e)
	t.section.Bare = t.section.Bare || e.bare
	if e.detail == nil {
		t.result(e)
		return
	}
	switch e.Kind {
	case replied:
		t.replied(v, e)
	case attempted:
		t.attempted(v, e)
	case ended:
		t.ended(v, e)
	case waiting:
		v.Wait = share(e.Wait, t.longest, 1000)
	case stopped:
		t.stopped(v, e.detail.effect.Outcome)
	}
	t.result(e)
}

// stopped shows the outcome of a run: the answer whole, where there is one.
func (t *teller) stopped(v *itemView, o *machine.Outcome) {
	if text := viewOf("", cmp.Or(string(o.Value), o.Text), nil); text != nil && o.OK {
		v.Title, v.Texts = "", append(v.Texts, text)
	}
}

// result keeps what a section came to: the worst of its decisions.
func (t *teller) result(e *entry) {
	text := ""
	switch {
	case e.failed():
		text = string(e.Decision.Class)
	case e.Kind == attempted:
		text = wordOf(e)[0]
	case e.Kind == replied && t.section.Result == noOutcome:
		t.section.Result, t.section.Tone = "replied", ""
		return
	default:
		return
	}
	s, tone := t.section, toneOf(e)
	switch {
	case s.Result == noOutcome || s.Result == "replied" || tone != "good" && s.Tone == "good":
		s.Result, s.Tone = text, tone
	case tone != "good" && !strings.Contains(s.Result, text):
		s.Result += ", " + text
	}
	if tone == "bad" {
		s.Tone = tone
	}
}

// noOutcome is the result of a section in which nothing came back.
const noOutcome = "no outcome"

// replied shows what a model wrote.
func (t *teller) replied(v *itemView, e *entry) {
	v.Usage = usageText(e.Usage)
	if t.section.Usage == "" {
		t.section.Usage = v.Usage
	}
	r := e.detail.event.Reply
	if r == nil {
		return
	}
	var issues []fault.Issue
	if r.Answer != nil {
		issues = r.Answer.Issues
	}
	text := cmp.Or(r.Message.Text, r.Message.Refusal)
	if text != "" {
		v.Title = replyNote(r)
	}
	v.Texts = append(v.Texts, viewOf("", text, marksOf(text, issues)))
	v.Issues = issueViews(issues, nil)
	if r.Answer != nil {
		t.is[machine.AnswerAction] = append(t.is[machine.AnswerAction], jsonPart(text))
		v.More = append(v.More, repairsText(r.Answer.Repairs)...)
	}
	for n := range r.Calls {
		c := viewCall(&r.Calls[n])
		v.Calls = append(v.Calls, c)
		t.is[c.action] = append(t.is[c.action], cmp.Or(r.Calls[n].Raw, string(r.Calls[n].Arguments)))
	}
	t.calls, t.reply = v.Calls, v
	if len(r.Calls) == 0 {
		for _, c := range r.Message.Calls {
			v.Calls = append(v.Calls, &callView{
				Tool: visible(c.Name), ID: visible(c.ID), Class: "not looked at", Tone: "warn",
				Arguments: viewOf("arguments", c.Arguments, nil),
			})
		}
	}
}

// viewCall shows a checked call.
func viewCall(c *machine.Call) *callView {
	raw := cmp.Or(c.Raw, string(c.Arguments))
	v := &callView{
		action: c.Tool, issues: c.Issues,
		Tool: visible(c.Tool), ID: visible(c.ID), Class: string(c.Class), Tone: "good",
		Arguments: viewOf("arguments", raw, marksOf(raw, c.Issues)), Issues: issueViews(c.Issues, nil),
	}
	if c.Class != "" {
		v.Tone = "bad"
	}
	if v.Repairs = strings.Join(repairsText(c.Repairs), ""); v.Repairs != "" && len(c.Arguments) > 0 {
		read, _ := pretty(string(c.Arguments))
		v.Read = viewOf("read as", read, marksOf(read, c.Issues))
	}
	return v
}

// repairsText says what it took to read a text; none where it took nothing.
func repairsText(repairs []extract.Repair) []string {
	var kinds []string
	for _, r := range repairs {
		if !slices.Contains(kinds, string(r.Kind)) {
			kinds = append(kinds, string(r.Kind))
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	return []string{"repaired: " + visible(strings.Join(kinds, ", "))}
}

// attempted shows a decision, and what has changed since the attempt before.
func (t *teller) attempted(v *itemView, e *entry) {
	d := e.Decision
	full := e.detail.effect.Decision
	if v.More = nil; !e.told {
		v.Usage = usageText(e.Usage)
	}
	if text := verdictText(d); text != "" {
		v.More = append(v.More, text)
	}
	if r := full.ReducerError; r != nil {
		v.More = append(v.More, visible(fmt.Sprintf("reducer %s refused: %s", r.Reducer, r.Message)))
		v.Texts = append(v.Texts, viewOf("the event it refused", r.Payload, nil))
	}
	if fb := full.Feedback; fb != nil {
		v.Told = visible(fb.Message)
		v.Fixed = issueViews(fb.Diff.Fixed, nil)
		t.since(d.Action, fb)
	}
	v.Left = gauges(e.Left, d, t.set.Policy.Budgets)
	v.Rows, v.PolicyID = decidedBy(e.detail.policy, d.Reason), t.policy(e)
	if d.Plane == fault.Correction {
		v.Diffs = t.diffs(d)
	}
}

// since says of the issues of an action's calls since when they are there.
func (t *teller) since(action string, fb *feedback.RetryFeedback) {
	if action == machine.AnswerAction {
		if t.reply != nil && len(t.reply.Issues) > 0 {
			t.reply.Issues = issueViews(fb.Issues, fb)
		}
		return
	}
	for _, c := range t.calls {
		if c.action == action {
			c.Issues = issueViews(c.issues, fb)
		}
	}
}

// diffs compares what was proposed with the attempt before of the same action.
func (t *teller) diffs(d *machine.Decision) []diffView {
	is, was := t.is[d.Action], t.was[d.Action]
	if len(is) == 0 {
		return nil
	}
	if t.was[d.Action] = is; d.Class == "" {
		delete(t.was, d.Action)
	}
	if len(was) == 0 || d.Attempt < 2 {
		return nil
	}
	var views []diffView
	for n := range min(len(is), len(was)) {
		if isRedacted(is[n]) || isRedacted(was[n]) {
			continue
		}
		v := diffView{Title: fmt.Sprintf("changed since attempt %d", d.Attempt-1)}
		if len(is) > 1 || len(was) > 1 {
			v.Title += fmt.Sprintf(", call %d", n+1)
		}
		lines, ok := diffLines(prettyPair(was[n], is[n]))
		for n := range lines {
			lines[n].Text = clip(visible(lines[n].Text), 300)
		}
		v.Lines, v.Same, v.Long = lines, ok && len(lines) == 0, !ok
		views = append(views, v)
	}
	return views
}

// ended shows the outcome of a tool call.
func (t *teller) ended(v *itemView, e *entry) {
	end := e.detail.event.Tool
	if len(end.Issues) > 0 {
		text := string(e.detail.run.Arguments)
		v.Texts = append(v.Texts, viewOf("arguments", text, marksOf(text, end.Issues)))
		v.Issues, v.More = issueViews(end.Issues, nil), nil
	}
	v.Texts = append(v.Texts, viewOf("result", cmp.Or(string(end.Result), end.Text), nil),
		viewOf("its last progress", string(end.Progress), nil))
	if end.Reduced != nil && end.Reduced.Error != nil {
		v.More = append(v.More, visible("reducer "+end.Reduced.Error.Reducer+" refused it"))
	}
}

// gauges are what is left of bounds after a failed attempt.
func gauges(l *left, d *machine.Decision, of policy.Budgets) []gauge {
	if l == nil {
		return nil
	}
	all := []gauge{gaugeOf("attempts", &l.Attempts, d.MaxAttempts)}
	for _, g := range []gauge{
		gaugeOf("tool", l.Tool, of.Tool), gaugeOf("run", l.Run, of.Run),
		gaugeOf("unknown tools", l.Unknown, of.UnknownTools),
	} {
		if g.Name != "" {
			all = append(all, g)
		}
	}
	return all
}

func gaugeOf(name string, c *count, of int) gauge {
	if c == nil {
		return gauge{}
	}
	return gauge{name, c.String(), countOf(of, 0).String(), *c == 0}
}
