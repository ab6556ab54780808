package journal

import (
	"slices"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
)

// record appends a record as [canon.Marshal] writes it. Events and decisions, which are nearly all, are written here where they hold
// nothing rare; a test holds both ways to the same bytes, for every field that there is.
func (w *writer) record(rec *Record) error {
	switch {
	case rec.Header != nil || rec.Note != nil || rec.Snapshot != nil || (rec.Event == nil) == (rec.Decision == nil):
		return w.library(len(w.b), rec)
	case rec.Event != nil:
		return w.event(rec.Event)
	}
	return w.decision(rec.Decision, nil)
}

// event appends the record of an event.
func (w *writer) event(e *Event) error {
	from := len(w.b)
	if w.eventQuickly(e) {
		return nil
	}
	// What the library is given is copied, so that no event need be on the heap for its sake.
	whole := *e
	return w.library(from, &Record{Event: &whole})
}

// eventQuickly appends the record of an event; false where the library has to write it.
func (w *writer) eventQuickly(e *Event) bool {
	w.odd = false
	return w.whole(writeEvent(w, append(w.b, '{'), keyEvent+"{", e))
}

// decision appends the record of a decision. Where t is not nil it hears it, and the digest of the prompt is what t says.
func (w *writer) decision(d *Decision, t *talk) error {
	from := len(w.b)
	if w.decisionQuickly(d, t) {
		return nil
	}
	whole := *d
	if t != nil {
		if err := t.decide(&whole); err != nil {
			return err
		}
	}
	return w.library(from, &Record{Decision: &whole})
}

// decisionQuickly is eventQuickly for a decision.
func (w *writer) decisionQuickly(d *Decision, t *talk) bool {
	w.odd = false
	return w.whole(writeDecision(w, append(w.b, '{'), keyDecision+"{", d, t))
}

// whole ends a record, with which b ends; it reports whether it is written as it should be.
func (w *writer) whole(b []byte) bool {
	b = closed(b, '}')
	w.b = b[:len(b)-1]
	return !w.odd
}

// library has the library write a record, in the place of what stands after from.
func (w *writer) library(from int, rec *Record) error {
	w.forget()
	raw, err := canon.Marshal(rec)
	w.b = append(w.b[:from], raw...)
	return err
}

// The first keys of records.
const (
	keyEvent    = `"` + kindEvent + `":`
	keyDecision = `"` + kindDecision + `":`
)

func writeEvent(w *writer, b []byte, key string, e *Event) []byte {
	w.odd = w.odd || e.Adjust != nil
	b = append(b, key...)
	b = w.time(b, `"at":"`, e.At)
	b = writeFailure(w, b, `"failure":{`, e.Failure)
	b = w.str(b, `"kind":"`, string(e.Kind))
	b = writeMessages(w, b, `"messages":[`, e.Messages)
	b = writePlan(w, b, `"plan":{`, e.Plan)
	b = writeReduced(w, b, `"reduced":{`, e.Reduced)
	b = writeReply(w, b, `"reply":{`, e.Reply)
	b = w.strIf(b, `"system":"`, e.System)
	b = writeToolEnd(w, b, `"tool":{`, e.Tool)
	b = writeTry(w, b, `"try":{`, e.Try)
	return closed(b, '}')
}

func writeFailure(w *writer, b []byte, key string, f *fault.Failure) []byte {
	if f == nil {
		return b
	}
	b = append(b, key...)
	b = w.str(b, `"class":"`, string(f.Class))
	b = w.flagIf(b, `"final":`, f.Final)
	b = writeIssues(w, b, `"issues":[`, f.Issues)
	b = w.strIf(b, `"message":"`, f.Message)
	b = w.str(b, `"plane":"`, string(f.Plane))
	b = w.numIf(b, `"retry_after_ns":`, int64(f.RetryAfter))
	b = w.strIf(b, `"tool":"`, f.Tool)
	return closed(b, '}')
}

