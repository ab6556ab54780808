package journal

import (
	"encoding/json"
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
)

func scanEvent(s *scanner, key string) *Event {
	if !s.open(key) {
		return nil
	}
	at, failure, kind := s.time(`"at":`), scanFailure(s, `"failure":`), machine.EventKind(s.str(`"kind":`))
	messages, plan, reduced := scanMessages(s, `"messages":`), scanPlan(s, `"plan":`), scanReduced(s, `"reduced":`)
	e := s.event()
	*e = Event{
		At: at, Failure: failure, Kind: kind, Messages: messages, Plan: plan, Reduced: reduced,
		Reply: scanReply(s, keyReply), System: s.str(`"system":`), Tool: scanToolEnd(s, keyTool), Try: scanTry(s, `"try":`),
	}
	s.close()
	return e
}

// The keys of what most events are.
const (
	keyReply = `"reply":`
	keyTool  = `"tool":`
)

func scanFailure(s *scanner, key string) *fault.Failure {
	if !s.open(key) {
		return nil
	}
	f := &fault.Failure{
		Class: fault.Class(s.str(`"class":`)), Final: s.flag(`"final":`), Issues: scanIssues(s, `"issues":`), Message: s.str(`"message":`),
		Plane: fault.Plane(s.str(`"plane":`)), RetryAfter: time.Duration(s.num(`"retry_after_ns":`)), Tool: s.str(`"tool":`),
	}
	s.close()
	return f
}

func scanIssues(s *scanner, key string) []fault.Issue {
	if !s.openList(key) {
		return nil
	}
	return restOfIssues(s)
}

// scanAnyIssues reads a list that may be empty.
func scanAnyIssues(s *scanner, key string) []fault.Issue {
	if !s.openAny(key) {
		return nil
	}
	return restOfIssues(s)
}

func restOfIssues(s *scanner) []fault.Issue {
	all := s.issues[:0]
	for s.more() {
		s.want('{')
		all = append(all, fault.Issue{
			Expected: s.str(`"expected":`), Got: fault.Kind(s.str(`"got":`)), Pointer: s.str(`"pointer":`), Rule: s.str(`"rule":`),
			Source: fault.Source(s.str(`"source":`)), Value: s.str(`"value":`),
		})
		s.close()
	}
	s.issues = all
	return taken(all)
}

func scanMessages(s *scanner, key string) []message.Message {
	if !s.openList(key) {
		return nil
	}
	all := some(&s.spare.said)
	for s.more() {
		s.want('{')
		all = append(all, message.Message{
			CallID: s.str(`"call_id":`), Calls: scanProposals(s, `"calls":`), IsError: s.flag(`"is_error":`), Name: s.str(`"name":`),
			Opaque: s.str(`"opaque":`), Role: message.Role(s.str(`"role":`)), Text: s.str(`"text":`),
		})
		s.close()
	}
	return all
}

func scanProposals(s *scanner, key string) (all []message.Call) {
	if !s.openList(key) {
		return nil
	}
	for s.more() {
		s.want('{')
		all = append(all, message.Call{Arguments: s.str(`"arguments":`), ID: s.str(`"id":`), Name: s.str(`"name":`)})
		s.close()
	}
	return all
}

func scanPlan(s *scanner, key string) *machine.Plan {
	if !s.open(key) {
		return nil
	}
	p := &machine.Plan{
		Delay: time.Duration(s.num(`"delay_ns":`)), Do: machine.PlanKind(s.str(`"do":`)), Model: s.str(`"model":`), Note: s.str(`"note":`),
		Prompt: s.str(`"prompt":`), ResetBudgets: s.flag(`"reset_budgets":`), Warning: s.str(`"warning":`),
	}
	s.close()
	return p
}

func scanReduced(s *scanner, key string) *machine.Reduced {
	if !s.open(key) {
		return nil
	}
	r := one(&s.spare.reduced)
	r.Error, r.Ops = scanReducerError(s, `"error":`), scanOps(s, `"ops":`)
	s.close()
	return r
}

func scanReducerError(s *scanner, key string) *fault.ReducerError {
	if !s.open(key) {
		return nil
	}
	e := &fault.ReducerError{
		Message: s.str(`"message":`), Panicked: s.flag(`"panicked":`), Payload: s.str(`"payload":`), Reducer: s.str(`"reducer":`),
	}
	s.close()
	return e
}

