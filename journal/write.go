package journal

import (
	"encoding/json"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
)

// appendRecord appends a record as [canon.Marshal] writes it. Events and decisions, which are nearly all, are written here
// where they hold nothing rare; a test holds both ways to the same bytes, for every field that there is.
func appendRecord(dst []byte, rec *Record) ([]byte, error) {
	if to, ok := appendCommon(dst, rec); ok {
		return to, nil
	}
	raw, err := canon.Marshal(rec)
	return append(dst, raw...), err
}

// decisionRecord appends the record of a decision.
func decisionRecord(to []byte, d *Decision) ([]byte, error) {
	return appendRecord(to, &Record{Decision: d})
}

// appendCommon is appendRecord for what is common; ok is false for all else.
func appendCommon(dst []byte, rec *Record) (to []byte, ok bool) {
	w := writer{b: dst}
	w.open()
	switch {
	case rec.Header != nil || rec.Note != nil || rec.Snapshot != nil || (rec.Event == nil) == (rec.Decision == nil):
		return dst, false
	case rec.Event != nil:
		part(&w, kindEvent, rec.Event, writeEvent)
	default:
		part(&w, kindDecision, rec.Decision, writeDecision)
	}
	w.close()
	return w.b, !w.odd
}

func writeEvent(w *writer, e *Event) {
	w.odd = w.odd || e.Adjust != nil
	w.open()
	w.time("at", e.At)
	part(w, "failure", e.Failure, writeFailure)
	w.str("kind", string(e.Kind))
	list(w, "messages", e.Messages, writeMessage)
	part(w, "plan", e.Plan, writePlan)
	part(w, "reduced", e.Reduced, writeReduced)
	part(w, "reply", e.Reply, writeReply)
	w.strIf("system", e.System)
	part(w, "tool", e.Tool, writeToolEnd)
	part(w, "try", e.Try, writeTry)
	w.close()
}

func writeDecision(w *writer, d *Decision) {
	w.open()
	list(w, "effects", d.Effects, writeEffect)
	w.strIf("prompt", d.Prompt)
	list(w, "said", d.Said, writeMessage)
	w.close()
}

func writeFailure(w *writer, f *fault.Failure) {
	w.open()
	w.str("class", string(f.Class))
	w.flagIf("final", f.Final)
	list(w, "issues", f.Issues, writeIssue)
	w.strIf("message", f.Message)
	w.str("plane", string(f.Plane))
	w.numIf("retry_after_ns", int64(f.RetryAfter))
	w.strIf("tool", f.Tool)
	w.close()
}

func writeIssue(w *writer, i *fault.Issue) {
	w.open()
	w.str("expected", i.Expected)
	w.str("got", string(i.Got))
	w.str("pointer", i.Pointer)
	w.str("rule", i.Rule)
	w.str("source", string(i.Source))
	w.strIf("value", i.Value)
	w.close()
}

func writeMessage(w *writer, m *message.Message) {
	w.open()
	w.strIf("call_id", m.CallID)
	list(w, "calls", m.Calls, writeProposal)
	w.flagIf("is_error", m.IsError)
	w.strIf("name", m.Name)
	w.strIf("opaque", m.Opaque)
	w.str("role", string(m.Role))
	w.strIf("text", m.Text)
	w.close()
}

func writeProposal(w *writer, c *message.Call) {
	w.open()
	w.str("arguments", c.Arguments)
	w.strIf("id", c.ID)
	w.str("name", c.Name)
	w.close()
}

func writePlan(w *writer, p *machine.Plan) {
	w.odd = w.odd || p.Policy != nil
	w.open()
	w.numIf("delay_ns", int64(p.Delay))
	w.str("do", string(p.Do))
	w.strIf("model", p.Model)
	w.strIf("note", p.Note)
	w.strIf("prompt", p.Prompt)
	w.flagIf("reset_budgets", p.ResetBudgets)
	w.strIf("warning", p.Warning)
	w.close()
}

