package journal

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
)

// readEvent reads the record of an event as it was written here. What it read is written once more: only where that gives the
// same bytes is it taken, else ok is false, and the record is for the library. room is memory to write to.
func readEvent(raw []byte, room *writer) (ev *Event, ok bool) {
	s := scanner{b: raw}
	s.want('{')
	if ev = scanMember(&s, kindEvent, scanEvent); ev == nil {
		return nil, false
	}
	s.want('}')
	if s.lost || s.i != len(raw) {
		return nil, false
	}
	room.reset()
	return ev, room.eventQuickly(ev) && bytes.Equal(room.b, raw)
}

func scanEvent(s *scanner, e *Event) {
	s.want('{')
	*e = Event{
		At: s.time("at"), Failure: scanMember(s, "failure", scanFailure), Kind: machine.EventKind(s.str("kind")),
		Messages: scanList(s, "messages", scanMessage), Plan: scanMember(s, "plan", scanPlan),
		Reduced: scanMember(s, "reduced", scanReduced), Reply: scanMember(s, "reply", scanReply), System: s.str("system"),
		Tool: scanMember(s, "tool", scanToolEnd), Try: scanMember(s, "try", scanTry),
	}
	s.want('}')
}

func scanFailure(s *scanner, f *fault.Failure) {
	s.want('{')
	*f = fault.Failure{
		Class: fault.Class(s.str("class")), Final: s.flag("final"), Issues: scanList(s, "issues", scanIssue), Message: s.str("message"),
		Plane: fault.Plane(s.str("plane")), RetryAfter: time.Duration(s.num("retry_after_ns")), Tool: s.str("tool"),
	}
	s.want('}')
}

func scanIssue(s *scanner, i *fault.Issue) {
	s.want('{')
	*i = fault.Issue{
		Expected: s.str("expected"), Got: fault.Kind(s.str("got")), Pointer: s.str("pointer"), Rule: s.str("rule"),
		Source: fault.Source(s.str("source")), Value: s.str("value"),
	}
	s.want('}')
}

func scanMessage(s *scanner, m *message.Message) {
	s.want('{')
	*m = message.Message{
		CallID: s.str("call_id"), Calls: scanList(s, "calls", scanProposal), IsError: s.flag("is_error"), Name: s.str("name"),
		Opaque: s.str("opaque"), Role: message.Role(s.str("role")), Text: s.str("text"),
	}
	s.want('}')
}

func scanProposal(s *scanner, c *message.Call) {
	s.want('{')
	*c = message.Call{Arguments: s.str("arguments"), ID: s.str("id"), Name: s.str("name")}
	s.want('}')
}

func scanPlan(s *scanner, p *machine.Plan) {
	s.want('{')
	*p = machine.Plan{
		Delay: time.Duration(s.num("delay_ns")), Do: machine.PlanKind(s.str("do")), Model: s.str("model"), Note: s.str("note"),
		Prompt: s.str("prompt"), ResetBudgets: s.flag("reset_budgets"), Warning: s.str("warning"),
	}
	s.want('}')
}

func scanReduced(s *scanner, r *machine.Reduced) {
	s.want('{')
	*r = machine.Reduced{Error: scanMember(s, "error", scanReducerError), Ops: scanList(s, "ops", scanOp)}
	s.want('}')
}

func scanReducerError(s *scanner, e *fault.ReducerError) {
	s.want('{')
	*e = fault.ReducerError{Message: s.str("message"), Panicked: s.flag("panicked"), Payload: s.str("payload"), Reducer: s.str("reducer")}
	s.want('}')
}

func scanOp(s *scanner, o *reducer.Op) {
	s.want('{')
	*o = reducer.Op{
		Kind: reducer.OpKind(s.str("kind")), Slice: s.str("slice"),
		Values: scanList(s, "values", func(s *scanner, v *json.RawMessage) { *v = s.value() }),
	}
	s.want('}')
}

