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
	"github.com/retake-go/retake/internal/masked"
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

// namesOfTools are the places of names in an event, and repeated those of what repeats what was said before.
var (
	namesOfTools = sync.OnceValue(func() *places { return placesOf(inEvent, isName) })
	repeated     = sync.OnceValue(func() *places {
		p := placesOf(inEvent, isValue, isRefused)
		p.addTexts("", inEvent.below("/failure", "/try/failure", "/cut", "/kept", "/summary"))
		return p
	})
)

// addEvent adds what is left out of an event.
func (e *erasure) addEvent(ev *machine.Event, before *machine.State) {
	if e.Prompts {
		e.addTexts("", inEvent, isPrompt)
		e.addTexts("/messages/*", inMessage, isText)
		e.addTexts("/response", inResponse, isText)
		e.add("/said/words", "/text")
	}
	if e.hearsay() {
		e.addHistory(ev.Messages)
		e.heard = repeated()
	}
	e.addReduced("/reduced", ev.Reduced)
	for n := range ev.Reductions {
		e.addReduced("/reductions/"+strconv.Itoa(n), &ev.Reductions[n])
	}
	if ev.Reply != nil {
		e.addReply(ev.Reply)
	}
	if ev.Try != nil {
		e.addTry(before.Config.Action, ev.Try)
	}
	if end, batch := ev.Tool, before.Batch; end != nil && batch != nil && end.Index >= 0 &&
		end.Index < len(batch.Calls) {
		e.addReduced("/tool/reduced", end.Reduced)
		if rules, ok := e.tool(batch.Calls[end.Index].Tool); ok {
			e.add("/tool/result", rules.Result...)
			e.addTexts("/tool", inToolEnd)
		}
	}
	if ev.Response != nil {
		e.addResponse(ev, before)
	}
}

// values reports whether values of calls or answers are redacted.
func (r *redactor) values() bool { return len(r.Tools)+len(r.Answer) > 0 }

// hearsay reports whether anything that was said is left out. Then all that repeats it is, too: nobody knows
// what reducers, errors, summaries and histories have of it.
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
	if len(rules) == 0 {
		return
	}
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

// addTry adds what is left out of a try of an action: of a tool, or of the answer if it names none.
func (e *erasure) addTry(action string, try *machine.Try) {
	e.addReduced("/try/reduced", try.Reduced)
	rules, _ := e.tool(action)
	e.add("/try/value", rules.Result...)
	if action == machine.AnswerAction {
		e.add("/try/value", e.Answer...)
	}
}

// addReply adds what is left out of a reply: all its words, if anything in it has rules, because calls and
// answers stand in them as the model wrote them. A reply that could not be parsed may have either.
func (e *erasure) addReply(reply *machine.Reply) {
	a := reply.Answer
	unread := len(reply.Calls) == 0 && (a == nil || len(a.Issues) > 0)
	// A model may write its answer beside calls, too, where nobody reads it.
	answers := len(e.Answer) > 0 && (a != nil || strings.ContainsAny(reply.Message.Text, `{["`))
	if a != nil {
		e.addReduced("/reply/answer/reduced", a.Reduced)
		e.addDocument("/reply/answer/value", "/reply/answer/issues", a.Issues, e.Answer)
	}
	ruled := e.Replies || e.values() && unread || answers
	for _, c := range reply.Message.Calls {
		_, has := e.rules(c.Name, !e.known(c.Name))
		ruled = ruled || has
	}
	for n := range reply.Calls {
		c, at := &reply.Calls[n], "/reply/calls/"+strconv.Itoa(n)
		rules, has := e.rules(c.Tool, c.Class == fault.UnknownTool)
		ruled = ruled || has || !reply.Native && e.hides(c.Tool) // the text of a call in tags has the name
		for _, is := range arguments {
			e.addDocument(at+is, at+"/issues", c.Issues, rules.Arguments)
		}
	}
	if ruled {
		e.addTexts("/reply/message", inReply)
		e.addTexts("/reply/calls/*", inCall, isText)
	}
}

// arguments are the places of what a call is given, in its forms.
var arguments = []string{"/arguments", "/exact", "/identity"}

// wholly leaves out arguments and results.
var wholly = ToolRedaction{[]string{""}, []string{""}}