func writeIssues(w *writer, b []byte, key string, issues []fault.Issue) []byte {
	if len(issues) == 0 {
		return b
	}
	b = append(b, key...)
	from := len(b)
	if slices.Equal(issues, w.issues) {
		return w.issuesAt.again(b)
	}
	for n := range issues {
		i := &issues[n]
		b = append(b, '{')
		b = w.str(b, `"expected":"`, i.Expected)
		b = w.str(b, `"got":"`, string(i.Got))
		b = w.str(b, `"pointer":"`, i.Pointer)
		b = w.str(b, `"rule":"`, i.Rule)
		b = w.str(b, `"source":"`, string(i.Source))
		b = w.strIf(b, `"value":"`, i.Value)
		b = closed(b, '}')
	}
	b = closed(b, ']')
	w.issues, w.issuesAt = issues, span{from, len(b) - len(",")}
	return b
}

func writeMessages(w *writer, b []byte, key string, all []message.Message) []byte {
	if len(all) == 0 {
		return b
	}
	b = append(b, key...)
	for n := range all {
		b = writeMessage(w, b, &all[n])
	}
	return closed(b, ']')
}

func writeMessage(w *writer, b []byte, m *message.Message) []byte {
	b = append(b, '{')
	b = w.strIf(b, `"call_id":"`, m.CallID)
	b = writeProposals(w, b, `"calls":[`, m.Calls)
	b = w.flagIf(b, `"is_error":`, m.IsError)
	b = w.strIf(b, `"name":"`, m.Name)
	b = w.pieceIf(b, `"opaque":"`, m.Opaque)
	b = w.str(b, `"role":"`, string(m.Role))
	b = w.pieceIf(b, `"text":"`, m.Text)
	return closed(b, '}')
}

func writeProposals(w *writer, b []byte, key string, calls []message.Call) []byte {
	if len(calls) == 0 {
		return b
	}
	b = append(b, key...)
	for n := range calls {
		c := &calls[n]
		b = append(b, '{')
		b = w.piece(b, `"arguments":"`, c.Arguments)
		b = w.strIf(b, `"id":"`, c.ID)
		b = w.str(b, `"name":"`, c.Name)
		b = closed(b, '}')
	}
	return closed(b, ']')
}

func writePlan(w *writer, b []byte, key string, p *machine.Plan) []byte {
	if p == nil {
		return b
	}
	w.odd = w.odd || p.Policy != nil
	b = append(b, key...)
	b = w.numIf(b, `"delay_ns":`, int64(p.Delay))
	b = w.str(b, `"do":"`, string(p.Do))
	b = w.strIf(b, `"model":"`, p.Model)
	b = w.strIf(b, `"note":"`, p.Note)
	b = w.strIf(b, `"prompt":"`, p.Prompt)
	b = w.flagIf(b, `"reset_budgets":`, p.ResetBudgets)
	b = w.strIf(b, `"warning":"`, p.Warning)
	return closed(b, '}')
}

func writeReduced(w *writer, b []byte, key string, r *machine.Reduced) []byte {
	if r == nil {
		return b
	}
	b = append(b, key...)
	b = writeReducerError(w, b, `"error":{`, r.Error)
	if len(r.Ops) > 0 {
		b = append(b, `"ops":[`...)
		for n := range r.Ops {
			b = writeOp(w, b, &r.Ops[n])
		}
		b = closed(b, ']')
	}
	return closed(b, '}')
}

func writeReducerError(w *writer, b []byte, key string, e *fault.ReducerError) []byte {
	if e == nil {
		return b
	}
	b = append(b, key...)
	b = w.str(b, `"message":"`, e.Message)
	b = w.flagIf(b, `"panicked":`, e.Panicked)
	b = w.str(b, `"payload":"`, e.Payload)
	b = w.str(b, `"reducer":"`, e.Reducer)
	return closed(b, '}')
}

func writeOp(w *writer, b []byte, o *reducer.Op) []byte {
	b = append(b, '{')
	b = w.str(b, `"kind":"`, string(o.Kind))
	b = w.str(b, `"slice":"`, o.Slice)
	if len(o.Values) > 0 {
		b = append(b, `"values":[`...)
		for _, v := range o.Values {
			w.odd = w.odd || v == nil
			b = w.raw(b, "", v)
		}
		b = closed(b, ']')
	}
	return closed(b, '}')
}

func writeReply(w *writer, b []byte, key string, r *machine.Reply) []byte {
	if r == nil {
		return b
	}
	b = append(b, key...)
	b = writeAnswer(w, b, `"answer":{`, r.Answer)
	if len(r.Calls) > 0 {
		b = append(b, `"calls":[`...)
		for n := range r.Calls {
			b = writeCall(w, b, &r.Calls[n])
		}
		b = closed(b, ']')
	}
	b = writeModelReply(w, b, `"message":{`, &r.Message)
	b = w.flagIf(b, `"native":`, r.Native)
	return closed(b, '}')
}

