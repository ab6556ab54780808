package journal

import (
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

// Parts of records that are redacted together, as pointers relative to the part.
var (
	ofParts   = []string{"/*/text", "/*/url", "/*/data", "/*/name"}
	ofMessage = []string{"/text", "/opaque", "/calls/*/arguments", "/parts/*/text", "/parts/*/url",
		"/parts/*/data", "/parts/*/name"}
	ofIssues  = []string{"/*/pointer", "/*/expected", "/*/value", "/*/sent"}
	ofFailure = []string{
		"/message", "/text", "/issues/*/pointer", "/issues/*/expected", "/issues/*/value", "/issues/*/sent",
	}
	ofReducer = []string{"/error/payload", "/error/message"}
)

// event returns an event with marks in place of redacted values. before is the state before the event.
func (r *redactor) event(ev Event, before *machine.State, offered []Tool) (Event, error) {
	raw, err := canon.Marshal(ev)
	if err != nil {
		return ev, err
	}
	raw, err = r.erase(raw, r.valuesOf(&ev, before, offered), r.namesOf(ev.Reply))
	if err != nil {
		return ev, err
	}
	var left Event
	err = canon.UnmarshalKnown(raw, &left)
	return left, err
}

// valuesOf returns the values of an event to redact.
func (r *redactor) valuesOf(ev *Event, before *machine.State, offered []Tool) *places {
	p := new(places)
	if r.Prompts {
		p.add("", "/messages/*/text", "/messages/*/calls/*/arguments", "/system", "/plan/prompt")
		p.add("/messages/*/parts", ofParts...)
	}
	if r.Prompts || r.Replies {
		p.add("/failure", "/message", "/text")
	}
	if r.values() {
		p.addHistory(ev.Messages)
		p.add("/failure/issues", ofIssues...)
	}
	names := hiddenNames{r, offered, before.Config}
	names.add(p, ev)
	if ev.Reply != nil {
		r.addReply(p, ev.Reply, names)
	}
	if ev.Try != nil {
		r.addTry(p, before.Config.Action, ev.Try)
	}
	if end, batch := ev.Tool, before.Batch; end != nil && batch != nil && end.Index >= 0 &&
		end.Index < len(batch.Calls) {
		r.addToolEnd(p, "/tool", batch.Calls[end.Index].Tool, end)
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

func (h hiddenNames) add(p *places, ev *Event) {
	for n, m := range ev.Messages {
		at := "/messages/" + strconv.Itoa(n)
		if h.hides(m.Name) {
			p.add(at, "/name")
		}
		h.addCalls(p, at, m.Calls)
	}
	if ev.Failure != nil && h.hides(ev.Failure.Tool) {
		p.add("/failure", "/tool")
	}
	if ev.Reply == nil {
		return
	}
	h.addCalls(p, "/reply/message", ev.Reply.Message.Calls)
	for n, c := range ev.Reply.Calls {
		if c.Class == fault.UnknownTool && h.hides(c.Tool) {
			p.add("/reply/calls/"+strconv.Itoa(n), "/tool")
		}
	}
}

func (h hiddenNames) addCalls(p *places, at string, calls []message.Call) {
	for n, c := range calls {
		if h.hides(c.Name) {
			p.add(at+"/calls/"+strconv.Itoa(n), "/name")
		}
	}
}

// namesOf returns the members of a reply whose names are redacted: those that the schema does not allow.
func (r *redactor) namesOf(reply *machine.Reply) *places {
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
	p.add(issues, "/*/value", "/*/sent")
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

// addHistory adds the messages before a run up to the last of a model or a tool, because they contain calls,
// answers and results in any form.
func (p *places) addHistory(said []message.Message) {
	last := len(said) - 1
	for last >= 0 && said[last].Role != message.Assistant && said[last].Role != message.Tool {
		last--
	}
	for n := range last + 1 {
		p.add("/messages/"+strconv.Itoa(n), ofMessage...)
	}
}

// addTry adds what is redacted of a try of an action: of a tool, or of the answer if it names none.
func (r *redactor) addTry(p *places, action string, try *machine.Try) {
	rules, ok := r.tool(action)
	r.addReduced(p, "/try/reduced", try.Reduced, ok || len(r.Answer) > 0)
	if ok || r.Prompts || r.Replies {
		p.add("/try/failure", ofFailure...)
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
		p.add("/reply/message", "/text", "/thinking", "/opaque")
	}
	if r.Replies {
		p.add("/reply/message", "/refusal")
	}
	for n := range reply.Calls {
		r.addCall(p, reply, n)
	}
	for n, c := range reply.Message.Calls {
		if _, ok := r.tool(c.Name); ok || (!names.known(c.Name) && len(r.Tools) > 0) {
			p.add("/reply/message/calls/"+strconv.Itoa(n), "/arguments")
		}
	}
	if a := reply.Answer; a != nil {
		if len(r.Answer) > 0 {
			p.addDocument("/reply/answer/value", "/reply/answer/issues", a.Issues, r.Answer)
			p.add("/reply/message", "/text", "/thinking", "/opaque")
		}
		r.addReduced(p, "/reply/answer/reduced", a.Reduced, len(r.Answer) > 0 || r.Replies)
	}
}

// addCall adds what is redacted of one call. The call of an unknown tool may be a misspelled call of any
// tool.
func (r *redactor) addCall(p *places, reply *machine.Reply, n int) {
	c := &reply.Calls[n]
	rules, ok := r.tool(c.Tool)
	if len(r.Tools) > 0 && c.Class == fault.UnknownTool {
		rules.Arguments, ok = []string{""}, true
	}
	if !ok {
		return
	}
	at := "/reply/calls/" + strconv.Itoa(n)
	if len(rules.Arguments) > 0 {
		p.addDocument(at+"/arguments", at+"/issues", c.Issues, rules.Arguments)
	}
	p.add(at, "/raw")
	p.add("/reply/message", "/thinking", "/opaque")
	if !reply.Native {
		p.add("/reply/message", "/text")
	}
}

func (r *redactor) addToolEnd(p *places, at, name string, end *machine.ToolEnd) {
	rules, ok := r.tool(name)
	if ok {
		p.add(at+"/result", rules.Result...)
		p.add(at, "/progress", "/text")
		p.add(at+"/parts", ofParts...)
		p.add(at+"/issues", ofIssues...)
		p.add(at+"/failure", ofFailure...)
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
		p.add(at, ofReducer...)
	}
}

// header is a header with marks in the place of templates and stop sequences.
func (r *redactor) header(h Header) (Header, error) {
	h.Config.Stop = slices.Clone(h.Config.Stop)
	texts := []*string{&h.Config.System, &h.Config.Feedback}
	for n := range h.Config.Stop {
		texts = append(texts, &h.Config.Stop[n])
	}
	for _, text := range texts {
		if *text == "" || !(r.Prompts || looksMarked(*text) || r.tooLong(*text)) {
			continue
		}
		m, err := r.keep([]byte(*text), false)
		if err != nil {
			return h, err
		}
		*text = m
	}
	return h, nil
}

// state returns a session's snapshot with marks: of the named slices, or of all slices if reducers receive
// redacted data.
func (r *redactor) state(snapshot []byte) ([]byte, error) {
	var held struct {
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
	if err := canon.Unmarshal(snapshot, &held); err != nil {
		return nil, err
	}
	var p places
	for n, s := range held.Slices {
		if r.hearsay() || slices.Contains(r.Slices, s.Name) {
			p.add("/slices/"+strconv.Itoa(n), "/values/*")
		}
	}
	p.add("/reducer_errors/*", "/payload", "/message")
	if len(r.Tools) > 0 || r.Replies {
		for n, a := range held.Attempts {
			if a.Class == fault.UnknownTool {
				p.add("/attempts/"+strconv.Itoa(n), "/action")
			}
		}
		for n, f := range held.Feedback {
			if f.Class == fault.UnknownTool {
				p.add("/feedback/"+strconv.Itoa(n), "/tool_name")
			}
		}
	}
	if r.values() {
		p.add("/feedback/*/issues", ofIssues...)
		p.add("/attempts/*/issues", ofIssues...)
		p.add("/feedback/*/diff/*", ofIssues...)
		p.add("/feedback/*", "/message", "/detail")
	}
	return r.erase(snapshot, &p, new(places))
}

// note returns a note with marks. It belongs to call at of runs, or to none if at is negative. Keys are
// hashes of arguments, so the note gets the key of the same call in written, the calls as they are in the
// journal.
func (r *redactor) note(n Note, runs, written []machine.ToolRun, at int) (Note, error) {
	var p places
	if at >= 0 {
		_, ok := r.tool(runs[at].Tool)
		if n.Landed != nil {
			r.addToolEnd(&p, "/landed/end", runs[at].Tool, &n.Landed.End)
		}
		if ok {
			p.add("", "/landed/events/*/payload", "/progress/progress")
		}
		if at < len(written) {
			n = n.of(written[at].Key)
		}
	}
	raw, err := canon.Marshal(n)
	if err == nil {
		raw, err = r.erase(raw, &p, new(places))
	}
	if err != nil {
		return n, err
	}
	var left Note
	err = canon.UnmarshalKnown(raw, &left)
	return left, err
}

// freeTexts are the places in events, notes and states of texts from outside, which may be too long or look
// like a mark.
var freeTexts = sync.OnceValue(freePlaces)

func freePlaces() *places {
	p := new(places)
	p.add("/messages/*", ofMessage...)
	p.add("", "/system", "/plan/prompt", "/plan/note")
	p.add("/reply/message", "/text", "/thinking", "/opaque", "/refusal", "/calls/*/arguments")
	p.add("/reply/calls/*", "/raw", "/arguments/**")
	p.add("/reply/answer", "/value/**")
	for _, end := range []string{"/tool", "/landed/end"} {
		p.add(end, "/result/**", "/text", "/progress/**")
		p.add(end+"/parts", ofParts...)
	}
	p.add("/try", "/value/**")
	for _, failure := range []string{"", "/tool", "/try", "/landed/end"} {
		p.add(failure+"/failure", ofFailure...)
	}
	for _, issues := range []string{"/tool", "/reply/calls/*", "/reply/answer", "/landed/end", "/feedback/*",
		"/attempts/*"} {
		p.add(issues+"/issues", ofIssues...)
	}
	p.add("/feedback/*/diff/*", ofIssues...)
	for _, reduced := range []string{"", "/tool", "/try", "/reply/answer", "/landed/end"} {
		p.add(reduced+"/reduced", "/ops/*/values/**")
		p.add(reduced+"/reduced", ofReducer...)
	}
	p.add("/reductions/*", "/ops/*/values/**")
	p.add("/reductions/*", ofReducer...)
	p.add("", "/slices/*/values/**", "/reducer_errors/*/payload", "/reducer_errors/*/message")
	p.add("/feedback/*", "/message", "/detail")
	p.add("", "/landed/events/*/payload/**", "/progress/progress/**")
	return p
}

// erase redacts the values at some places, the names of members at others, every text that is too long, and
// texts and names that look like marks.
func (r *redactor) erase(document []byte, values, names *places) ([]byte, error) {
	w := rewriter{
		value: func(at []string, value jsontext.Value) ([]byte, error) {
			if values.has(at) {
				return r.mark(value)
			}
			if value.Kind() != '"' || !freeTexts().has(at) {
				return nil, nil
			}
			text, err := unquote(value)
			if err != nil || !looksMarked(text) && !r.tooLong(text) {
				return nil, err
			}
			return r.mark(value)
		},
		name: func(at []string, name string) (string, error) {
			kept := !names.has(at) && !(looksMarked(name) && freeTexts().has(at))
			if kept || strings.TrimSpace(name) == "" {
				return name, nil
			}
			return r.keep([]byte(name), false)
		},
	}
	return w.rewrite(document)
}
