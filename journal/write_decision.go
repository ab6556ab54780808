package journal

import (
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

func writeDecision(w *writer, b []byte, key string, d *Decision, t *conversation) []byte {
	b = append(b, key...)
	b = list(w, b, `"effects":[`, d.Effects, writeEffect)
	if t == nil {
		b = w.strIf(b, `"prompt":"`, d.Prompt)
		b = list(w, b, keySaid+"[", d.Said, writeMessage)
	} else {
		b = writeHeard(w, b, d, t)
	}
	return closed(b, '}')
}

const keySaid = `"said":`

// writeHeard writes what is said, which t hears, and the digest of the prompt before it, which stands in what is said only once that is
// written.
func writeHeard(w *writer, b []byte, d *Decision, t *conversation) []byte {
	call, digest := d.asks(), 0
	if call != nil {
		b = append(b, `"prompt":"`...)
		digest = len(b)
		b = append(append(b, t.said[:]...), `",`...)
	}
	t.next = t.said
	if from := len(b) + len(keySaid); len(d.Said) > 0 {
		b = list(w, b, keySaid+"[", d.Said, writeMessage)
		t.hear(b[:len(b)-1], from)
	}
	if call != nil {
		h := t.prompt(call.System)
		copy(b[digest:], h[:])
	}
	return b
}

func writeEffect(w *writer, b []byte, e *machine.Effect) []byte {
	w.odd = w.odd || e.Consultation != nil
	b = append(b, '{')
	b = optional(w, b, `"decision":{`, e.Decision, writeVerdict)
	b = optional(w, b, `"exhaustion":{`, e.Exhaustion, writeExhaustion)
	b = w.str(b, `"kind":"`, string(e.Kind))
	b = optional(w, b, `"model":{`, e.Model, writeModelCall)
	b = optional(w, b, `"outcome":{`, e.Outcome, writeOutcome)
	b = list(w, b, `"tools":[`, e.Tools, writeToolRun)
	b = optional(w, b, `"try":{`, e.Try, writeTryRun)
	b = optional(w, b, `"wait":{`, e.Wait, writeWait)
	return closed(b, '}')
}

func writeVerdict(w *writer, b []byte, d *machine.Decision) []byte {
	b = w.str(b, `"action":"`, d.Action)
	b = w.num(b, `"attempt":`, int64(d.Attempt))
	b = w.strIf(b, `"class":"`, string(d.Class))
	b = w.num(b, `"delay_ns":`, int64(d.Delay))
	b = writeDetail(w, b, `"detail":{`, d.Detail)
	b = optional(w, b, `"feedback":{`, d.Feedback, writeFeedback)
	b = w.num(b, `"max_attempts":`, int64(d.MaxAttempts))
	b = w.str(b, `"plane":"`, string(d.Plane))
	b = w.str(b, `"reason":"`, string(d.Reason))
	b = optional(w, b, `"reducer_error":{`, d.ReducerError, writeReducerError)
	b = w.flag(b, `"retry":`, d.Retry)
	return closed(b, '}')
}

func writeDetail(w *writer, b []byte, key string, d policy.Detail) []byte {
	if d == (policy.Detail{}) {
		return b
	}
	b = append(b, key...)
	b = w.numIf(b, `"count":`, int64(d.Count))
	b = w.numIf(b, `"limit":`, int64(d.Limit))
	b = w.numIf(b, `"room_ns":`, int64(d.Room))
	b = w.numIf(b, `"wait_ns":`, int64(d.Wait))
	return closed(b, '}')
}

// writeFeedback leaves to the library what it may refuse.
func writeFeedback(w *writer, b []byte, f *feedback.RetryFeedback) []byte {
	if (f.Source != feedback.Tool && f.Source != feedback.StructuredOutput) || (f.Source != feedback.Tool && f.ToolName != "") ||
		f.Attempt < 1 || f.MaxAttempts == 0 || f.ErrorType == "" {
		w.odd = true
		return b
	}
	b = w.num(b, `"attempt":`, int64(f.Attempt))
	b = w.strIf(b, `"correlation_id":"`, f.CorrelationID)
	b = w.strIf(b, `"detail":"`, f.Detail)
	b = writeDiff(w, b, `"diff":{`, &f.Diff)
	b = w.str(b, `"error_type":"`, string(f.ErrorType))
	if len(f.Issues) == 0 {
		b = append(b, `"issues":[],`...)
	}
	b = writeIssues(w, b, `"issues":[`, f.Issues)
	b = w.num(b, `"max_attempts":`, int64(f.MaxAttempts))
	b = w.str(b, `"message":"`, f.Message)
	if s := f.Schedule; s != nil {
		w.odd = w.odd || s.Delay < 0
		b = append(b, `"next_delay_seconds":`...)
		b = append(feedback.AppendSeconds(b, s.Delay), ',')
		b = w.time(b, `"retry_scheduled_at":"`, s.At.UTC())
	}
	b = w.str(b, `"source":"`, string(f.Source))
	if f.ToolName == "" {
		b = w.null(b, `"tool_name":`)
	} else {
		b = w.str(b, `"tool_name":"`, f.ToolName)
	}
	return closed(b, '}')
}

func writeDiff(w *writer, b []byte, key string, d *feedback.Diff) []byte {
	if d.IsZero() {
		return b
	}
	b = append(b, key...)
	b = writeIssues(w, b, `"fixed":[`, d.Fixed)
	b = writeIssues(w, b, `"new":[`, d.New)
	b = writeIssues(w, b, `"persistent":[`, d.Persistent)
	return closed(b, '}')
}

func writeExhaustion(w *writer, b []byte, x *machine.Exhaustion) []byte {
	b = w.str(b, `"action":"`, x.Action)
	b = w.num(b, `"attempt":`, int64(x.Attempt))
	b = writeDetail(w, b, `"detail":{`, x.Detail)
	b = optional(w, b, `"failure":{`, &x.Failure, writeFailure)
	b = w.num(b, `"max_attempts":`, int64(x.MaxAttempts))
	b = w.str(b, `"plane":"`, string(x.Plane))
	b = w.str(b, `"reason":"`, string(x.Reason))
	return closed(b, '}')
}

func writeModelCall(w *writer, b []byte, c *machine.ModelCall) []byte {
	if c.At == nil {
		b = w.null(b, `"at":`)
	} else {
		b = entries(w, append(b, `"at":[`...), c.At, writePosition)
	}
	b = w.num(b, `"messages":`, int64(c.Messages))
	b = w.strIf(b, `"model":"`, c.Model)
	b = w.strIf(b, `"system":"`, c.System)
	b = w.num(b, `"transport":`, int64(c.Transport))
	b = w.num(b, `"turn":`, int64(c.Turn))
	return closed(b, '}')
}

func writePosition(w *writer, b []byte, p *machine.Position) []byte {
	b = append(b, '{')
	b = w.str(b, `"action":"`, p.Action)
	b = w.num(b, `"attempt":`, int64(p.Attempt))
	b = w.num(b, `"max_attempts":`, int64(p.MaxAttempts))
	return closed(b, '}')
}

func writeOutcome(w *writer, b []byte, o *machine.Outcome) []byte {
	b = list(w, b, `"calls":[`, o.Calls, writeToolRun)
	b = w.flagIf(b, `"degraded":`, o.Degraded)
	b = optional(w, b, `"exhaustion":{`, o.Exhaustion, writeExhaustion)
	b = w.flag(b, `"ok":`, o.OK)
	b = w.str(b, `"reason":"`, string(o.Reason))
	b = w.strIf(b, `"text":"`, o.Text)
	b = w.numIf(b, `"turns":`, int64(o.Turns))
	b = writeUsage(w, b, `"usage":{`, &o.Usage)
	b = w.rawIf(b, `"value":`, o.Value)
	b = w.numIf(b, `"waited_ns":`, int64(o.Waited))
	b = list(w, b, `"warnings":[`, o.Warnings, writeText)
	return closed(b, '}')
}

func writeText(w *writer, b []byte, s *string) []byte { return w.str(b, `"`, *s) }

func writeToolRun(w *writer, b []byte, r *machine.ToolRun) []byte {
	b = append(b, '{')
	b = w.raw(b, `"arguments":`, r.Arguments)
	b = w.str(b, `"id":"`, r.ID)
	b = w.num(b, `"index":`, int64(r.Index))
	b = w.str(b, `"key":"`, r.Key)
	b = w.flagIf(b, `"repeatable":`, r.Repeatable)
	b = w.str(b, `"tool":"`, r.Tool)
	b = w.num(b, `"transport":`, int64(r.Transport))
	return closed(b, '}')
}

func writeTryRun(w *writer, b []byte, t *machine.TryRun) []byte {
	b = w.str(b, `"action":"`, t.Action)
	b = w.num(b, `"attempt":`, int64(t.Attempt))
	b = w.num(b, `"max_attempts":`, int64(t.MaxAttempts))
	b = w.num(b, `"transport":`, int64(t.Transport))
	return closed(b, '}')
}

func writeWait(w *writer, b []byte, x *machine.Wait) []byte {
	b = w.num(b, `"delay_ns":`, int64(x.Delay))
	b = w.str(b, `"plane":"`, string(x.Plane))
	b = w.str(b, `"reason":"`, string(x.Reason))
	b = w.time(b, `"until":"`, x.Until)
	return closed(b, '}')
}