func scanReply(s *scanner, r *machine.Reply) {
	s.want('{')
	r.Answer, r.Calls = scanMember(s, "answer", scanAnswer), scanList(s, "calls", scanCall)
	if s.key("message") {
		scanModelReply(s, &r.Message)
	}
	r.Native = s.flag("native")
	s.want('}')
}

func scanAnswer(s *scanner, a *machine.Answer) {
	s.want('{')
	*a = machine.Answer{
		Issues: scanList(s, "issues", scanIssue), Reduced: scanMember(s, "reduced", scanReduced),
		Repairs: scanList(s, "repairs", scanRepair), Value: s.raw("value"),
	}
	s.want('}')
}

func scanRepair(s *scanner, r *extract.Repair) {
	s.want('{')
	*r = extract.Repair{Kind: extract.RepairKind(s.str("kind")), Offset: int(s.num("offset"))}
	s.want('}')
}

func scanCall(s *scanner, c *machine.Call) {
	s.want('{')
	*c = machine.Call{
		Arguments: s.raw("arguments"), Class: fault.Class(s.str("class")), ID: s.str("id"), Issues: scanList(s, "issues", scanIssue),
		Raw: s.str("raw"), Repairs: scanList(s, "repairs", scanRepair), Tool: s.str("tool"),
	}
	s.want('}')
}

func scanModelReply(s *scanner, r *message.Reply) {
	s.want('{')
	*r = message.Reply{
		Calls: scanList(s, "calls", scanProposal), Finish: message.FinishReason(s.str("finish_reason")), Model: s.str("model"),
		Opaque: s.str("opaque"), Refusal: s.str("refusal"), Text: s.str("text"), Usage: scanUsage(s),
	}
	s.want('}')
}

func scanUsage(s *scanner) (u message.Usage) {
	if !s.key("usage") {
		return u
	}
	s.want('{')
	u = message.Usage{
		APICalls: s.num("api_calls"), CacheReadTokens: s.num("cache_read_tokens"), CacheWriteTokens: s.num("cache_write_tokens"),
		InputTokens: s.num("input_tokens"), OutputTokens: s.num("output_tokens"),
	}
	s.want('}')
	return u
}

func scanToolEnd(s *scanner, e *machine.ToolEnd) {
	s.want('{')
	*e = machine.ToolEnd{
		Failure: scanMember(s, "failure", scanFailure), Index: int(s.num("index")), Issues: scanList(s, "issues", scanIssue),
		Progress: s.raw("progress"), Reduced: scanMember(s, "reduced", scanReduced), Result: s.raw("result"), Text: s.str("text"),
		Verdict: machine.Verdict(s.str("verdict")),
	}
	s.want('}')
}

func scanTry(s *scanner, t *machine.Try) {
	s.want('{')
	t.Abandoned = s.flag("abandoned")
	if s.key("failure") {
		scanFailure(s, &t.Failure)
	}
	t.Same, t.Usage = s.str("same"), scanUsage(s)
	s.want('}')
}

// words are those that events are full of.
var words = func() map[string]string {
	all := map[string]string{}
	for _, word := range []string{
		"", string(machine.Started), string(machine.Prompted), string(machine.Replied), string(machine.CallFailed), string(machine.ToolEnded),
		string(machine.Tried), string(machine.Woke), string(machine.Planned), string(machine.Cancelled), string(machine.Dispatched),
		string(machine.Done), string(fault.Correction), string(fault.Transport),
		string(message.User), string(message.Assistant), string(message.Tool), string(message.Stop), string(message.ToolUse),
		string(fault.FromJSON), string(fault.FromSchema), string(fault.FromRules), string(fault.FromReply),
		string(fault.Null), string(fault.Boolean), string(fault.Integer), string(fault.Number), string(fault.String), string(fault.Array),
		string(fault.Object), "required", "type", "enum", "minimum", "maximum", "append", "replace",
	} {
		all[word] = word
	}
	for _, c := range fault.Codes() {
		all[string(c.Class)] = string(c.Class)
	}
	return all
}()
