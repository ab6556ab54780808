package journal

import (
	"encoding/json"
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
func (w *writer) decision(d *Decision, t *conversation) error {
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
func (w *writer) decisionQuickly(d *Decision, t *conversation) bool {
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
	b = optional(w, b, `"failure":{`, e.Failure, writeFailure)
	b = w.str(b, `"kind":"`, string(e.Kind))
	b = list(w, b, `"messages":[`, e.Messages, writeMessage)
	b = optional(w, b, `"plan":{`, e.Plan, writePlan)
	b = optional(w, b, `"reduced":{`, e.Reduced, writeReduced)
	b = optional(w, b, `"reply":{`, e.Reply, writeReply)
	b = w.strIf(b, `"system":"`, e.System)
	b = optional(w, b, `"tool":{`, e.Tool, writeToolEnd)
	b = optional(w, b, `"try":{`, e.Try, writeTry)
	return closed(b, '}')
}

func writeFailure(w *writer, b []byte, f *fault.Failure) []byte {
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
	if slices.Equal(issues, w.issues) {
		return w.issuesAt.again(b)
	}
	from := len(b)
	b = entries(w, b, issues, writeIssue)
	w.issues, w.issuesAt = issues, span{from, len(b) - len(",")}
	return b
}

func writeIssue(w *writer, b []byte, i *fault.Issue) []byte {
	b = append(b, '{')
	b = w.str(b, `"expected":"`, i.Expected)
	b = w.str(b, `"got":"`, string(i.Got))
	b = w.str(b, `"pointer":"`, i.Pointer)
	b = w.str(b, `"rule":"`, i.Rule)
	b = w.str(b, `"source":"`, string(i.Source))
	b = w.strIf(b, `"value":"`, i.Value)
	return closed(b, '}')
}

func writeMessage(w *writer, b []byte, m *message.Message) []byte {
	b = append(b, '{')
	b = w.strIf(b, `"call_id":"`, m.CallID)
	b = list(w, b, `"calls":[`, m.Calls, writeProposal)
	b = w.flagIf(b, `"is_error":`, m.IsError)
	b = w.strIf(b, `"name":"`, m.Name)
	b = w.pieceIf(b, `"opaque":"`, m.Opaque)
	b = w.str(b, `"role":"`, string(m.Role))
	b = w.pieceIf(b, `"text":"`, m.Text)
	return closed(b, '}')
}

func writeProposal(w *writer, b []byte, c *message.Call) []byte {
	b = append(b, '{')
	b = w.piece(b, `"arguments":"`, c.Arguments)
	b = w.strIf(b, `"id":"`, c.ID)
	b = w.str(b, `"name":"`, c.Name)
	return closed(b, '}')
}

func writePlan(w *writer, b []byte, p *machine.Plan) []byte {
	w.odd = w.odd || p.Policy != nil
	b = w.numIf(b, `"delay_ns":`, int64(p.Delay))
	b = w.str(b, `"do":"`, string(p.Do))
	b = w.strIf(b, `"model":"`, p.Model)
	b = w.strIf(b, `"note":"`, p.Note)
	b = w.strIf(b, `"prompt":"`, p.Prompt)
	b = w.flagIf(b, `"reset_budgets":`, p.ResetBudgets)
	b = w.strIf(b, `"warning":"`, p.Warning)
	return closed(b, '}')
}

func writeReduced(w *writer, b []byte, r *machine.Reduced) []byte {
	b = optional(w, b, `"error":{`, r.Error, writeReducerError)
	b = list(w, b, `"ops":[`, r.Ops, writeOp)
	return closed(b, '}')
}

func writeReducerError(w *writer, b []byte, e *fault.ReducerError) []byte {
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
	b = list(w, b, `"values":[`, o.Values, writeValue)
	return closed(b, '}')
}

func writeValue(w *writer, b []byte, v *json.RawMessage) []byte {
	w.odd = w.odd || *v == nil
	return w.raw(b, "", *v)
}

func writeReply(w *writer, b []byte, r *machine.Reply) []byte {
	b = optional(w, b, `"answer":{`, r.Answer, writeAnswer)
	b = list(w, b, `"calls":[`, r.Calls, writeCall)
	b = w.numIf(b, `"calls_over":`, int64(r.CallsOver))
	b = optional(w, b, `"message":{`, &r.Message, writeModelReply)
	b = w.flagIf(b, `"native":`, r.Native)
	return closed(b, '}')
}

func writeAnswer(w *writer, b []byte, a *machine.Answer) []byte {
	b = writeIssues(w, b, `"issues":[`, a.Issues)
	b = optional(w, b, `"reduced":{`, a.Reduced, writeReduced)
	b = list(w, b, `"repairs":[`, a.Repairs, writeRepair)
	b = w.rawIf(b, `"value":`, a.Value)
	return closed(b, '}')
}

func writeRepair(w *writer, b []byte, r *extract.Repair) []byte {
	b = append(b, '{')
	b = w.str(b, `"kind":"`, string(r.Kind))
	b = w.num(b, `"offset":`, int64(r.Offset))
	return closed(b, '}')
}

func writeCall(w *writer, b []byte, c *machine.Call) []byte {
	b = append(b, '{')
	b = w.rawIf(b, `"arguments":`, c.Arguments)
	b = w.strIf(b, `"class":"`, string(c.Class))
	b = w.str(b, `"id":"`, c.ID)
	b = writeIssues(w, b, `"issues":[`, c.Issues)
	b = w.strIf(b, `"raw":"`, c.Raw)
	b = list(w, b, `"repairs":[`, c.Repairs, writeRepair)
	b = w.flagIf(b, `"repeatable":`, c.Repeatable)
	b = w.str(b, `"tool":"`, c.Tool)
	return closed(b, '}')
}

func writeModelReply(w *writer, b []byte, r *message.Reply) []byte {
	b = list(w, b, `"calls":[`, r.Calls, writeProposal)
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

func writeToolEnd(w *writer, b []byte, e *machine.ToolEnd) []byte {
	b = optional(w, b, `"failure":{`, e.Failure, writeFailure)
	b = w.num(b, `"index":`, int64(e.Index))
	b = writeIssues(w, b, `"issues":[`, e.Issues)
	b = w.rawIf(b, `"progress":`, e.Progress)
	b = optional(w, b, `"reduced":{`, e.Reduced, writeReduced)
	b = w.rawIf(b, `"result":`, e.Result)
	b = w.strIf(b, `"text":"`, e.Text)
	b = w.str(b, `"verdict":"`, string(e.Verdict))
	return closed(b, '}')
}

func writeTry(w *writer, b []byte, t *machine.Try) []byte {
	b = w.flagIf(b, `"abandoned":`, t.Abandoned)
	if f := &t.Failure; f.Class != "" || f.Plane != "" || f.Tool != "" || f.Message != "" || f.Issues != nil || f.RetryAfter != 0 || f.Final {
		b = optional(w, b, `"failure":{`, f, writeFailure)
	}
	b = w.strIf(b, `"same":"`, t.Same)
	b = writeUsage(w, b, `"usage":{`, &t.Usage)
	b = w.rawIf(b, `"value":`, t.Value)
	return closed(b, '}')
}