func scanOps(s *scanner, key string) (all []reducer.Op) {
	if !s.openList(key) {
		return nil
	}
	for s.more() {
		s.want('{')
		o := reducer.Op{Kind: reducer.OpKind(s.str(`"kind":`)), Slice: s.str(`"slice":`)}
		if s.openList(`"values":`) {
			for s.more() {
				o.Values = append(o.Values, json.RawMessage(s.value()))
			}
		}
		all = append(all, o)
		s.close()
	}
	return all
}

func scanReply(s *scanner, key string) *machine.Reply {
	if !s.open(key) {
		return nil
	}
	r := one(&s.spare.reply)
	*r = machine.Reply{
		Answer: scanAnswer(s, `"answer":`), Calls: scanCalls(s, `"calls":`), CallsOver: s.int(`"calls_over":`),
		Message: scanModelReply(s, `"message":`),
		Native:  s.flag(`"native":`),
	}
	s.close()
	return r
}

func scanAnswer(s *scanner, key string) *machine.Answer {
	if !s.open(key) {
		return nil
	}
	a := &machine.Answer{
		Issues: scanIssues(s, `"issues":`), Reduced: scanReduced(s, `"reduced":`), Repairs: scanRepairs(s, `"repairs":`),
		Value: s.raw(`"value":`),
	}
	s.close()
	return a
}

func scanRepairs(s *scanner, key string) (all []extract.Repair) {
	if !s.openList(key) {
		return nil
	}
	for s.more() {
		s.want('{')
		all = append(all, extract.Repair{Kind: extract.RepairKind(s.str(`"kind":`)), Offset: s.int(`"offset":`)})
		s.close()
	}
	return all
}

func scanCalls(s *scanner, key string) []machine.Call {
	if !s.openList(key) {
		return nil
	}
	all := some(&s.spare.calls)
	for s.more() {
		s.want('{')
		all = append(all, machine.Call{
			Arguments: s.raw(`"arguments":`), Class: fault.Class(s.str(`"class":`)), ID: s.str(`"id":`), Issues: scanIssues(s, `"issues":`),
			Raw: s.str(`"raw":`), Repairs: scanRepairs(s, `"repairs":`), Repeatable: s.flag(`"repeatable":`),
			Tool: s.str(`"tool":`),
		})
		s.close()
	}
	return all
}

func scanModelReply(s *scanner, key string) (r message.Reply) {
	if !s.open(key) {
		return r
	}
	r = message.Reply{
		Calls: scanProposals(s, `"calls":`), Finish: message.FinishReason(s.str(`"finish_reason":`)), Model: s.str(`"model":`),
		Opaque: s.str(`"opaque":`), Refusal: s.str(`"refusal":`), Text: s.str(`"text":`), Usage: scanUsage(s, `"usage":`),
	}
	s.close()
	return r
}

func scanUsage(s *scanner, key string) (u message.Usage) {
	if !s.open(key) {
		return u
	}
	u = message.Usage{
		APICalls: s.num(`"api_calls":`), CacheReadTokens: s.num(`"cache_read_tokens":`), CacheWriteTokens: s.num(`"cache_write_tokens":`),
		InputTokens: s.num(`"input_tokens":`), OutputTokens: s.num(`"output_tokens":`),
	}
	s.close()
	return u
}

func scanToolEnd(s *scanner, key string) *machine.ToolEnd {
	if !s.open(key) {
		return nil
	}
	e := one(&s.spare.end)
	*e = machine.ToolEnd{
		Failure: scanFailure(s, `"failure":`), Index: s.int(`"index":`), Issues: scanIssues(s, `"issues":`),
		Progress: s.raw(`"progress":`), Reduced: scanReduced(s, `"reduced":`), Result: s.raw(`"result":`), Text: s.str(`"text":`),
		Verdict: machine.Verdict(s.str(`"verdict":`)),
	}
	s.close()
	return e
}

func scanTry(s *scanner, key string) *machine.Try {
	if !s.open(key) {
		return nil
	}
	t := &machine.Try{Abandoned: s.flag(`"abandoned":`)}
	if f := scanFailure(s, `"failure":`); f != nil {
		t.Failure = *f
	}
	t.Same, t.Usage, t.Value = s.str(`"same":`), scanUsage(s, `"usage":`), s.raw(`"value":`)
	s.close()
	return t
}
