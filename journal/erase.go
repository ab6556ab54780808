package journal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// event returns an event with marks in place of redacted values. before is the state before the event.
func (r *redactor) event(ev machine.Event, before *machine.State, offered []Tool) (machine.Event, error) {
	ev = exactly(ev)
	e := erasure{
		redactor: r, values: r.valuesOf(&ev, before, offered), members: r.membersOf(ev.Reply),
		names: namesOfTools(), hides: hiddenNames{r, offered, before.Config}.hides,
	}
	return erased(e, ev)
}

// exactly returns an event with the exact arguments of its calls, if they are others: a mark is that of one
// spelling of a number.
func exactly(ev machine.Event) machine.Event {
	of := func(arguments json.RawMessage) json.RawMessage {
		if exact := canon.Decimals(arguments); !bytes.Equal(exact, arguments) {
			return exact
		}
		return nil
	}
	if ev.Reply != nil {
		ev.Reply = new(*ev.Reply)
		ev.Reply.Calls = slices.Clone(ev.Reply.Calls)
		for n := range ev.Reply.Calls {
			ev.Reply.Calls[n].Exact = of(ev.Reply.Calls[n].Arguments)
		}
	}
	if ev.Response != nil {
		ev.Response = new(*ev.Response)
		ev.Response.Exact = of(ev.Response.Arguments)
	}
	return ev
}

// namesOfTools are the places of names that a model wrote.
var namesOfTools = sync.OnceValue(func() *places {
	p := new(places)
	p.addTexts("/messages/*", inMessage, isName)
	p.addTexts("/failure", inFailure, isName)
	p.addTexts("/reply/message", inReply, isName)
	p.addTexts("/reply/calls/*", inCall, isName)
	return p
})

// valuesOf returns the values of an event to redact.
func (r *redactor) valuesOf(ev *machine.Event, before *machine.State, offered []Tool) *places {
	p := new(places)
	if r.Prompts {
		p.addTexts("", inEvent, isPrompt)
		p.addTexts("/messages/*", inMessage, isText, isArguments)
		p.add("/said/words", "/text")
	}
	if r.Prompts || r.Replies {
		p.addTexts("/failure", inFailure, isText)
	}
	if r.hearsay() { // what is left out of prompts, and summaries, have parts of all kinds
		p.add("/cut/cuts/*", "/text")
		p.add("/summary", "/text")
	}
	if r.values() {
		p.addHistory(ev.Messages)
		p.addTexts("/failure/issues/*", inIssue)
	}
	if ev.Reply != nil {
		r.addReply(p, ev.Reply, hiddenNames{r, offered, before.Config})
	}
	if ev.Try != nil {
		r.addTry(p, before.Config.Action, ev.Try)
	}
	if end, batch := ev.Tool, before.Batch; end != nil && batch != nil && end.Index >= 0 &&
		end.Index < len(batch.Calls) {
		r.addToolEnd(p, "/tool", batch.Calls[end.Index].Tool, end)
	}
	if ev.Response != nil {
		r.addResponse(p, ev, before)
	}
	r.addReduced(p, "/reduced", ev.Reduced, false)
	for n := range ev.Reductions { // of notices, which contain the conversation
		r.addReduced(p, "/reductions/"+strconv.Itoa(n), &ev.Reductions[n], r.hearsay())
	}
	return p
}

// values reports whether values of calls or answers are redacted.
func (r *redactor) values() bool { return len(r.Tools)+len(r.Answer) > 0 }

// hearsay reports whether reducers receive redacted data. What they keep of it is unknown.
func (r *redactor) hearsay() bool { return r.values() || r.Prompts || r.Replies }

// hiddenNames finds names of tools that do not exist, because a model may write anything there.
type hiddenNames struct {
	*redactor
	offered []Tool
	cfg     *machine.Config
}

