package journal

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// places collects where something is to be left out, as parts of JSON Pointers.
type places [][]string

func (p *places) add(parts ...string) { *p = append(*p, parts) }

// under adds pointers below a place.
func (p *places) under(place []string, pointers []string) {
	for _, one := range pointers {
		if parts, ok := parsePointer(one); ok {
			p.add(slices.Concat(place, parts)...)
		}
	}
}

// event is an event with marks in the place of what is left out. before is the state that it comes to.
func (e *eraser) event(ev Event, before machine.State, known []Tool) (Event, error) {
	raw, err := canon.Marshal(ev)
	if err != nil {
		return ev, err
	}
	raw, err = e.erase(raw, e.ofEvent(&ev, before, known), e.namesOf(ev.Reply))
	if err != nil {
		return ev, err
	}
	var left Event
	err = canon.UnmarshalKnown(raw, &left)
	return left, err
}

func (e *eraser) ofEvent(ev *Event, before machine.State, known []Tool) places {
	var p places
	if e.Prompts {
		p.add("messages", "*", "text")
		p.add("messages", "*", "calls", "*", "arguments")
		p.add("system")
		p.add("plan", "prompt")
	}
	if e.values() {
		p.ofHistory(ev.Messages)
	}
	is := knownTools(known, &before)
	e.ofNames(&p, ev, is)
	if r := ev.Reply; r != nil {
		e.ofReply(&p, r, is)
	}
	if e.Prompts || e.Replies {
		p.add("failure", "message")
		p.add("failure", "text")
	}
	if e.values() {
		p.ofIssues("failure", "issues")
	}
	if ev.Try != nil {
		e.ofTry(&p, before.Config.Action)
	}
	if end := ev.Tool; end != nil && before.Batch != nil && end.Index >= 0 && end.Index < len(before.Batch.Calls) {
		e.ofToolEnd(&p, []string{"tool"}, before.Batch.Calls[end.Index].Tool, end)
	}
	e.ofReduced(&p, ev.Reduced, false, "reduced")
	return p
}

// knownTools reports of names whether they are those of tools that the journal tells of anyway.
func knownTools(offered []Tool, st *machine.State) func(name string) bool {
	return func(name string) bool {
		if slices.ContainsFunc(offered, func(t Tool) bool { return t.Name == name }) {
			return true
		}
		if st.Config == nil {
			return false
		}
		_, named := st.Config.Policy.Tools[name]
		return named || name == st.Config.Action
	}
}

// ofNames are the places of names of tools that are not there: a model may write anything in their place.
func (e *eraser) ofNames(p *places, ev *Event, known func(string) bool) {
	hidden := func(name string) bool {
		return !known(name) && (len(e.Tools) > 0 || e.Replies || looksMarked(name) || (e.MaxBytes > 0 && len(name) > e.MaxBytes))
	}
	for n, m := range ev.Messages {
		at := strconv.Itoa(n)
		if hidden(m.Name) {
			p.add("messages", at, "name")
		}
		p.ofCallNames([]string{"messages", at, "calls"}, m.Calls, hidden)
	}
	if ev.Failure != nil && hidden(ev.Failure.Tool) {
		p.add("failure", "tool")
	}
	if ev.Reply == nil {
		return
	}
	p.ofCallNames([]string{"reply", "message", "calls"}, ev.Reply.Message.Calls, hidden)
	for n, c := range ev.Reply.Calls {
		if c.Class == fault.UnknownTool && hidden(c.Tool) {
			p.add("reply", "calls", strconv.Itoa(n), "tool")
		}
	}
}

func (p *places) ofCallNames(at []string, calls []message.Call, hidden func(string) bool) {
	for n, c := range calls {
		if hidden(c.Name) {
			p.add(slices.Concat(at, []string{strconv.Itoa(n), "name"})...)
		}
	}
}

