package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// details are what a page shows of an entry besides its lines of text.
type details struct {
	// System is the system prompt. Said are the messages added since the previous call.
	System *textView
	Said   []messageView
	// Answers names the tools whose calls the messages answer.
	Answers string
	Texts   []*textView
	Calls   []*callView
	Issues  []issueView
	Fixed   []issueView
	Diffs   []diffView
	// Policy is the id of the table of the policy that decided; empty if not known.
	Policy string

	size int64
}

// bytes is the approximate size of the details.
func (d *details) bytes() int64 {
	if d == nil {
		return 0
	}
	return d.size
}

// messageView is one message of a prompt. Text is nil for a reply that the previous call shows.
type messageView struct {
	Role, About string
	IsError     bool
	Text        *textView
}

// callView is one proposed tool call. Read is the repaired text, if there were repairs.
type callView struct {
	Tool, ID, Class, Tone, Repairs string
	Arguments, Read                *textView
	Issues                         []issueView
}

// diffView compares a proposal with the previous attempt.
type diffView struct {
	Title string
	Lines []diffLine
	// Same is set if nothing has changed, Long if too much has.
	Same, Long bool
}

// pager makes the details of entries. A nil pager makes none.
type pager struct {
	run  *run
	size int64
	// said are the messages added since the previous call. latest is the latest text of each role.
	said   []message.Message
	latest map[message.Role]string
	// issues are the issues of each action in the latest reply. is and was are the texts that each action
	// proposed in that reply and in its previous attempt.
	issues  map[string][][]issueView
	was, is map[string][]string
}

func newPager(r *run) *pager {
	return &pager{run: r, latest: map[message.Role]string{}, was: map[string][]string{}}
}

// done records the size of the details.
func (p *pager) done(d *details) *details {
	d.size, p.size = 512+p.size, 0
	d.Texts = slices.DeleteFunc(d.Texts, func(t *textView) bool { return t == nil })
	return d
}

// text shows a text and marks what the issues are about. It returns nil for an empty text.
func (p *pager) text(label, text string, issues []fault.Issue) *textView {
	if text == "" {
		return nil
	}
	if over := len(text) - maxPageText; over > 0 {
		text = fmt.Sprintf("%s\n[… %d bytes left out]", strings.ToValidUTF8(text[:maxPageText], ""), over)
	}
	p.size += int64(len(text))
	return &textView{Label: label, Parts: segments(text, marksOf(text, issues))}
}

// changed shows a text without what it shares with the previous text of the same role.
func (p *pager) changed(role message.Role, label, text string) *textView {
	was := p.latest[role]
	p.latest[role] = text
	part, same := news(was, text)
	if part == "" && same > 0 {
		return &textView{Label: label, Same: "the same as before"}
	}
	v := p.text(label, part, nil)
	if v != nil && same > 0 {
		v.Same = sizeText(same) + " around it are the same as before"
	}
	return v
}

// hear adds messages to the next prompt.
func (p *pager) hear(said []message.Message) {
	if p != nil {
		p.said = append(p.said, said...)
	}
}

// prompt shows what is new in the prompt of a call.
func (p *pager) prompt(system string, first bool) *details {
	if p == nil {
		return nil
	}
	d := &details{System: p.changed(message.System, "system", system)}
	var answered []string
	for n := range p.said {
		m := &p.said[n]
		v := messageView{Role: string(m.Role), IsError: m.IsError}
		switch {
		case m.Role == message.Tool:
			v.About = joined(" ", "answers", m.Name, m.CallID)
			if !slices.Contains(answered, m.Name) && len(answered) <= maxNames {
				answered = append(answered, m.Name)
			}
		case len(m.Calls) > 0:
			v.About = several.Of(len(m.Calls), "call")
		}
		if m.Role != message.Assistant || first {
			v.Text = p.changed(m.Role, "", messageText(m))
		}
		d.Said = append(d.Said, v)
	}
	p.said, d.Answers = nil, namesText(answered)
	return p.done(d)
}

// reply shows what a model wrote.
func (p *pager) reply(r *machine.Reply) *details {
	if p == nil {
		return nil
	}
	p.issues, p.is = map[string][][]issueView{}, map[string][]string{}
	d := &details{}
	text := cmp.Or(r.Message.Text, r.Message.Refusal)
	if a := r.Answer; a != nil {
		d.Issues = issueViews(a.Issues)
		p.propose(machine.AnswerAction, jsonPart(text), d.Issues)
		d.Texts = append(d.Texts, p.text("", text, a.Issues))
	} else {
		d.Texts = append(d.Texts, p.text("", text, nil))
	}
	for n := range r.Calls {
		d.Calls = append(d.Calls, p.call(&r.Calls[n]))
	}
	if len(r.Calls) == 0 {
		for _, c := range r.Message.Calls {
			view := &callView{Tool: c.Name, ID: c.ID, Class: "not looked at", Tone: "warn"}
			view.Arguments = p.text("", c.Arguments, nil)
			d.Calls = append(d.Calls, view)
		}
	}
	return p.done(d)
}

