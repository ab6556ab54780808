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
	e := &erasure{redactor: r, names: namesOfTools(), offered: offered, cfg: before.Config}
	e.addEvent(&ev, before)
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
	p.addTexts("/kept", inKept, isName)
	return p
})

// addEvent adds what is redacted of an event.
func (e *erasure) addEvent(ev *machine.Event, before *machine.State) {
	if e.Prompts {
		e.addTexts("", inEvent, isPrompt)
		e.addTexts("/messages/*", inMessage, isText, isArguments)
		e.add("/said/words", "/text")
	}
	if e.Prompts || e.Replies {
		e.addTexts("/failure", inFailure, isText)
	}
	if e.hearsay() { // what is left out of prompts, and summaries, have parts of all kinds
		e.add("/cut/cuts/*", "/text")
		e.add("/kept/cuts/*", "/text")
		e.add("/kept/turns/*/calls/*", "/arguments", "/said")
		e.add("/summary", "/text")
	}
	if e.values() || e.Replies {
		e.addHistory(ev.Messages)
	}
	if e.values() {
		e.addTexts("/failure/issues/*", inIssue)
	}
	if ev.Reply != nil {
		e.addReply(ev.Reply)
	}
	if ev.Try != nil {
		e.addTry(before.Config.Action, ev.Try)
	}
	if end, batch := ev.Tool, before.Batch; end != nil && batch != nil && end.Index >= 0 &&
		end.Index < len(batch.Calls) {
		e.addToolEnd("/tool", batch.Calls[end.Index].Tool, end)
	}
	if ev.Response != nil {
		e.addResponse(ev, before)
	}
	e.addReduced("/reduced", ev.Reduced, false)
	for n := range ev.Reductions { // of notices, which contain the conversation
		e.addReduced("/reductions/"+strconv.Itoa(n), &ev.Reductions[n], e.hearsay())
	}
}

// values reports whether values of calls or answers are redacted.
func (r *redactor) values() bool { return len(r.Tools)+len(r.Answer) > 0 }

// hearsay reports whether reducers receive redacted data. What they keep of it is unknown.
func (r *redactor) hearsay() bool { return r.values() || r.Prompts || r.Replies }

// known reports whether the journal contains the name of a tool anyway.
func (e *erasure) known(name string) bool {
	if slices.ContainsFunc(e.offered, func(t Tool) bool { return t.Name == name }) {
		return true
	}
	if e.cfg == nil {
		return false
	}
	_, named := e.cfg.Policy.Tools[name]
	return named || name == e.cfg.Action
}

// hides reports whether the name of a tool is left out: of one that does not exist, because a model may write
// anything there.
func (e *erasure) hides(name string) bool {
	return !e.known(name) && (len(e.Tools) > 0 || e.Replies || looksMarked(name) || e.tooLong(name))
}

// misnames reports whether an issue is about the name of a member, or about a text whose members were not
// checked against a schema.
func misnames(i *fault.Issue) bool {
	return i.Source == fault.FromJSON ||
		slices.Contains([]string{"additionalProperties", "unevaluatedProperties", "propertyNames"}, i.Rule)
}