// namesOf are the places of members of a reply whose names are left out: those that the schema does not allow.
func (e *eraser) namesOf(r *machine.Reply) (p places) {
	if r == nil {
		return nil
	}
	for n, c := range r.Calls {
		if rules, _ := e.tool(c.Tool); len(rules.Arguments) > 0 {
			p.ofMisnamed([]string{"reply", "calls", strconv.Itoa(n), "arguments"}, c.Issues)
		}
	}
	if r.Answer != nil && len(e.Answer) > 0 {
		p.ofMisnamed([]string{"reply", "answer", "value"}, r.Answer.Issues)
	}
	return p
}

func (p *places) ofMisnamed(document []string, issues []fault.Issue) {
	for _, i := range issues {
		if misnames(&i) {
			p.under(document, []string{i.Pointer})
		}
	}
}

// misnames reports whether an issue is about the name of a member, or about a text whose members nobody has compared with a schema.
func misnames(i *fault.Issue) bool {
	return i.Source == fault.FromJSON || slices.Contains([]string{"additionalProperties", "unevaluatedProperties", "propertyNames"}, i.Rule)
}

// ofPointers are the pointers of issues that lead to a name that is left out, or into a value that is.
func (p *places) ofPointers(at []string, issues []fault.Issue, pointers []string) {
	for n, i := range issues {
		if misnames(&i) || leadsInto(i.Pointer, pointers) {
			p.add(slices.Concat(at, []string{strconv.Itoa(n), "pointer"})...)
		}
	}
}

// leadsInto reports whether a pointer leads below one of the places.
func leadsInto(pointer string, pointers []string) bool {
	parts, ok := parsePointer(pointer)
	return !ok || slices.ContainsFunc(pointers, func(one string) bool {
		pattern, _ := parsePointer(one)
		return len(parts) > len(pattern) && matches(pattern, parts[:len(pattern)])
	})
}

// ofTry are the places of a try of an action: of a tool, or of the answer where it names none.
func (e *eraser) ofTry(p *places, action string) {
	rules, ok := e.tool(action)
	if ok || e.Prompts || e.Replies {
		p.ofFailure("try", "failure")
	}
	pointers := rules.Result
	if action == machine.AnswerAction {
		pointers = slices.Concat(pointers, e.Answer)
	}
	p.under([]string{"try", "value"}, pointers)
}

// values reports whether values are left out of calls or answers.
func (e *eraser) values() bool { return len(e.Tools)+len(e.Answer) > 0 }

// ofHistory are the places of what was said before a run, up to the last that a model or a tool said: calls, answers and results
// stand in it in any form.
func (p *places) ofHistory(said []message.Message) {
	for n := len(said) - 1; n >= 0; n-- {
		if said[n].Role != message.Assistant && said[n].Role != message.Tool {
			continue
		}
		for n := range n + 1 {
			at := strconv.Itoa(n)
			p.add("messages", at, "text")
			p.add("messages", at, "opaque")
			p.add("messages", at, "calls", "*", "arguments")
		}
		return
	}
}

// ofFailure are the words of a failure.
func (p *places) ofFailure(at ...string) {
	p.add(slices.Concat(at, []string{"message"})...)
	p.add(slices.Concat(at, []string{"text"})...)
	p.ofIssues(slices.Concat(at, []string{"issues"})...)
}

// ofIssues are the words and places of issues that a program found.
func (p *places) ofIssues(at ...string) {
	p.add(slices.Concat(at, []string{"*", "pointer"})...)
	p.add(slices.Concat(at, []string{"*", "expected"})...)
	p.add(slices.Concat(at, []string{"*", "value"})...)
	p.add(slices.Concat(at, []string{"*", "sent"})...)
}

// ofRefused are the places at which a document was refused: a value that is to be left out may stand there under another name.
func (p *places) ofRefused(document []string, issues []fault.Issue) {
	for _, i := range issues {
		p.under(document, []string{i.Pointer})
	}
}

