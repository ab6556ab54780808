package journal

import (
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// The names of what a decision hangs on beside the fields of a policy: those of the set, and members of the header's config.
const (
	fieldDeadline     = "deadline"
	fieldSeed         = "seed"
	fieldSystem       = "system"
	fieldFeedback     = "feedback"
	fieldPlanner      = "planner"
	fieldBudgetTool   = "budgets.tool"
	fieldBudgetRun    = "budgets.run"
	fieldBudgetNames  = "budgets.unknown_tools"
	fieldMaxTurns     = "max_turns"
	fieldMaxCalls     = "max_calls"
	fieldAllOrNothing = "all_or_nothing"
)

// ruleFields says what each rule asks.
var ruleFields = map[policy.Reason][]string{
	policy.Backoff:           {"backoff"},
	policy.ServerAsked:       {"retry_after"},
	policy.Immediate:         {"backoff"},
	policy.NotRetryable:      {"retryable_errors"},
	policy.OptOut:            {"opt_out"},
	policy.AttemptsExhausted: {"max_attempts"},
	policy.ToolBudget:        {fieldBudgetTool},
	policy.UnknownToolBudget: {fieldBudgetNames},
	policy.RunBudget:         {fieldBudgetRun},
	policy.NoProgress:        {"no_progress"},
	policy.RetryAfterTooLong: {"max_retry_after"},
	policy.DelayBudget:       {"max_total_delay"},
	policy.Deadline:          {fieldDeadline},
	policy.ReducerError:      {"on_reducer_error"},
	policy.TurnLimit:         {fieldMaxTurns},
	policy.Planner:           {fieldPlanner},
}

// pathField says what a change hangs on where the rule is the same: the first row that fits counts.
type pathField struct {
	// part stands in the path, between slashes or at its end.
	part string
	// rule says that the field is that of the rule.
	rule bool
	name string
}

// pathFields is in the order of what says most.
var pathFields = []pathField{
	{part: "max_attempts", name: "max_attempts"},
	{part: "delay_ns", rule: true},
	{part: "until", rule: true},
	{part: "wait_ns", rule: true},
	{part: "room_ns", rule: true},
	{part: "limit", rule: true},
	{part: "feedback", name: "emit_feedback"},
	{part: "system", name: fieldSystem},
	{part: "tools", name: fieldAllOrNothing},
	{part: "said", name: fieldFeedback},
}

// hangsOn finds the fields that a difference hangs on.
func (f *Fold) hangsOn(d *DifferenceError, then, now *machine.Effect) []Field {
	var names []string
	if d.RuleWas != d.RuleNow {
		names = ruleNames(d.RuleWas, d.RuleNow)
	} else {
		names = pathNames(d)
	}
	if delayOnly(then, now) && f.Header.Seed() != "" {
		names = append(names, fieldSeed)
	}
	fields := make([]Field, 0, len(names))
	for _, name := range names {
		fields = append(fields, f.field(name, d.Position.Action, d.Plane))
	}
	if len(fields) == 0 {
		return nil
	}
	return fields
}

// ruleNames are the fields behind two rules. Of a retry and a stop, it is what stops that was asked.
func ruleNames(was, now policy.Reason) []string {
	switch {
	case retries(was) && !retries(now) && len(ruleFields[now]) > 0:
		return ruleFields[now]
	case retries(now) && !retries(was) && len(ruleFields[was]) > 0:
		return ruleFields[was]
	}
	names := slices.Concat(ruleFields[was], ruleFields[now])
	slices.Sort(names)
	return slices.Compact(names)
}

func retries(r policy.Reason) bool {
	return r == policy.Backoff || r == policy.ServerAsked || r == policy.Immediate
}

// pathNames are the fields behind the first change that says something.
func pathNames(d *DifferenceError) []string {
	for _, row := range pathFields {
		for _, c := range d.Changes {
			if !strings.Contains(c.Path+"/", "/"+row.part+"/") {
				continue
			}
			if row.rule {
				return ruleFields[d.RuleWas]
			}
			if row.part == "feedback" && c.Was != "" && c.Now != "" {
				return []string{fieldFeedback}
			}
			return []string{row.name}
		}
	}
	return nil
}

// delayOnly reports whether two decisions differ in their delays, as jitter can make them.
func delayOnly(then, now *machine.Effect) bool {
	if then == nil || now == nil || then.Decision == nil || now.Decision == nil {
		return false
	}
	return then.Decision.Reason == now.Decision.Reason && then.Decision.Delay != now.Decision.Delay
}

// field is what a field of an action is, then and now, and who said so.
func (f *Fold) field(name, action string, plane fault.Plane) Field {
	if value, ok := f.configField(name); ok {
		return Field{Name: name, Was: value, Now: value}
	}
	_, explained := f.State.PolicyFor(action, plane)
	now := rowOf(explained, name)
	field := Field{Name: name, Was: now.Value, Now: now.Value, Layer: now.Layer, Source: f.Header.source(now)}
	if was := rowOf(f.Header.resolved(action, plane), name); was.Field != "" && now.Layer != policy.LayerAdjusted {
		field.Was = was.Value
	}
	return field
}

// resolved is what the header says of an action's policy; nil where it says nothing.
func (h *Header) resolved(action string, plane fault.Plane) policy.Explanation {
	transport := plane == fault.Transport
	for _, r := range h.Resolved {
		if r.Transport == transport && (transport || r.Action == action) {
			return r.Explanation
		}
	}
	return nil
}

// source is where a header says that a layer's field was written.
func (h *Header) source(row policy.Explained) string {
	for _, r := range h.Resolved {
		if own := rowOf(r.Explanation, row.Field); own.Layer == row.Layer && own.Source != "" {
			return own.Source
		}
	}
	return row.Source
}

func rowOf(e policy.Explanation, name string) policy.Explained {
	for _, row := range e {
		if row.Field == name {
			return row
		}
	}
	return policy.Explained{}
}
