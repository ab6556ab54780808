package journal

import (
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
	w.open("")
	writeEvent(w, keyEvent, e)
	return w.whole()
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
	w.open("")
	writeDecision(w, keyDecision, d, t)
	return w.whole()
}

// whole ends a record; it reports whether it is written as it should be.
func (w *writer) whole() bool {
	w.close()
	w.b = w.b[:len(w.b)-1]
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

func writeEvent(w *writer, key string, e *Event) {
	w.odd = w.odd || e.Adjust != nil
	w.open(key)
	w.time(`"at":`, e.At)
	writeFailure(w, `"failure":`, e.Failure)
	w.str(`"kind":`, string(e.Kind))
	writeMessages(w, `"messages":`, e.Messages)
	writePlan(w, `"plan":`, e.Plan)
	writeReduced(w, `"reduced":`, e.Reduced)
	writeReply(w, `"reply":`, e.Reply)
	w.strIf(`"system":`, e.System)
	writeToolEnd(w, `"tool":`, e.Tool)
	writeTry(w, `"try":`, e.Try)
	w.close()
}

func writeFailure(w *writer, key string, f *fault.Failure) {
	if f == nil {
		return
	}
	w.open(key)
	w.str(`"class":`, string(f.Class))
	w.flagIf(`"final":`, f.Final)
	writeIssues(w, `"issues":`, f.Issues)
	w.strIf(`"message":`, f.Message)
	w.str(`"plane":`, string(f.Plane))
	w.numIf(`"retry_after_ns":`, int64(f.RetryAfter))
	w.strIf(`"tool":`, f.Tool)
	w.close()
}

func writeIssues(w *writer, key string, issues []fault.Issue) {
	if !w.listIf(key, len(issues)) {
		return
	}
	for n := range issues {
		i := &issues[n]
		w.open("")
		w.str(`"expected":`, i.Expected)
		w.str(`"got":`, string(i.Got))
		w.str(`"pointer":`, i.Pointer)
		w.str(`"rule":`, i.Rule)
		w.str(`"source":`, string(i.Source))
		w.strIf(`"value":`, i.Value)
		w.close()
	}
	w.closeList()
}

func writeMessages(w *writer, key string, all []message.Message) {
	if !w.listIf(key, len(all)) {
		return
	}
	for n := range all {
		writeMessage(w, &all[n])
	}
	w.closeList()
}

func writeMessage(w *writer, m *message.Message) {
	w.open("")
	w.strIf(`"call_id":`, m.CallID)
	writeProposals(w, `"calls":`, m.Calls)
	w.flagIf(`"is_error":`, m.IsError)
	w.strIf(`"name":`, m.Name)
	w.pieceIf(`"opaque":`, m.Opaque)
	w.str(`"role":`, string(m.Role))
	w.pieceIf(`"text":`, m.Text)
	w.close()
}

func writeProposals(w *writer, key string, calls []message.Call) {
	if !w.listIf(key, len(calls)) {
		return
	}
	for n := range calls {
		c := &calls[n]
		w.open("")
		w.piece(`"arguments":`, c.Arguments)
		w.strIf(`"id":`, c.ID)
		w.str(`"name":`, c.Name)
		w.close()
	}
	w.closeList()
}

func writePlan(w *writer, key string, p *machine.Plan) {
	if p == nil {
		return
	}
	w.odd = w.odd || p.Policy != nil
	w.open(key)
	w.numIf(`"delay_ns":`, int64(p.Delay))
	w.str(`"do":`, string(p.Do))
	w.strIf(`"model":`, p.Model)
	w.strIf(`"note":`, p.Note)
	w.strIf(`"prompt":`, p.Prompt)
	w.flagIf(`"reset_budgets":`, p.ResetBudgets)
	w.strIf(`"warning":`, p.Warning)
	w.close()
}

func writeReduced(w *writer, key string, r *machine.Reduced) {
	if r == nil {
		return
	}
	w.open(key)
	writeReducerError(w, `"error":`, r.Error)
	if w.listIf(`"ops":`, len(r.Ops)) {
		for n := range r.Ops {
			writeOp(w, &r.Ops[n])
		}
		w.closeList()
	}
	w.close()
}

func writeReducerError(w *writer, key string, e *fault.ReducerError) {
	if e == nil {
		return
	}
	w.open(key)
	w.str(`"message":`, e.Message)
	w.flagIf(`"panicked":`, e.Panicked)
	w.str(`"payload":`, e.Payload)
	w.str(`"reducer":`, e.Reducer)
	w.close()
}

func writeOp(w *writer, o *reducer.Op) {
	w.open("")
	w.str(`"kind":`, string(o.Kind))
	w.str(`"slice":`, o.Slice)
	if w.listIf(`"values":`, len(o.Values)) {
		for _, v := range o.Values {
			w.odd = w.odd || v == nil
			w.raw("", v)
		}
		w.closeList()
	}
	w.close()
}

func writeReply(w *writer, key string, r *machine.Reply) {
	if r == nil {
		return
	}
	w.open(key)
	writeAnswer(w, `"answer":`, r.Answer)
	if w.listIf(`"calls":`, len(r.Calls)) {
		for n := range r.Calls {
			writeCall(w, &r.Calls[n])
		}
		w.closeList()
	}
	writeModelReply(w, `"message":`, &r.Message)
	w.flagIf(`"native":`, r.Native)
	w.close()
}

func writeAnswer(w *writer, key string, a *machine.Answer) {
	if a == nil {
		return
	}
	w.open(key)
	writeIssues(w, `"issues":`, a.Issues)
	writeReduced(w, `"reduced":`, a.Reduced)
	writeRepairs(w, `"repairs":`, a.Repairs)
	w.rawIf(`"value":`, a.Value)
	w.close()
}

func writeRepairs(w *writer, key string, all []extract.Repair) {
	if !w.listIf(key, len(all)) {
		return
	}
	for _, r := range all {
		w.open("")
		w.str(`"kind":`, string(r.Kind))
		w.num(`"offset":`, int64(r.Offset))
		w.close()
	}
	w.closeList()
}

func writeCall(w *writer, c *machine.Call) {
	w.open("")
	w.rawIf(`"arguments":`, c.Arguments)
	w.strIf(`"class":`, string(c.Class))
	w.str(`"id":`, c.ID)
	writeIssues(w, `"issues":`, c.Issues)
	w.strIf(`"raw":`, c.Raw)
	writeRepairs(w, `"repairs":`, c.Repairs)
	w.str(`"tool":`, c.Tool)
	w.close()
}

func writeModelReply(w *writer, key string, r *message.Reply) {
	w.open(key)
	writeProposals(w, `"calls":`, r.Calls)
	w.strIf(`"finish_reason":`, string(r.Finish))
	w.strIf(`"model":`, r.Model)
	w.strIf(`"opaque":`, r.Opaque)
	w.strIf(`"refusal":`, r.Refusal)
	w.strIf(`"text":`, r.Text)
	writeUsage(w, `"usage":`, &r.Usage)
	w.close()
}

func writeUsage(w *writer, key string, u *message.Usage) {
	if *u == (message.Usage{}) {
		return
	}
	w.open(key)
	w.numIf(`"api_calls":`, u.APICalls)
	w.numIf(`"cache_read_tokens":`, u.CacheReadTokens)
	w.numIf(`"cache_write_tokens":`, u.CacheWriteTokens)
	w.numIf(`"input_tokens":`, u.InputTokens)
	w.numIf(`"output_tokens":`, u.OutputTokens)
	w.close()
}

func writeToolEnd(w *writer, key string, e *machine.ToolEnd) {
	if e == nil {
		return
	}
	w.open(key)
	writeFailure(w, `"failure":`, e.Failure)
	w.num(`"index":`, int64(e.Index))
	writeIssues(w, `"issues":`, e.Issues)
	w.rawIf(`"progress":`, e.Progress)
	writeReduced(w, `"reduced":`, e.Reduced)
	w.rawIf(`"result":`, e.Result)
	w.strIf(`"text":`, e.Text)
	w.str(`"verdict":`, string(e.Verdict))
	w.close()
}

func writeTry(w *writer, key string, t *machine.Try) {
	if t == nil {
		return
	}
	w.open(key)
	w.flagIf(`"abandoned":`, t.Abandoned)
	if f := &t.Failure; f.Class != "" || f.Plane != "" || f.Tool != "" || f.Message != "" || f.Issues != nil || f.RetryAfter != 0 || f.Final {
		writeFailure(w, `"failure":`, f)
	}
	w.strIf(`"same":`, t.Same)
	writeUsage(w, `"usage":`, &t.Usage)
	w.close()
}