// known reports whether the journal contains the name of a tool anyway.
func (h hiddenNames) known(name string) bool {
	if slices.ContainsFunc(h.offered, func(t Tool) bool { return t.Name == name }) {
		return true
	}
	if h.cfg == nil {
		return false
	}
	_, named := h.cfg.Policy.Tools[name]
	return named || name == h.cfg.Action
}

func (h hiddenNames) hides(name string) bool {
	return !h.known(name) && (len(h.Tools) > 0 || h.Replies || looksMarked(name) || h.tooLong(name))
}

// membersOf returns the members of a reply whose names are redacted: those that the schema does not allow.
func (r *redactor) membersOf(reply *machine.Reply) *places {
	p := new(places)
	if reply == nil {
		return p
	}
	add := func(document string, issues []fault.Issue) {
		for n := range issues {
			if i := &issues[n]; i.Pointer != "" && misnames(i) { // the document itself has no name of the model
				p.add(document, i.Pointer)
			}
		}
	}
	for n, c := range reply.Calls {
		if rules, _ := r.tool(c.Tool); len(rules.Arguments) > 0 {
			add("/reply/calls/"+strconv.Itoa(n)+"/arguments", c.Issues)
			add("/reply/calls/"+strconv.Itoa(n)+"/exact", c.Issues)
		}
	}
	if reply.Answer != nil && len(r.Answer) > 0 {
		add("/reply/answer/value", reply.Answer.Issues)
	}
	return p
}

// misnames reports whether an issue is about the name of a member, or about a text whose members were not
// checked against a schema.
func misnames(i *fault.Issue) bool {
	return i.Source == fault.FromJSON ||
		slices.Contains([]string{"additionalProperties", "unevaluatedProperties", "propertyNames"}, i.Rule)
}

// addDocument adds what the rules redact of a document that the model wrote. It also adds the places of
// issues, because a redacted value may have been written under another name, and the texts of the issues.
func (p *places) addDocument(document, issues string, found []fault.Issue, rules []string) {
	p.add(document, rules...)
	p.addTexts(issues+"/*", inIssue, isSent)
	var left places
	left.add("", rules...)
	for n := range found {
		i := &found[n]
		p.add(document, i.Pointer)
		if parts, ok := parsePointer(i.Pointer); !ok || misnames(i) || left.hasAbove(parts) {
			p.add(issues, "/"+strconv.Itoa(n)+"/pointer")
		}
	}
}

// addHistory adds the messages before a run but for its prompt, which is last, because they contain calls,
// answers and results in any form.
func (p *places) addHistory(said []message.Message) {
	last := len(said) - 1
	if last >= 0 && said[last].Role != message.Assistant && said[last].Role != message.Tool {
		last--
	}
	for n := range last + 1 {
		p.addTexts("/messages/"+strconv.Itoa(n), inMessage)
	}
}

// addTry adds what is redacted of a try of an action: of a tool, or of the answer if it names none.
func (r *redactor) addTry(p *places, action string, try *machine.Try) {
	rules, ok := r.tool(action)
	r.addReduced(p, "/try/reduced", try.Reduced, ok || len(r.Answer) > 0)
	if ok || r.Prompts || r.Replies {
		p.addTexts("/try/failure", inFailure)
	}
	p.add("/try/value", rules.Result...)
	if action == machine.AnswerAction {
		p.add("/try/value", r.Answer...)
	}
}

// addReply adds what is redacted of a reply. The text of a call may occur three times: as the model wrote it,
// as it was parsed, and in the text in which it was found.
func (r *redactor) addReply(p *places, reply *machine.Reply, names hiddenNames) {
	unread := len(reply.Calls) == 0 && (reply.Answer == nil || len(reply.Answer.Issues) > 0)
	if r.Replies || r.values() && unread { // a reply that could not be parsed may contain calls or an answer
		p.addTexts("/reply/message", inReply, isText, isOpaque)
	}
	if r.Replies {
		p.addTexts("/reply/message", inReply, isRefusal)
	}
	for n := range reply.Calls {
		r.addCall(p, reply, n, names)
	}
	for n, c := range reply.Message.Calls {
		if _, ok := r.tool(c.Name); ok || (!names.known(c.Name) && len(r.Tools) > 0) {
			p.add("/reply/message/calls/"+strconv.Itoa(n), "/arguments")
		}
	}
	if a := reply.Answer; a != nil {
		if len(r.Answer) > 0 {
			p.addDocument("/reply/answer/value", "/reply/answer/issues", a.Issues, r.Answer)
			p.addTexts("/reply/message", inReply, isText, isOpaque)
		}
		r.addReduced(p, "/reply/answer/reduced", a.Reduced, len(r.Answer) > 0 || r.Replies)
	}
}

