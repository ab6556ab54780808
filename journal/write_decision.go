package journal

import (
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

func writeEffect(w *writer, e *machine.Effect) {
	w.odd = w.odd || e.Consultation != nil
	w.open()
	part(w, "decision", e.Decision, writeVerdict)
	part(w, "exhaustion", e.Exhaustion, writeExhaustion)
	w.str("kind", string(e.Kind))
	part(w, "model", e.Model, writeModelCall)
	part(w, "outcome", e.Outcome, writeOutcome)
	list(w, "tools", e.Tools, writeToolRun)
	part(w, "try", e.Try, writeTryRun)
	part(w, "wait", e.Wait, writeWait)
	w.close()
}

func writeVerdict(w *writer, d *machine.Decision) {
	w.open()
	w.str("action", d.Action)
	w.num("attempt", int64(d.Attempt))
	w.strIf("class", string(d.Class))
	w.num("delay_ns", int64(d.Delay))
	writeDetail(w, d.Detail)
	part(w, "feedback", d.Feedback, writeFeedback)
	w.num("max_attempts", int64(d.MaxAttempts))
	w.str("plane", string(d.Plane))
	w.str("reason", string(d.Reason))
	part(w, "reducer_error", d.ReducerError, writeReducerError)
	w.flag("retry", d.Retry)
	w.close()
}

func writeDetail(w *writer, d policy.Detail) {
	if d == (policy.Detail{}) {
		return
	}
	w.key("detail")
	w.open()
	w.numIf("count", int64(d.Count))
	w.numIf("limit", int64(d.Limit))
	w.numIf("room_ns", int64(d.Room))
	w.numIf("wait_ns", int64(d.Wait))
	w.close()
}

// writeFeedback leaves to the library what it may refuse.
func writeFeedback(w *writer, f *feedback.RetryFeedback) {
	if (f.Source != feedback.Tool && f.Source != feedback.StructuredOutput) || (f.Source != feedback.Tool && f.ToolName != "") ||
		f.Attempt < 1 || f.MaxAttempts == 0 || f.ErrorType == "" {
		w.odd = true
		return
	}
	w.open()
	w.num("attempt", int64(f.Attempt))
	w.strIf("correlation_id", f.CorrelationID)
	w.strIf("detail", f.Detail)
	if !f.Diff.IsZero() {
		part(w, "diff", &f.Diff, writeDiff)
	}
	w.str("error_type", string(f.ErrorType))
	w.key("issues")
	entries(w, f.Issues, writeIssue)
	w.num("max_attempts", int64(f.MaxAttempts))
	w.str("message", f.Message)
	if s := f.Schedule; s != nil {
		w.key("next_delay_seconds")
		w.b = feedback.AppendSeconds(w.b, s.Delay)
		w.odd = w.odd || s.Delay < 0
		w.time("retry_scheduled_at", s.At.UTC())
	}
	w.str("source", string(f.Source))
	if w.key("tool_name"); f.ToolName == "" {
		w.b = append(w.b, "null"...)
	} else {
		w.text(f.ToolName)
	}
	w.close()
}

func writeDiff(w *writer, d *feedback.Diff) {
	w.open()
	list(w, "fixed", d.Fixed, writeIssue)
	list(w, "new", d.New, writeIssue)
	list(w, "persistent", d.Persistent, writeIssue)
	w.close()
}

func writeExhaustion(w *writer, x *machine.Exhaustion) {
	w.open()
	w.str("action", x.Action)
	w.num("attempt", int64(x.Attempt))
	writeDetail(w, x.Detail)
	part(w, "failure", &x.Failure, writeFailure)
	w.num("max_attempts", int64(x.MaxAttempts))
	w.str("plane", string(x.Plane))
	w.str("reason", string(x.Reason))
	w.close()
}

func writeModelCall(w *writer, c *machine.ModelCall) {
	w.open()
	if w.key("at"); c.At == nil {
		w.b = append(w.b, "null"...)
	} else {
		entries(w, c.At, writePosition)
	}
	w.num("messages", int64(c.Messages))
	w.strIf("model", c.Model)
	w.strIf("system", c.System)
	w.num("transport", int64(c.Transport))
	w.num("turn", int64(c.Turn))
	w.close()
}

func writePosition(w *writer, p *machine.Position) {
	w.open()
	w.str("action", p.Action)
	w.num("attempt", int64(p.Attempt))
	w.num("max_attempts", int64(p.MaxAttempts))
	w.close()
}

func writeOutcome(w *writer, o *machine.Outcome) {
	w.open()
	list(w, "calls", o.Calls, writeToolRun)
	w.flagIf("degraded", o.Degraded)
	part(w, "exhaustion", o.Exhaustion, writeExhaustion)
	w.flag("ok", o.OK)
	w.str("reason", string(o.Reason))
	w.strIf("text", o.Text)
	w.numIf("turns", int64(o.Turns))
	writeUsage(w, o.Usage)
	w.rawIf("value", o.Value)
	w.numIf("waited_ns", int64(o.Waited))
	list(w, "warnings", o.Warnings, func(w *writer, s *string) { w.text(*s) })
	w.close()
}

func writeToolRun(w *writer, r *machine.ToolRun) {
	w.open()
	w.raw("arguments", r.Arguments)
	w.str("id", r.ID)
	w.num("index", int64(r.Index))
	w.str("key", r.Key)
	w.str("tool", r.Tool)
	w.num("transport", int64(r.Transport))
	w.close()
}

func writeTryRun(w *writer, t *machine.TryRun) {
	w.open()
	w.str("action", t.Action)
	w.num("attempt", int64(t.Attempt))
	w.num("max_attempts", int64(t.MaxAttempts))
	w.num("transport", int64(t.Transport))
	w.close()
}

func writeWait(w *writer, x *machine.Wait) {
	w.open()
	w.num("delay_ns", int64(x.Delay))
	w.str("plane", string(x.Plane))
	w.str("reason", string(x.Reason))
	w.time("until", x.Until)
	w.close()
}