// addDocument adds what the rules redact of a document that the model wrote. It also adds the places of
// issues, because a redacted value may have been written under another name, the texts of the issues, and the
// names of members that the schema does not allow.
func (e *erasure) addDocument(document, issues string, found []fault.Issue, rules []string) {
	e.add(document, rules...)
	e.addTexts(issues+"/*", inIssue, isSent)
	var left places
	left.add("", rules...)
	for n := range found {
		i := &found[n]
		e.add(document, i.Pointer)
		if i.Pointer != "" && misnames(i) { // the document itself has no name of the model
			e.members.add(document, i.Pointer)
		}
		if parts, ok := parsePointer(i.Pointer); !ok || misnames(i) || left.hasAbove(parts) {
			e.add(issues, "/"+strconv.Itoa(n)+"/pointer")
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
func (e *erasure) addTry(action string, try *machine.Try) {
	rules, ok := e.tool(action)
	e.addReduced("/try/reduced", try.Reduced, ok || len(e.Answer) > 0)
	if ok || e.Prompts || e.Replies {
		e.addTexts("/try/failure", inFailure)
	}
	e.add("/try/value", rules.Result...)
	if action == machine.AnswerAction {
		e.add("/try/value", e.Answer...)
	}
}

// addReply adds what is redacted of a reply. The text of a call may occur three times: as the model wrote it,
// as it was parsed, and in the text in which it was found.
func (e *erasure) addReply(reply *machine.Reply) {
	unread := len(reply.Calls) == 0 && (reply.Answer == nil || len(reply.Answer.Issues) > 0)
	if e.Replies || e.values() && unread { // a reply that could not be parsed may contain calls or an answer
		e.addTexts("/reply/message", inReply, isText, isOpaque)
	}
	if e.Replies {
		e.addTexts("/reply/message", inReply, isRefusal)
	}
	for n := range reply.Calls {
		e.addCall(reply, n)
	}
	for n, c := range reply.Message.Calls {
		if _, ok := e.tool(c.Name); ok || (!e.known(c.Name) && len(e.Tools) > 0) {
			e.add("/reply/message/calls/"+strconv.Itoa(n), "/arguments")
		}
	}
	// A model may write its answer beside calls, too, where nobody reads it.
	if len(e.Answer) > 0 && (reply.Answer != nil || strings.ContainsAny(reply.Message.Text, `{["`)) {
		e.addTexts("/reply/message", inReply, isText, isOpaque)
	}
	if a := reply.Answer; a != nil {
		if len(e.Answer) > 0 {
			e.addDocument("/reply/answer/value", "/reply/answer/issues", a.Issues, e.Answer)
		}
		e.addReduced("/reply/answer/reduced", a.Reduced, len(e.Answer) > 0 || e.Replies)
	}
}

// addCall adds what is redacted of one call. The call of an unknown tool may be a misspelled call of any
// tool.
func (e *erasure) addCall(reply *machine.Reply, n int) {
	c := &reply.Calls[n]
	at := "/reply/calls/" + strconv.Itoa(n)
	if !reply.Native && e.hides(c.Tool) { // the text of a call in tags has the name
		e.addTexts(at, inCall, isText)
	}
	rules, ok := e.tool(c.Tool)
	if len(e.Tools) > 0 && c.Class == fault.UnknownTool {
		rules.Arguments, ok = []string{""}, true
	}
	if !ok {
		return
	}
	if len(rules.Arguments) > 0 {
		e.addDocument(at+"/arguments", at+"/issues", c.Issues, rules.Arguments)
		e.addDocument(at+"/exact", at+"/issues", c.Issues, rules.Arguments)
		e.add(at+"/identity", rules.Arguments...)
	}
	e.addTexts(at, inCall, isText)
	e.addTexts("/reply/message", inReply, isOpaque)
	if !reply.Native {
		e.addTexts("/reply/message", inReply, isText)
	}
}

// addResponse adds what is redacted of a person's answer: what is redacted of the call that it is about.
func (e *erasure) addResponse(ev *machine.Event, before *machine.State) {
	if e.Prompts {
		e.addTexts("/response", inResponse, isText)
	}
	for _, a := range before.Asks() {
		if a.ID != ev.Response.Question {
			continue
		}
		if rules, ok := e.tool(a.Tool); ok {
			e.add("/response/arguments", rules.Arguments...)
			e.add("/response/identity", rules.Arguments...)
			e.add("/response/exact", rules.Arguments...)
			e.add("/response/result", rules.Result...)
			e.addTexts("/response", inResponse, isText)
		}
		return
	}
	if e.values() { // nobody knows what it is about
		e.addTexts("/response", inResponse)
	}
}

func (e *erasure) addToolEnd(at, name string, end *machine.ToolEnd) {
	rules, ok := e.tool(name)
	if ok {
		e.add(at+"/result", rules.Result...)
		e.addTexts(at, inToolEnd, isText, isPointer, isExpected, isSent)
	}
	e.addReduced(at+"/reduced", end.Reduced, ok)
}

// addReduced adds the results of reducers: of the named slices, or of all slices if their events have rules.
func (e *erasure) addReduced(at string, reduced *machine.Reduced, all bool) {
	if reduced == nil {
		return
	}
	for n, op := range reduced.Ops {
		if all || slices.Contains(e.Slices, op.Slice) {
			e.add(at+"/ops/"+strconv.Itoa(n), "/values/*")
		}
	}
	if all || len(e.Slices) > 0 {
		e.addTexts(at, inReduced, isRefused)
	}
}

// header is a header with marks in the place of templates and stop sequences. Its state has them already.
func (r *redactor) header(h Header) (Header, error) {
	state := h.State
	h.State = nil
	e := &erasure{redactor: r}
	if r.Prompts || r.shortens(h.Config.Vars) {
		e.addTexts("", inHeader, isPrompt)
	}
	h, err := erased(e, h)
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
	e := &erasure{redactor: r}
	for n, s := range held.Slices {
		if r.hearsay() || slices.Contains(r.Slices, s.Name) {
			e.add("/slices/"+strconv.Itoa(n), "/values/*")
		}
	}
	e.addTexts("", inState, isRefused)
	if len(r.Tools) > 0 || r.Replies {
		for n, a := range held.Attempts {
			if a.Class == fault.UnknownTool {
				e.add("/attempts/"+strconv.Itoa(n), "/action")
			}
		}
		for n, f := range held.Feedback {
			if f.ErrorType == fault.UnknownTool {
				e.add("/feedback/"+strconv.Itoa(n), "/tool_name")
			}
		}
	}
	if r.values() {
		e.addTexts("", inState, isText, isPointer, isExpected, isSent)
	}
	return e.of(snapshot)
}

// note returns a note with marks. It belongs to call at of runs, or to none if at is negative. Keys are
// hashes of arguments, so the note gets the key of the same call in written, the calls as they are in the
// journal.
func (r *redactor) note(n Note, runs, written []machine.ToolRun, at int) (Note, error) {
	e := &erasure{redactor: r}
	if at >= 0 {
		if n.End != nil {
			e.addToolEnd("/end", runs[at].Tool, n.End)
		}
		if _, ok := r.tool(runs[at].Tool); ok {
			e.addTexts("", inNote, isText)
		}
		if at < len(written) {
			n.Key = written[at].Key
		}
	}
	return erased(e, n)
}

// erasure is what is left out of one record: the values at its places, the names of members at others, names
// of tools that are to be hidden, every text that is too long, and texts and names that look like marks.
type erasure struct {
	*redactor
	places
	members places
	// names are the places of names of tools. Those that are offered, or in the config, are not hidden.
	names   *places
	offered []Tool
	cfg     *machine.Config
}

// erased returns a record with marks.
func erased[T any](e *erasure, record T) (left T, err error) {
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
func (e *erasure) of(document []byte) ([]byte, error) {
	w := rewriter{value: e.value, name: e.member}
	return w.rewrite(document)
}

// value returns the mark for a value, or nil to keep it.
func (e *erasure) value(at []string, value jsontext.Value, text string) ([]byte, error) {
	left := e.has(at)
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
func (e *erasure) member(at []string, name string) (string, error) {
	kept := !e.members.has(at) && !(looksMarked(name) && freeTexts().has(at))
	if kept || strings.TrimSpace(name) == "" {
		return name, nil
	}
	return e.keep(name, false)
}