// ofReply are the places of a reply. The words of a call stand in it up to three times: as the model wrote them, as they were
// read, and, where the call was found in the text, there.
func (e *eraser) ofReply(p *places, r *machine.Reply, known func(string) bool) {
	if e.Replies {
		p.add("reply", "message", "text")
		p.add("reply", "message", "refusal")
		p.add("reply", "message", "opaque")
	}
	if e.values() && len(r.Calls) == 0 && (r.Answer == nil || len(r.Answer.Issues) > 0) {
		// Nobody could read what it says: there may be calls in it, or an answer.
		p.add("reply", "message", "text")
		p.add("reply", "message", "opaque")
	}
	for n := range r.Calls {
		e.ofCall(p, r, n)
	}
	for n, c := range r.Message.Calls {
		if _, ok := e.tool(c.Name); ok || (!known(c.Name) && len(e.Tools) > 0) {
			p.add("reply", "message", "calls", strconv.Itoa(n), "arguments")
		}
	}
	if r.Answer != nil {
		e.ofAnswer(p, r.Answer)
	}
}

// ofCall are the places of one call. Nobody knows what a call of an unknown name was meant to be.
func (e *eraser) ofCall(p *places, r *machine.Reply, n int) {
	c := &r.Calls[n]
	rules, ok := e.tool(c.Tool)
	if len(e.Tools) > 0 && c.Class == fault.UnknownTool {
		rules.Arguments, ok = []string{""}, true
	}
	if !ok {
		return
	}
	at := strconv.Itoa(n)
	if len(rules.Arguments) > 0 {
		arguments := []string{"reply", "calls", at, "arguments"}
		p.under(arguments, rules.Arguments)
		p.ofRefused(arguments, c.Issues)
		p.add("reply", "calls", at, "issues", "*", "value")
		p.add("reply", "calls", at, "issues", "*", "sent")
		p.ofPointers([]string{"reply", "calls", at, "issues"}, c.Issues, rules.Arguments)
	}
	p.add("reply", "calls", at, "raw")
	p.add("reply", "message", "opaque")
	if !r.Native {
		p.add("reply", "message", "text")
	}
}

// ofAnswer are the places of an answer.
func (e *eraser) ofAnswer(p *places, a *machine.Answer) {
	if len(e.Answer) > 0 {
		p.under([]string{"reply", "answer", "value"}, e.Answer)
		p.ofRefused([]string{"reply", "answer", "value"}, a.Issues)
		p.add("reply", "answer", "issues", "*", "value")
		p.add("reply", "answer", "issues", "*", "sent")
		p.ofPointers([]string{"reply", "answer", "issues"}, a.Issues, e.Answer)
		p.add("reply", "message", "text")
		p.add("reply", "message", "opaque")
	}
	e.ofReduced(p, a.Reduced, len(e.Answer) > 0, "reply", "answer", "reduced")
}

func (e *eraser) ofToolEnd(p *places, at []string, name string, end *machine.ToolEnd) {
	rules, ok := e.tool(name)
	if ok {
		p.under(slices.Concat(at, []string{"result"}), rules.Result)
		p.add(slices.Concat(at, []string{"progress"})...)
		p.add(slices.Concat(at, []string{"text"})...)
		p.ofIssues(slices.Concat(at, []string{"issues"})...)
		p.ofFailure(slices.Concat(at, []string{"failure"})...)
	}
	e.ofReduced(p, end.Reduced, ok, slices.Concat(at, []string{"reduced"})...)
}

// ofReduced are the places of what reducers made: of the slices that are named, and of all where what they were given has rules.
func (e *eraser) ofReduced(p *places, r *machine.Reduced, all bool, at ...string) {
	if r == nil {
		return
	}
	for n, op := range r.Ops {
		if all || slices.Contains(e.Slices, op.Slice) {
			p.add(slices.Concat(at, []string{"ops", strconv.Itoa(n), "values", "*"})...)
		}
	}
	if all || len(e.Slices) > 0 {
		p.add(slices.Concat(at, []string{"error", "payload"})...)
		p.add(slices.Concat(at, []string{"error", "message"})...)
	}
}

// header is a header with marks in the place of templates.
func (e *eraser) header(h Header) (Header, error) {
	for _, text := range []*string{&h.Config.System, &h.Config.Feedback} {
		_, looks := parseMark(*text)
		if *text == "" || !(looks || e.Prompts || (e.MaxBytes > 0 && len(*text) > e.MaxBytes)) {
			continue
		}
		m, err := e.keep([]byte(*text), false)
		if err != nil {
			return h, err
		}
		*text = m
	}
	return h, nil
}