func writeAnswer(w *writer, b []byte, key string, a *machine.Answer) []byte {
	if a == nil {
		return b
	}
	b = append(b, key...)
	b = writeIssues(w, b, `"issues":[`, a.Issues)
	b = writeReduced(w, b, `"reduced":{`, a.Reduced)
	b = writeRepairs(w, b, `"repairs":[`, a.Repairs)
	b = w.rawIf(b, `"value":`, a.Value)
	return closed(b, '}')
}

func writeRepairs(w *writer, b []byte, key string, all []extract.Repair) []byte {
	if len(all) == 0 {
		return b
	}
	b = append(b, key...)
	for _, r := range all {
		b = append(b, '{')
		b = w.str(b, `"kind":"`, string(r.Kind))
		b = w.num(b, `"offset":`, int64(r.Offset))
		b = closed(b, '}')
	}
	return closed(b, ']')
}

func writeCall(w *writer, b []byte, c *machine.Call) []byte {
	b = append(b, '{')
	b = w.rawIf(b, `"arguments":`, c.Arguments)
	b = w.strIf(b, `"class":"`, string(c.Class))
	b = w.str(b, `"id":"`, c.ID)
	b = writeIssues(w, b, `"issues":[`, c.Issues)
	b = w.strIf(b, `"raw":"`, c.Raw)
	b = writeRepairs(w, b, `"repairs":[`, c.Repairs)
	b = w.str(b, `"tool":"`, c.Tool)
	return closed(b, '}')
}

func writeModelReply(w *writer, b []byte, key string, r *message.Reply) []byte {
	b = append(b, key...)
	b = writeProposals(w, b, `"calls":[`, r.Calls)
	b = w.strIf(b, `"finish_reason":"`, string(r.Finish))
	b = w.strIf(b, `"model":"`, r.Model)
	b = w.strIf(b, `"opaque":"`, r.Opaque)
	b = w.strIf(b, `"refusal":"`, r.Refusal)
	b = w.strIf(b, `"text":"`, r.Text)
	b = writeUsage(w, b, `"usage":{`, &r.Usage)
	return closed(b, '}')
}

func writeUsage(w *writer, b []byte, key string, u *message.Usage) []byte {
	if *u == (message.Usage{}) {
		return b
	}
	b = append(b, key...)
	b = w.numIf(b, `"api_calls":`, u.APICalls)
	b = w.numIf(b, `"cache_read_tokens":`, u.CacheReadTokens)
	b = w.numIf(b, `"cache_write_tokens":`, u.CacheWriteTokens)
	b = w.numIf(b, `"input_tokens":`, u.InputTokens)
	b = w.numIf(b, `"output_tokens":`, u.OutputTokens)
	return closed(b, '}')
}

func writeToolEnd(w *writer, b []byte, key string, e *machine.ToolEnd) []byte {
	if e == nil {
		return b
	}
	b = append(b, key...)
	b = writeFailure(w, b, `"failure":{`, e.Failure)
	b = w.num(b, `"index":`, int64(e.Index))
	b = writeIssues(w, b, `"issues":[`, e.Issues)
	b = w.rawIf(b, `"progress":`, e.Progress)
	b = writeReduced(w, b, `"reduced":{`, e.Reduced)
	b = w.rawIf(b, `"result":`, e.Result)
	b = w.strIf(b, `"text":"`, e.Text)
	b = w.str(b, `"verdict":"`, string(e.Verdict))
	return closed(b, '}')
}

func writeTry(w *writer, b []byte, key string, t *machine.Try) []byte {
	if t == nil {
		return b
	}
	b = append(b, key...)
	b = w.flagIf(b, `"abandoned":`, t.Abandoned)
	if f := &t.Failure; f.Class != "" || f.Plane != "" || f.Tool != "" || f.Message != "" || f.Issues != nil || f.RetryAfter != 0 || f.Final {
		b = writeFailure(w, b, `"failure":{`, f)
	}
	b = w.strIf(b, `"same":"`, t.Same)
	b = writeUsage(w, b, `"usage":{`, &t.Usage)
	return closed(b, '}')
}
