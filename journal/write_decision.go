package journal

import (
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

func writeDecision(w *writer, key string, d *Decision, t *talk) {
	w.open(key)
	if w.listIf(`"effects":`, len(d.Effects)) {
		for n := range d.Effects {
			writeEffect(w, &d.Effects[n])
		}
		w.closeList()
	}
	if t == nil {
		w.strIf(`"prompt":`, d.Prompt)
		writeMessages(w, keySaid, d.Said)
	} else {
		writeHeard(w, d, t)
	}
	w.close()
}

const keySaid = `"said":`

// writeHeard writes what is said, which t hears, and the digest of the prompt before it, which stands in what is said only once that is
// written.
func writeHeard(w *writer, d *Decision, t *talk) {
	call, digest := d.asks(), 0
	if call != nil {
		w.b = append(w.b, `"prompt":"`...)
		digest = len(w.b)
		w.b = append(append(w.b, t.said[:]...), `",`...)
	}
	t.next = t.said
	if list := len(w.b) + len(keySaid); len(d.Said) > 0 {
		writeMessages(w, keySaid, d.Said)
		t.hear(w.b[:len(w.b)-1], list)
	}
	if call != nil {
		h := t.prompt(call.System)
		copy(w.b[digest:], h[:])
	}
}

func writeEffect(w *writer, e *machine.Effect) {
	w.odd = w.odd || e.Consultation != nil
	w.open("")
	writeVerdict(w, `"decision":`, e.Decision)
	writeExhaustion(w, `"exhaustion":`, e.Exhaustion)
	w.str(`"kind":`, string(e.Kind))
	writeModelCall(w, `"model":`, e.Model)
	writeOutcome(w, `"outcome":`, e.Outcome)
	writeToolRuns(w, `"tools":`, e.Tools)
	writeTryRun(w, `"try":`, e.Try)
	writeWait(w, `"wait":`, e.Wait)
	w.close()
}

func writeVerdict(w *writer, key string, d *machine.Decision) {
	if d == nil {
		return
	}
	w.open(key)
	w.str(`"action":`, d.Action)
	w.num(`"attempt":`, int64(d.Attempt))
	w.strIf(`"class":`, string(d.Class))
	w.num(`"delay_ns":`, int64(d.Delay))
	writeDetail(w, `"detail":`, d.Detail)
	writeFeedback(w, `"feedback":`, d.Feedback)
	w.num(`"max_attempts":`, int64(d.MaxAttempts))
	w.str(`"plane":`, string(d.Plane))
	w.str(`"reason":`, string(d.Reason))
	writeReducerError(w, `"reducer_error":`, d.ReducerError)
	w.flag(`"retry":`, d.Retry)
	w.close()
}

func writeDetail(w *writer, key string, d policy.Detail) {
	if d == (policy.Detail{}) {
		return
	}
	w.open(key)
	w.numIf(`"count":`, int64(d.Count))
	w.numIf(`"limit":`, int64(d.Limit))
	w.numIf(`"room_ns":`, int64(d.Room))
	w.numIf(`"wait_ns":`, int64(d.Wait))
	w.close()
}

// writeFeedback leaves to the library what it may refuse.
func writeFeedback(w *writer, key string, f *feedback.RetryFeedback) {
	if f == nil {
		return
	}
	if (f.Source != feedback.Tool && f.Source != feedback.StructuredOutput) || (f.Source != feedback.Tool && f.ToolName != "") ||
		f.Attempt < 1 || f.MaxAttempts == 0 || f.ErrorType == "" {
		w.odd = true
		return
	}
	w.open(key)
	w.num(`"attempt":`, int64(f.Attempt))
	w.strIf(`"correlation_id":`, f.CorrelationID)
	w.strIf(`"detail":`, f.Detail)
	writeDiff(w, `"diff":`, &f.Diff)
	w.str(`"error_type":`, string(f.ErrorType))
	if len(f.Issues) == 0 {
		w.openList(`"issues":`)
		w.closeList()
	}
	writeIssues(w, `"issues":`, f.Issues)
	w.num(`"max_attempts":`, int64(f.MaxAttempts))
	w.str(`"message":`, f.Message)
	if s := f.Schedule; s != nil {
		w.odd = w.odd || s.Delay < 0
		w.b = append(w.b, `"next_delay_seconds":`...)
		w.b = append(feedback.AppendSeconds(w.b, s.Delay), ',')
		w.time(`"retry_scheduled_at":`, s.At.UTC())
	}
	w.str(`"source":`, string(f.Source))
	if f.ToolName == "" {
		w.null(`"tool_name":`)
	} else {
		w.str(`"tool_name":`, f.ToolName)
	}
	w.close()
}

func writeDiff(w *writer, key string, d *feedback.Diff) {
	if d.IsZero() {
		return
	}
	w.open(key)
	writeIssues(w, `"fixed":`, d.Fixed)
	writeIssues(w, `"new":`, d.New)
	writeIssues(w, `"persistent":`, d.Persistent)
	w.close()
}

func writeExhaustion(w *writer, key string, x *machine.Exhaustion) {
	if x == nil {
		return
	}
	w.open(key)
	w.str(`"action":`, x.Action)
	w.num(`"attempt":`, int64(x.Attempt))
	writeDetail(w, `"detail":`, x.Detail)
	writeFailure(w, `"failure":`, &x.Failure)
	w.num(`"max_attempts":`, int64(x.MaxAttempts))
	w.str(`"plane":`, string(x.Plane))
	w.str(`"reason":`, string(x.Reason))
	w.close()
}

func writeModelCall(w *writer, key string, c *machine.ModelCall) {
	if c == nil {
		return
	}
	w.open(key)
	if c.At == nil {
		w.null(`"at":`)
	} else {
		writePositions(w, `"at":`, c.At)
	}
	w.num(`"messages":`, int64(c.Messages))
	w.strIf(`"model":`, c.Model)
	w.strIf(`"system":`, c.System)
	w.num(`"transport":`, int64(c.Transport))
	w.num(`"turn":`, int64(c.Turn))
	w.close()
}

func writePositions(w *writer, key string, all []machine.Position) {
	w.openList(key)
	for n := range all {
		p := &all[n]
		w.open("")
		w.str(`"action":`, p.Action)
		w.num(`"attempt":`, int64(p.Attempt))
		w.num(`"max_attempts":`, int64(p.MaxAttempts))
		w.close()
	}
	w.closeList()
}

func writeOutcome(w *writer, key string, o *machine.Outcome) {
	if o == nil {
		return
	}
	w.open(key)
	writeToolRuns(w, `"calls":`, o.Calls)
	w.flagIf(`"degraded":`, o.Degraded)
	writeExhaustion(w, `"exhaustion":`, o.Exhaustion)
	w.flag(`"ok":`, o.OK)
	w.str(`"reason":`, string(o.Reason))
	w.strIf(`"text":`, o.Text)
	w.numIf(`"turns":`, int64(o.Turns))
	writeUsage(w, `"usage":`, &o.Usage)
	w.rawIf(`"value":`, o.Value)
	w.numIf(`"waited_ns":`, int64(o.Waited))
	if w.listIf(`"warnings":`, len(o.Warnings)) {
		for _, s := range o.Warnings {
			w.str("", s)
		}
		w.closeList()
	}
	w.close()
}

func writeToolRuns(w *writer, key string, all []machine.ToolRun) {
	if !w.listIf(key, len(all)) {
		return
	}
	for n := range all {
		r := &all[n]
		w.open("")
		w.raw(`"arguments":`, r.Arguments)
		w.str(`"id":`, r.ID)
		w.num(`"index":`, int64(r.Index))
		w.str(`"key":`, r.Key)
		w.str(`"tool":`, r.Tool)
		w.num(`"transport":`, int64(r.Transport))
		w.close()
	}
	w.closeList()
}

func writeTryRun(w *writer, key string, t *machine.TryRun) {
	if t == nil {
		return
	}
	w.open(key)
	w.str(`"action":`, t.Action)
	w.num(`"attempt":`, int64(t.Attempt))
	w.num(`"max_attempts":`, int64(t.MaxAttempts))
	w.num(`"transport":`, int64(t.Transport))
	w.close()
}

func writeWait(w *writer, key string, x *machine.Wait) {
	if x == nil {
		return
	}
	w.open(key)
	w.num(`"delay_ns":`, int64(x.Delay))
	w.str(`"plane":`, string(x.Plane))
	w.str(`"reason":`, string(x.Reason))
	w.time(`"until":`, x.Until)
	w.close()
}