func writeReduced(w *writer, r *machine.Reduced) {
	w.open()
	part(w, "error", r.Error, writeReducerError)
	list(w, "ops", r.Ops, writeOp)
	w.close()
}

func writeReducerError(w *writer, e *fault.ReducerError) {
	w.open()
	w.str("message", e.Message)
	w.flagIf("panicked", e.Panicked)
	w.str("payload", e.Payload)
	w.str("reducer", e.Reducer)
	w.close()
}

func writeOp(w *writer, o *reducer.Op) {
	w.open()
	w.str("kind", string(o.Kind))
	w.str("slice", o.Slice)
	list(w, "values", o.Values, func(w *writer, v *json.RawMessage) { w.value(*v) })
	w.close()
}

func writeReply(w *writer, r *machine.Reply) {
	w.open()
	part(w, "answer", r.Answer, writeAnswer)
	list(w, "calls", r.Calls, writeCall)
	w.key("message")
	writeModelReply(w, &r.Message)
	w.flagIf("native", r.Native)
	w.close()
}

func writeAnswer(w *writer, a *machine.Answer) {
	w.open()
	list(w, "issues", a.Issues, writeIssue)
	part(w, "reduced", a.Reduced, writeReduced)
	list(w, "repairs", a.Repairs, writeRepair)
	w.rawIf("value", a.Value)
	w.close()
}

func writeRepair(w *writer, r *extract.Repair) {
	w.open()
	w.str("kind", string(r.Kind))
	w.num("offset", int64(r.Offset))
	w.close()
}

func writeCall(w *writer, c *machine.Call) {
	w.open()
	w.rawIf("arguments", c.Arguments)
	w.strIf("class", string(c.Class))
	w.str("id", c.ID)
	list(w, "issues", c.Issues, writeIssue)
	w.strIf("raw", c.Raw)
	list(w, "repairs", c.Repairs, writeRepair)
	w.str("tool", c.Tool)
	w.close()
}

func writeModelReply(w *writer, r *message.Reply) {
	w.open()
	list(w, "calls", r.Calls, writeProposal)
	w.strIf("finish_reason", string(r.Finish))
	w.strIf("model", r.Model)
	w.strIf("opaque", r.Opaque)
	w.strIf("refusal", r.Refusal)
	w.strIf("text", r.Text)
	writeUsage(w, r.Usage)
	w.close()
}

func writeUsage(w *writer, u message.Usage) {
	if u == (message.Usage{}) {
		return
	}
	w.key("usage")
	w.open()
	w.numIf("api_calls", u.APICalls)
	w.numIf("cache_read_tokens", u.CacheReadTokens)
	w.numIf("cache_write_tokens", u.CacheWriteTokens)
	w.numIf("input_tokens", u.InputTokens)
	w.numIf("output_tokens", u.OutputTokens)
	w.close()
}

func writeToolEnd(w *writer, e *machine.ToolEnd) {
	w.open()
	part(w, "failure", e.Failure, writeFailure)
	w.num("index", int64(e.Index))
	list(w, "issues", e.Issues, writeIssue)
	w.rawIf("progress", e.Progress)
	part(w, "reduced", e.Reduced, writeReduced)
	w.rawIf("result", e.Result)
	w.strIf("text", e.Text)
	w.str("verdict", string(e.Verdict))
	w.close()
}

func writeTry(w *writer, t *machine.Try) {
	w.open()
	w.flagIf("abandoned", t.Abandoned)
	if f := &t.Failure; f.Class != "" || f.Plane != "" || f.Tool != "" || f.Message != "" || f.Issues != nil || f.RetryAfter != 0 || f.Final {
		part(w, "failure", f, writeFailure)
	}
	w.strIf("same", t.Same)
	writeUsage(w, t.Usage)
	w.close()
}

// appendSaid appends a message as [canon.Marshal] writes it.
func appendSaid(dst []byte, m *message.Message) ([]byte, error) {
	w := writer{b: dst}
	if writeMessage(&w, m); !w.odd {
		return w.b, nil
	}
	raw, err := canon.Marshal(m)
	return append(dst, raw...), err
}