// propose keeps a proposal, to compare it with the next attempt.
func (p *pager) propose(action, text string, issues []issueView) {
	p.is[action] = append(p.is[action], text)
	p.issues[action] = append(p.issues[action], issues)
}

// call shows a tool call that was checked.
func (p *pager) call(c *machine.Call) *callView {
	raw := cmp.Or(c.Raw, string(c.Arguments))
	v := &callView{
		Tool: c.Tool, ID: c.ID, Class: string(c.Class), Tone: "good",
		Arguments: p.text("", raw, c.Issues), Issues: issueViews(c.Issues),
	}
	if c.Class != "" {
		v.Tone = "bad"
	}
	if v.Repairs = repairsText(c.Repairs); v.Repairs != "" && len(c.Arguments) > 0 {
		read, _ := pretty(string(c.Arguments))
		v.Read = p.text("read as", read, c.Issues)
	}
	p.propose(c.Tool, raw, v.Issues)
	return v
}

// decided shows what has changed since the previous attempt.
func (p *pager) decided(d *machine.Decision) *details {
	if p == nil {
		return nil
	}
	v := &details{}
	if r := d.ReducerError; r != nil {
		v.Texts = append(v.Texts, p.text("the event it refused", r.Payload, nil))
	}
	if fb := d.Feedback; fb != nil {
		v.Fixed = issueViews(fb.Diff.Fixed)
		for _, issues := range p.issues[d.Action] {
			tellSince(issues, fb.Diff)
		}
		if len(p.issues[d.Action]) == 0 {
			v.Issues = issueViews(fb.Issues)
			tellSince(v.Issues, fb.Diff)
		}
	}
	transport := d.Plane == fault.Transport
	at := slices.IndexFunc(p.run.header.Policies(), func(of policy.Target) bool {
		return d.Class != "" && (of.Plane == fault.Transport) == transport && (transport || of.Tool == d.Action)
	})
	if at >= 0 {
		v.Policy = fmt.Sprintf("p%d-%d", p.run.number, at)
	}
	if d.Plane == fault.Correction {
		v.Diffs = p.diffs(d)
	}
	return p.done(v)
}

// diffs compares the proposals of an action with those of its previous attempt.
func (p *pager) diffs(d *machine.Decision) []diffView {
	is, was := p.is[d.Action], p.was[d.Action]
	if len(is) == 0 {
		return nil
	}
	if p.was[d.Action] = is; d.Class == "" {
		delete(p.was, d.Action)
	}
	var views []diffView
	for n := range min(len(is), len(was)) {
		if isRedacted(is[n]) || isRedacted(was[n]) || d.Attempt < 2 {
			continue
		}
		title := fmt.Sprintf("changed since attempt %d", d.Attempt-1)
		v := diffView{Title: joined(" ", namesText([]string{d.Action}), title)}
		if len(is) > 1 || len(was) > 1 {
			v.Title += fmt.Sprintf(", call %d", n+1)
		}
		lines, ok := diffLines(prettyPair(was[n], is[n]))
		for n := range lines {
			lines[n].Text = clip(visible(lines[n].Text), 300)
			p.size += int64(len(lines[n].Text))
		}
		v.Lines, v.Same, v.Long = lines, ok && len(lines) == 0, !ok
		views = append(views, v)
	}
	return views
}

// toolEnd shows the outcome of a tool call.
func (p *pager) toolEnd(arguments string, end *machine.ToolEnd) *details {
	if p == nil {
		return nil
	}
	d := &details{}
	if len(end.Issues) > 0 {
		d.Texts = append(d.Texts, p.text("arguments", arguments, end.Issues))
	}
	d.Texts = append(d.Texts, p.text("result", cmp.Or(string(end.Result), end.Text), nil),
		p.text("its last progress", string(end.Progress), nil))
	return p.done(d)
}

// outcome shows the whole answer of a run.
func (p *pager) outcome(o *machine.Outcome) *details {
	if p == nil {
		return nil
	}
	d := &details{}
	if o.OK {
		d.Texts = append(d.Texts, p.text("", cmp.Or(string(o.Value), o.Text), nil))
	}
	return p.done(d)
}