// state is a session's snapshot with marks: of the slices that are named; of all where tools or the answer have rules, for
// nobody can tell what came of them.
func (e *eraser) state(snapshot []byte) ([]byte, error) {
	var w struct {
		Slices []struct {
			Name string `json:"name"`
		} `json:"slices"`
		Attempts []struct {
			Class fault.Class `json:"class"`
		} `json:"attempts"`
		Feedback []struct {
			Class fault.Class `json:"error_type"`
		} `json:"feedback"`
	}
	if err := canon.Unmarshal(snapshot, &w); err != nil {
		return nil, err
	}
	var p places
	for n, s := range w.Slices {
		if len(e.Tools) > 0 || len(e.Answer) > 0 || slices.Contains(e.Slices, s.Name) {
			p.add("slices", strconv.Itoa(n), "values", "*")
		}
	}
	p.add("reducer_errors", "*", "payload")
	p.add("reducer_errors", "*", "message")
	if len(e.Tools) > 0 || e.Replies {
		for n, a := range w.Attempts {
			if a.Class == fault.UnknownTool {
				p.add("attempts", strconv.Itoa(n), "action")
			}
		}
		for n, f := range w.Feedback {
			if f.Class == fault.UnknownTool {
				p.add("feedback", strconv.Itoa(n), "tool_name")
			}
		}
	}
	if e.values() {
		for _, at := range []string{"feedback", "attempts"} {
			p.ofIssues(at, "*", "issues")
		}
		p.ofIssues("feedback", "*", "diff", "*")
		p.add("feedback", "*", "message")
		p.add("feedback", "*", "detail")
	}
	return e.erase(snapshot, p, nil)
}

// note is a note with marks. It is about call at of runs; of none where at is negative. Keys are hashes of arguments: it gets that
// of the same call in written, the calls of the run as the journal has them.
func (e *eraser) note(n Note, runs, written []machine.ToolRun, at int) (Note, error) {
	var p places
	if at >= 0 {
		_, ok := e.tool(runs[at].Tool)
		if n.Landed != nil {
			e.ofToolEnd(&p, []string{"landed", "end"}, runs[at].Tool, &n.Landed.End)
		}
		if ok {
			p.add("landed", "events", "*", "payload")
			p.add("progress", "progress")
		}
		if at < len(written) {
			n = n.of(written[at].Key)
		}
	}
	raw, err := canon.Marshal(n)
	if err != nil {
		return n, err
	}
	if raw, err = e.erase(raw, p, nil); err != nil {
		return n, err
	}
	var left Note
	err = canon.UnmarshalKnown(raw, &left)
	return left, err
}

// restore puts back what marks stand for.
func restore(ctx context.Context, from Transcripts, session string, raw []byte) ([]byte, error) {
	renamed := false
	out, err := rewrite(raw, nil, func(_ []string, value jsontext.Value) ([]byte, error) {
		if value.Kind() != '"' {
			return nil, nil
		}
		text, err := unquote(value)
		if err != nil {
			return nil, err
		}
		m, ok := parseMark(text)
		if !ok {
			return nil, nil
		}
		left, err := m.lookup(ctx, from, session)
		if err != nil || m.JSON {
			return left, err
		}
		return canon.Marshal(string(left))
	}, func(_ []string, name string) (string, error) {
		m, ok := parseMark(name)
		if !ok {
			return name, nil
		}
		renamed = true
		left, err := m.lookup(ctx, from, session)
		return string(left), err
	})
	if err != nil || !renamed {
		return out, err
	}
	return canon.JSON(out)
}

// lookup gives what a mark stands for.
func (m mark) lookup(ctx context.Context, from Transcripts, session string) ([]byte, error) {
	left, err := from.Lookup(ctx, session, m.Digest)
	if err != nil {
		return nil, fmt.Errorf("%w: what is left out as %s cannot be had: %w", ErrRedacted, m.Digest, err)
	}
	return left, nil
}