// rules returns the rules for a call; ok is false if there are none. That of an unknown tool may be a
// misspelled call of any tool.
func (e *erasure) rules(tool string, unknown bool) (rules ToolRedaction, ok bool) {
	if unknown && len(e.Tools) > 0 {
		return wholly, true
	}
	return e.tool(tool)
}

// addResponse adds what is left out of a person's answer: what is left out of the call that it is about. If
// nobody knows that, all is.
func (e *erasure) addResponse(ev *machine.Event, before *machine.State) {
	rules, ok := wholly, e.values()
	for _, a := range before.Asks() {
		if a.ID == ev.Response.Question {
			rules, ok = e.tool(a.Tool)
		}
	}
	if !ok {
		return
	}
	for _, is := range arguments {
		e.add("/response"+is, rules.Arguments...)
	}
	e.add("/response/result", rules.Result...)
	e.addTexts("/response", inResponse)
}

// addReduced adds the results of reducers for the named slices.
func (e *erasure) addReduced(at string, reduced *machine.Reduced) {
	if reduced == nil || len(e.Slices) == 0 {
		return
	}
	for n, op := range reduced.Ops {
		if slices.Contains(e.Slices, op.Slice) {
			e.add(at+"/ops/"+strconv.Itoa(n), "/values/*")
		}
	}
	e.addTexts(at, inReduced, isRefused)
}

// header returns a header with marks in the place of templates and stop sequences. Its state has them
// already.
func (r *redactor) header(h Header) (Header, error) {
	state := h.State
	h.State = nil
	e := &erasure{redactor: r}
	if r.Prompts || r.shortens(h.Config.Vars) || r.hidesSlices() && readSlices(&h.Config) {
		e.addTexts("", inHeader, isPrompt)
	}
	h, err := erased(e, h)
	h.State = state
	return h, err
}

// shortens reports whether a mark might take the place of a text in vars. A template may not render with the
// mark: then it is left out with its vars.
func (r *redactor) shortens(vars map[string]json.RawMessage) bool {
	return slices.ContainsFunc(canon.Keys(vars), func(name string) bool {
		return r.tooLong(string(vars[name])) || bytes.Contains(vars[name], []byte(markStart))
	})
}

// hidesSlices reports whether marks may take the place of values in slices. A template that reads members of
// them does not render with the marks, and is left out, too.
func (r *redactor) hidesSlices() bool { return len(r.Slices) > 0 || r.hearsay() }

// readSlices reports whether the templates may read slices.
func readSlices(cfg *machine.Config) bool {
	return slices.ContainsFunc([]string{cfg.System, cfg.Feedback}, func(text string) bool {
		return strings.Contains(text, "{{") && strings.Contains(text, "values")
	})
}

// state returns a session's snapshot with marks: of the named slices, or of all that was said if some of it
// is left out. h is the header that it is for.
func (r *redactor) state(snapshot []byte, h *Header) ([]byte, error) {
	var held wireState
	if err := canon.UnmarshalKnown(snapshot, &held); err != nil {
		return nil, err
	}
	e := &erasure{redactor: r, names: placesOf(inState, isName), offered: h.Tools, cfg: &h.Config}
	for n, s := range held.Slices {
		if slices.Contains(r.Slices, s.Name) {
			e.add("/slices/"+strconv.Itoa(n), "/values/*")
		}
	}
	if e.addTexts("", inState, isRefused); r.hearsay() {
		e.addTexts("", inState)
	}
	return e.of(snapshot)
}

// note returns a note with marks. It belongs to a call of a tool, or to none.
func (r *redactor) note(n Note, tool string) (Note, error) {
	if n.Kind == Undelivered { // why has names and values of what was put there
		n.Text, _, _ = strings.Cut(n.Text, ": ")
	}
	e := &erasure{redactor: r}
	if rules, ok := r.tool(tool); ok && tool != "" {
		e.add("/end/result", rules.Result...)
		e.addTexts("", inNote)
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
	// heard are the places of what repeats what was said.
	heard *places
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
	w := masked.Rewriter{Value: e.value, Name: e.member}
	return w.Rewrite(document)
}

// value returns the mark for a value, or nil to keep it.
func (e *erasure) value(at []string, value jsontext.Value, text string) ([]byte, error) {
	left := e.has(at) || e.heard.has(at)
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
