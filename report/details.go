package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/report/internal/told"
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
	// compared is an answer and the previous attempt. Those of calls are in Calls.
	*compared
	// Policy is the address of the table of the policy that decided; empty if not known.
	Policy string

	size int64
}

// bytes returns the approximate size of the details.
func (d *details) bytes() int64 {
	if d == nil {
		return 0
	}
	return d.size
}

// show adds a text; nil is none.
func (d *details) show(t *textView) {
	if t != nil {
		d.Texts = append(d.Texts, t)
	}
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
	// Values are the first values of the arguments.
	Values          string
	Arguments, Read *textView
	Issues          []issueView
	*compared
}

// diffView compares a proposal with the previous attempt. There are no fields if nothing has changed.
type diffView struct {
	Was, Is int
	Fields  []fieldView
}

// fieldView is a value in two attempts. The marks say whether an issue was about it: "bad", "good" once there
// is none any more, else empty.
type fieldView struct{ Path, Was, WasMark, Is, IsMark string }

// proposal is what an action proposed. The text is nil if it is empty.
type proposal struct {
	text   *textView
	issues []issueView
}

// compared are two proposals of which the first failed, in an attempt.
type compared struct {
	attempt int
	was, is proposal
}

// Diff compares the proposals, without secrets, if both are JSON objects. nil compares none.
func (c *compared) Diff() *diffView {
	if c == nil {
		return nil
	}
	before, hadFields := fieldsOf(jsonPart(c.was.text.shown()))
	after, hasFields := fieldsOf(jsonPart(c.is.text.shown()))
	if !hadFields || !hasFields {
		return nil
	}
	return &diffView{c.attempt, c.attempt + 1, fieldViews(before, c.was.issues, after, c.is.issues)}
}

// tried is a failed attempt of an action: its number, and its proposals.
type tried struct {
	attempt   int
	proposals []proposal
}

// pager makes the details of entries. A nil pager makes none.
type pager struct {
	run  *run
	size int64
	// within says what is left out of texts.
	within *Page
	// said are the messages added since the previous call. latest is the latest text of each role.
	said   []message.Message
	latest map[message.Role]string
	// is are the proposals of each action in the latest reply, and was its previous attempt.
	is  map[string][]proposal
	was map[string]tried
}

func newPager(r *run, within *Page) *pager {
	return &pager{run: r, within: within, latest: map[message.Role]string{}, was: map[string]tried{}}
}

// perDetails is about what details take in memory besides their texts.
const perDetails = 512

// done records the size of the details.
func (p *pager) done(d *details) *details {
	d.size, p.size = perDetails+p.size, 0
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
	return &textView{Label: label, text: text, issues: issues, within: p.within}
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

// masked leaves secrets out of the arguments of a tool, by their places.
func (p *pager) masked(tool, arguments string) string {
	return string(masked.JSON([]byte(arguments), p.within.Secrets[tool]))
}

// request shows the message that a run begins with.
func (p *pager) request(text string) *details {
	if p == nil {
		return nil
	}
	d := &details{}
	d.show(p.text("", text, nil))
	return p.done(d)
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
			name := p.within.scrub(m.Name)
			v.About = joined(" ", "answers", name, p.within.scrub(m.CallID))
			if !slices.Contains(answered, name) && len(answered) <= maxNames {
				answered = append(answered, name)
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
	p.is = map[string][]proposal{}
	d := &details{}
	text := cmp.Or(r.Message.Text, r.Message.Refusal)
	var issues []fault.Issue
	if a := r.Answer; a != nil {
		issues, d.Issues = a.Issues, p.issues(a.Issues)
	}
	shown := p.text("", text, issues)
	if d.show(shown); r.Answer != nil {
		d.compared = p.propose(machine.AnswerAction, shown, d.Issues)
	}
	for n := range r.Calls {
		d.Calls = append(d.Calls, p.call(&r.Calls[n]))
	}
	if len(r.Calls) == 0 {
		for _, c := range r.Message.Calls {
			v := p.call(&machine.Call{Tool: c.Name, ID: c.ID, Raw: c.Arguments})
			v.Class, v.Tone = "not looked at", "warn"
			d.Calls = append(d.Calls, v)
		}
	}
	return p.done(d)
}

// propose keeps a proposal, and returns it with the one of the previous attempt, if there is one and both are
// shown whole.
func (p *pager) propose(action string, text *textView, issues []issueView) *compared {
	was, n := p.was[action], len(p.is[action])
	is := proposal{text, issues}
	p.is[action] = append(p.is[action], is)
	if n >= len(was.proposals) || !text.isWhole() || !was.proposals[n].text.isWhole() {
		return nil
	}
	return &compared{was.attempt, was.proposals[n], is}
}

// call shows a tool call.
func (p *pager) call(c *machine.Call) *callView {
	raw := p.masked(c.Tool, cmp.Or(c.Raw, string(c.Arguments)))
	v := &callView{
		Tool: p.within.scrub(c.Tool), ID: p.within.scrub(c.ID), Class: told.Words(string(c.Class)), Tone: "good",
		Values:    valuesText(p.within.scrub(raw[:min(len(raw), maxValues)])),
		Arguments: p.text("", raw, c.Issues), Issues: p.issues(c.Issues),
	}
	if c.Class != "" {
		v.Tone = "bad"
	}
	if v.Repairs = repairsText(c.Repairs); v.Repairs != "" && len(c.Arguments) > 0 {
		read, _ := pretty(p.masked(c.Tool, string(c.Arguments)))
		v.Read = p.text("read as", read, c.Issues)
	}
	v.compared = p.propose(c.Tool, v.Arguments, v.Issues)
	return v
}

// decided shows what was wrong with an attempt, unless its proposals show it.
func (p *pager) decided(d *machine.Decision) *details {
	if p == nil {
		return nil
	}
	v := &details{}
	if r := d.ReducerError; r != nil {
		v.show(p.text("the event it refused", r.Payload, nil))
	}
	if fb := d.Feedback; fb != nil && len(p.is[d.Action]) == 0 {
		v.Issues = p.issues(fb.Issues)
	}
	for n, of := range p.run.header.Policies() { // that of all transport comes before those of tools
		transport := of.Plane == fault.Transport
		if d.Class != "" && transport == (d.Plane == fault.Transport) &&
			(of.Tool == d.Action || transport && of.Tool == "") {
			v.Policy = p.within.policyAt(p.run.number, n)
		}
	}
	if d.Plane == fault.Correction {
		p.keep(d)
	}
	return p.done(v)
}

// keep keeps the proposals of an attempt that failed for the next one.
func (p *pager) keep(d *machine.Decision) {
	if is := p.is[d.Action]; d.Class == "" {
		delete(p.was, d.Action)
	} else if len(is) > 0 {
		p.was[d.Action] = tried{d.Attempt, is}
	}
}

// toolEnd shows the outcome of a tool call.
func (p *pager) toolEnd(tool, arguments string, end *machine.ToolEnd) *details {
	if p == nil {
		return nil
	}
	d := &details{}
	if len(end.Issues) > 0 {
		d.show(p.text("arguments", p.masked(tool, arguments), end.Issues))
	}
	d.show(p.text("result", cmp.Or(string(end.Result), end.Text), nil))
	d.show(p.text("its last progress", string(end.Progress), nil))
	return p.done(d)
}

// outcome shows the whole answer of a run.
func (p *pager) outcome(o *machine.Outcome) *details {
	if p == nil {
		return nil
	}
	d := &details{}
	if o.OK {
		d.show(p.text("", cmp.Or(string(o.Value), o.Text), nil))
	}
	return p.done(d)
}
