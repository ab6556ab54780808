package journal

import (
	"bytes"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

func scanDecision(s *scanner, key string) *Decision {
	if !s.open(key) {
		return nil
	}
	d := s.decision()
	d.Effects, d.Prompt, d.Said = scanEffects(s, `"effects":`), s.once(`"prompt":`), scanMessages(s, keySaid)
	s.close()
	return d
}

func scanEffects(s *scanner, key string) []machine.Effect {
	if !s.openList(key) {
		return nil
	}
	all := some(&s.spare.effects)
	for s.more() {
		s.want('{')
		all = append(all, machine.Effect{
			Decision: scanVerdict(s, `"decision":`), Exhaustion: scanExhaustion(s, `"exhaustion":`), Kind: machine.EffectKind(s.str(`"kind":`)),
			Model: scanModelCall(s, `"model":`), Outcome: scanOutcome(s, `"outcome":`), Tools: scanToolRuns(s, `"tools":`),
			Try: scanTryRun(s, `"try":`), Wait: scanWait(s, `"wait":`),
		})
		s.close()
	}
	return all
}

func scanVerdict(s *scanner, key string) *machine.Decision {
	if !s.open(key) {
		return nil
	}
	d := one(&s.spare.verdict)
	d.Action, d.Attempt, d.Class = s.str(`"action":`), s.int(`"attempt":`), fault.Class(s.str(`"class":`))
	d.Delay, d.Detail = time.Duration(s.num(`"delay_ns":`)), scanDetail(s, `"detail":`)
	d.Feedback = scanFeedback(s, `"feedback":`)
	d.MaxAttempts, d.Plane = s.int(`"max_attempts":`), fault.Plane(s.str(`"plane":`))
	d.Reason, d.ReducerError = policy.Reason(s.str(`"reason":`)), scanReducerError(s, `"reducer_error":`)
	d.Retry = s.flag(`"retry":`)
	s.close()
	return d
}

func scanDetail(s *scanner, key string) (d policy.Detail) {
	if !s.open(key) {
		return d
	}
	d = policy.Detail{
		Count: s.int(`"count":`), Limit: s.int(`"limit":`), Room: time.Duration(s.num(`"room_ns":`)),
		Wait: time.Duration(s.num(`"wait_ns":`)),
	}
	s.close()
	return d
}

// scanFeedback takes feedback as it would be written, and nothing else: it has a strict form of its own.
func scanFeedback(s *scanner, key string) *feedback.RetryFeedback {
	from := s.i
	if !s.open(key) {
		return nil
	}
	f := &feedback.RetryFeedback{
		Attempt: s.int(`"attempt":`), CorrelationID: s.str(`"correlation_id":`), Detail: s.str(`"detail":`),
		Diff: scanDiff(s, `"diff":`), ErrorType: fault.Class(s.str(`"error_type":`)), Issues: scanAnyIssues(s, `"issues":`),
		MaxAttempts: s.int(`"max_attempts":`), Message: s.str(`"message":`),
	}
	if s.key(`"next_delay_seconds":`) {
		f.Schedule = &feedback.Schedule{Delay: s.seconds(), At: s.time(`"retry_scheduled_at":`)}
	}
	f.Source = feedback.Source(s.str(`"source":`))
	if !s.null(`"tool_name":`) {
		f.ToolName = s.str(`"tool_name":`)
	}
	s.close()
	s.again.reset()
	s.again.odd = false
	s.again.b = optional(&s.again, s.again.b, key+"{", f, writeFeedback)
	s.lost = s.lost || s.again.odd || !bytes.Equal(s.again.b, s.b[from:s.i])
	return f
}

func scanDiff(s *scanner, key string) (d feedback.Diff) {
	if !s.open(key) {
		return d
	}
	d = feedback.Diff{Fixed: scanIssues(s, `"fixed":`), New: scanIssues(s, `"new":`), Persistent: scanIssues(s, `"persistent":`)}
	s.close()
	return d
}

func scanExhaustion(s *scanner, key string) *machine.Exhaustion {
	if !s.open(key) {
		return nil
	}
	x := &machine.Exhaustion{}
	x.Action, x.Attempt, x.Detail = s.str(`"action":`), s.int(`"attempt":`), scanDetail(s, `"detail":`)
	if f := scanFailure(s, `"failure":`); f != nil {
		x.Failure = *f
	}
	x.MaxAttempts, x.Plane = s.int(`"max_attempts":`), fault.Plane(s.str(`"plane":`))
	x.Reason = policy.Reason(s.str(`"reason":`))
	s.close()
	return x
}

func scanModelCall(s *scanner, key string) *machine.ModelCall {
	if !s.open(key) {
		return nil
	}
	c := one(&s.spare.call)
	if !s.null(`"at":`) {
		c.At = scanPositions(s, `"at":`)
	}
	c.Messages, c.Model, c.System = s.int(`"messages":`), s.str(`"model":`), s.str(`"system":`)
	c.Transport, c.Turn = s.int(`"transport":`), s.int(`"turn":`)
	s.close()
	return c
}

// scanPositions reads a list that is written where it is empty, too.
func scanPositions(s *scanner, key string) []machine.Position {
	all := some(&s.spare.at)
	if all == nil {
		all = []machine.Position{}
	}
	s.lost = s.lost || !s.openAny(key)
	for s.more() {
		s.want('{')
		all = append(all, scanPosition(s))
		s.close()
	}
	return all
}

func scanPosition(s *scanner) machine.Position {
	return machine.Position{
		Action: s.str(`"action":`), Attempt: s.int(`"attempt":`), MaxAttempts: s.int(`"max_attempts":`),
	}
}

func scanOutcome(s *scanner, key string) *machine.Outcome {
	if !s.open(key) {
		return nil
	}
	o := &machine.Outcome{
		Calls: scanToolRuns(s, `"calls":`), Degraded: s.flag(`"degraded":`), Exhaustion: scanExhaustion(s, `"exhaustion":`),
		OK: s.flag(`"ok":`), Reason: policy.Reason(s.str(`"reason":`)), Text: s.str(`"text":`), Turns: s.int(`"turns":`),
		Usage: scanUsage(s, `"usage":`), Value: s.raw(`"value":`), Waited: time.Duration(s.num(`"waited_ns":`)),
	}
	if s.openList(`"warnings":`) {
		for s.more() {
			o.Warnings = append(o.Warnings, s.text())
		}
	}
	s.close()
	return o
}

func scanToolRuns(s *scanner, key string) []machine.ToolRun {
	if !s.openList(key) {
		return nil
	}
	all := some(&s.spare.runs)
	for s.more() {
		s.want('{')
		all = append(all, machine.ToolRun{
			Arguments: s.raw(`"arguments":`), ID: s.str(`"id":`), Index: s.int(`"index":`), Key: s.once(`"key":`),
			Repeatable: s.flag(`"repeatable":`), Tool: s.str(`"tool":`), Transport: s.int(`"transport":`),
		})
		s.close()
	}
	return all
}

func scanTryRun(s *scanner, key string) *machine.TryRun {
	if !s.open(key) {
		return nil
	}
	t := &machine.TryRun{Position: scanPosition(s), Transport: s.int(`"transport":`)}
	s.close()
	return t
}

func scanWait(s *scanner, key string) *machine.Wait {
	if !s.open(key) {
		return nil
	}
	x := &machine.Wait{
		Delay: time.Duration(s.num(`"delay_ns":`)), Plane: fault.Plane(s.str(`"plane":`)), Reason: policy.Reason(s.str(`"reason":`)),
		Until: s.time(`"until":`),
	}
	s.close()
	return x
}