// addCall adds what is redacted of one call. The call of an unknown tool may be a misspelled call of any
// tool.
func (r *redactor) addCall(p *places, reply *machine.Reply, n int, names hiddenNames) {
	c := &reply.Calls[n]
	at := "/reply/calls/" + strconv.Itoa(n)
	if !reply.Native && names.hides(c.Tool) { // the text of a call in tags has the name
		p.addTexts(at, inCall, isText)
	}
	rules, ok := r.tool(c.Tool)
	if len(r.Tools) > 0 && c.Class == fault.UnknownTool {
		rules.Arguments, ok = []string{""}, true
	}
	if !ok {
		return
	}
	if len(rules.Arguments) > 0 {
		p.addDocument(at+"/arguments", at+"/issues", c.Issues, rules.Arguments)
		p.addDocument(at+"/exact", at+"/issues", c.Issues, rules.Arguments)
		p.add(at+"/identity", rules.Arguments...)
	}
	p.addTexts(at, inCall, isText)
	p.addTexts("/reply/message", inReply, isOpaque)
	if !reply.Native {
		p.addTexts("/reply/message", inReply, isText)
	}
}

// addResponse adds what is redacted of a person's answer: what is redacted of the call that it is about.
func (r *redactor) addResponse(p *places, ev *machine.Event, before *machine.State) {
	if r.Prompts {
		p.addTexts("/response", inResponse, isText)
	}
	for _, a := range before.Asks() {
		if a.ID != ev.Response.Question {
			continue
		}
		if rules, ok := r.tool(a.Tool); ok {
			p.add("/response/arguments", rules.Arguments...)
			p.add("/response/identity", rules.Arguments...)
			p.add("/response/exact", rules.Arguments...)
			p.add("/response/result", rules.Result...)
			p.addTexts("/response", inResponse, isText)
		}
		return
	}
	if r.values() { // nobody knows what it is about
		p.addTexts("/response", inResponse)
	}
}

func (r *redactor) addToolEnd(p *places, at, name string, end *machine.ToolEnd) {
	rules, ok := r.tool(name)
	if ok {
		p.add(at+"/result", rules.Result...)
		p.addTexts(at, inToolEnd, isText, isPointer, isExpected, isSent)
	}
	r.addReduced(p, at+"/reduced", end.Reduced, ok)
}

// addReduced adds the results of reducers: of the named slices, or of all slices if their events have rules.
func (r *redactor) addReduced(p *places, at string, reduced *machine.Reduced, all bool) {
	if reduced == nil {
		return
	}
	for n, op := range reduced.Ops {
		if all || slices.Contains(r.Slices, op.Slice) {
			p.add(at+"/ops/"+strconv.Itoa(n), "/values/*")
		}
	}
	if all || len(r.Slices) > 0 {
		p.addTexts(at, inReduced, isRefused)
	}
}

// header is a header with marks in the place of templates and stop sequences. Its state has them already.
func (r *redactor) header(h Header) (Header, error) {
	state := h.State
	h.State = nil
	var p places
	if r.Prompts || r.shortens(h.Config.Vars) {
		p.addTexts("", inHeader, isPrompt)
	}
	h, err := erased(erasure{redactor: r, values: &p}, h)
	h.State = state
	return h, err
}

// shortens reports whether a mark takes the place of a text in vars. A template may not render with the mark:
// then it is left out with its vars.
func (r *redactor) shortens(vars map[string]json.RawMessage) (found bool) {
	w := rewriter{
		value: func(_ []string, _ jsontext.Value, text string) ([]byte, error) {
			found = found || looksMarked(text) || r.tooLong(text)
			return nil, nil
		},
		name: func(_ []string, name string) (string, error) {
			found = found || looksMarked(name)
			return name, nil
		},
	}
	for _, name := range canon.Keys(vars) {
		_, err := w.rewrite(vars[name])
		found = found || err != nil
	}
	return found
}

// state returns a session's snapshot with marks: of the named slices, or of all slices if reducers receive
// redacted data.
func (r *redactor) state(snapshot []byte) ([]byte, error) {
	var held sessionState
	if err := canon.UnmarshalKnown(snapshot, &held); err != nil {
		return nil, err
	}
	var p places
	for n, s := range held.Slices {
		if r.hearsay() || slices.Contains(r.Slices, s.Name) {
			p.add("/slices/"+strconv.Itoa(n), "/values/*")
		}
	}
	p.addTexts("", inState, isRefused)
	if len(r.Tools) > 0 || r.Replies {
		for n, a := range held.Attempts {
			if a.Class == fault.UnknownTool {
				p.add("/attempts/"+strconv.Itoa(n), "/action")
			}
		}
		for n, f := range held.Feedback {
			if f.ErrorType == fault.UnknownTool {
				p.add("/feedback/"+strconv.Itoa(n), "/tool_name")
			}
		}
	}
	if r.values() {
		p.addTexts("", inState, isText, isPointer, isExpected, isSent)
	}
	return erasure{redactor: r, values: &p}.of(snapshot)
}

// note returns a note with marks. It belongs to call at of runs, or to none if at is negative. Keys are
// hashes of arguments, so the note gets the key of the same call in written, the calls as they are in the
// journal.
func (r *redactor) note(n Note, runs, written []machine.ToolRun, at int) (Note, error) {
	var p places
	if at >= 0 {
		if n.End != nil {
			r.addToolEnd(&p, "/end", runs[at].Tool, n.End)
		}
		if _, ok := r.tool(runs[at].Tool); ok {
			p.addTexts("", inNote, isText)
		}
		if at < len(written) {
			n.Key = written[at].Key
		}
	}
	return erased(erasure{redactor: r, values: &p}, n)
}

// erasure is what is left out of one record: the values at some places, the names of members at others, names
// of tools that are to be hidden, every text that is too long, and texts and names that look like marks.
type erasure struct {
	*redactor
	values, members, names *places
	hides                  func(name string) bool
}

// erased returns a record with marks.
func erased[T any](e erasure, record T) (left T, err error) {
	raw, err := canon.Marshal(record)
	if err == nil {
		raw, err = e.of(raw)
	}
	if err != nil {
		return record, err
	}
	err = canon.UnmarshalKnown(raw, &left)
	return left, err
}

// of returns a document with marks.
func (e erasure) of(document []byte) ([]byte, error) {
	w := rewriter{value: e.value, name: e.member}
	return w.rewrite(document)
}

// value returns the mark for a value, or nil to keep it.
func (e erasure) value(at []string, value jsontext.Value, text string) ([]byte, error) {
	left := e.values.has(at)
	switch {
	case left || value.Kind() != '"':
	case e.names.has(at):
		left = e.hides(text)
	case looksMarked(text) || e.tooLong(text):
		left = freeTexts().has(at)
	}
	if !left {
		return nil, nil
	}
	return e.mark(value, text)
}

// member returns the name of a member, or its mark.
func (e erasure) member(at []string, name string) (string, error) {
	kept := !e.members.has(at) && !(looksMarked(name) && freeTexts().has(at))
	if kept || strings.TrimSpace(name) == "" {
		return name, nil
	}
	return e.keep(name, false)
}
