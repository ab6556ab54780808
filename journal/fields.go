package journal

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// The names of the settings other than fields of a policy: limits of the run, and members of its config.
const (
	fieldDeadline     = "deadline"
	fieldSeed         = "seed"
	fieldSystem       = "system"
	fieldFeedback     = "feedback"
	fieldPlanner      = "planner"
	fieldBudgetTool   = "budgets.tool"
	fieldBudgetRun    = "budgets.run"
	fieldBudgetNames  = "budgets.unknown_tools"
	fieldPrices       = "prices"
	fieldSpending     = "spending"
	fieldMaxTurns     = "max_turns"
	fieldMaxCalls     = "max_calls"
	fieldAllOrNothing = "all_or_nothing"
)

// boundFields are the limits of a run.
var boundFields = []struct {
	name string
	show func(*policy.Set) string
}{
	{fieldBudgetTool, func(s *policy.Set) string { return showBound(s.Budgets.Tool) }},
	{fieldBudgetRun, func(s *policy.Set) string { return showBound(s.Budgets.Run) }},
	{fieldBudgetNames, func(s *policy.Set) string { return showBound(s.Budgets.UnknownTools) }},
	{fieldPrices, func(s *policy.Set) string { return showData(s.Prices, len(s.Prices) == 0) }},
	{fieldSpending, func(s *policy.Set) string { return showData(s.Spending, s.Spending.IsZero()) }},
	{fieldMaxTurns, func(s *policy.Set) string { return showBound(s.MaxTurns) }},
	{fieldMaxCalls, func(s *policy.Set) string { return showBound(s.MaxCalls) }},
	{fieldAllOrNothing, func(s *policy.Set) string { return strconv.FormatBool(s.AllOrNothing) }},
}

// headerFields are members of a header's config.
var headerFields = []struct {
	name string
	show func(*Header) string
}{
	{fieldSeed, func(h *Header) string { return strconv.Quote(h.Seed()) }},
	{fieldDeadline, func(h *Header) string { return showTime(h.Config.Deadline) }},
	{fieldPlanner, func(h *Header) string { return strconv.FormatBool(h.Config.Planner) }},
	{fieldSystem, func(h *Header) string { return showTemplate(h.Config.System, "none") }},
	{fieldFeedback, func(h *Header) string { return showTemplate(h.Config.Feedback, "the default words") }},
}

func showBound(n int) string {
	if n == policy.Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(n)
}

// showData returns data as JSON.
func showData(v any, none bool) string {
	text, err := json.Marshal(v)
	if none || err != nil {
		return "none"
	}
	return string(text)
}

func showTime(at time.Time) string {
	if at.IsZero() {
		return "none"
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// showTemplate returns the digest of a template, whose text is in the header.
func showTemplate(text, none string) string {
	if text == "" {
		return none
	}
	return "template " + SchemaDigest([]byte(text))[:8]
}

// runField returns the value of a field of the run; ok is false for a field of a policy.
func (f *Fold) runField(name string) (value string, ok bool) {
	set := &f.Header.Config.Policy
	if f.State.Policy != nil {
		set = f.State.Policy
	}
	for _, row := range boundFields {
		if row.name == name {
			return row.show(set), true
		}
	}
	for _, row := range headerFields {
		if row.name == name {
			return row.show(&f.Header), true
		}
	}
	return "", false
}

// memberFields are the fields behind a member that differs if the reasons are equal. The first row whose
// member is in a changed path applies; an empty name means the fields of the reason.
var memberFields = []struct{ member, name string }{
	{"max_attempts", "max_attempts"},
	{"delay_ns", ""},
	{"until", ""},
	{"wait_ns", ""},
	{"room_ns", ""},
	{"limit", ""},
	{"feedback", "emit_feedback"},
	{"system", fieldSystem},
	{"tools", fieldAllOrNothing},
	{"said", fieldFeedback},
}

// dependsOn returns the fields that a difference depends on.
func (f *Fold) dependsOn(d *DifferenceError, then, now *machine.Effect) []fieldDifference {
	var names []string
	if d.RuleWas != d.RuleNow {
		names = fieldsOfReasons(d.RuleWas, d.RuleNow)
	} else {
		names = fieldsOfChanges(d)
	}
	if onlyDelayed(then, now) && f.Header.Seed() != "" {
		names = append(names, fieldSeed)
	}
	var fields []fieldDifference
	for _, name := range names {
		fields = append(fields, f.field(name, d.Position.Action, d.Plane))
	}
	return fields
}

// fieldsOfReasons returns the fields behind two reasons. For a retry and a stop, they are those of the stop.
func fieldsOfReasons(was, now policy.Reason) []string {
	switch {
	case was.Retries() && !now.Retries() && len(now.Fields()) > 0:
		return now.Fields()
	case now.Retries() && !was.Retries() && len(was.Fields()) > 0:
		return was.Fields()
	}
	names := slices.Concat(was.Fields(), now.Fields())
	slices.Sort(names)
	return slices.Compact(names)
}

// fieldsOfChanges returns the fields behind the first change in the table.
func fieldsOfChanges(d *DifferenceError) []string {
	for _, row := range memberFields {
		at := slices.IndexFunc(d.Changes,
			func(c Change) bool { return strings.Contains(c.Path+"/", "/"+row.member+"/") })
		switch {
		case at < 0:
			continue
		case row.name == "":
			return d.RuleWas.Fields()
		case row.member == "feedback" && d.Changes[at].Was != "" && d.Changes[at].Now != "":
			return []string{fieldFeedback} // its text changed, not whether there is any
		}
		return []string{row.name}
	}
	return nil
}

// onlyDelayed reports whether two decisions differ only in their delays, as with different jitter.
func onlyDelayed(then, now *machine.Effect) bool {
	if then == nil || now == nil || then.Decision == nil || now.Decision == nil {
		return false
	}
	return then.Decision.Reason == now.Decision.Reason && then.Decision.Delay != now.Decision.Delay
}

// field returns the value of a field of an action, and the layer that set it.
func (f *Fold) field(name, action string, plane fault.Plane) fieldDifference {
	if value, ok := f.runField(name); ok {
		return fieldDifference{Name: name, Value: value}
	}
	row := rowOf(f.State.Policy.Explain(targetOf(action, plane)), name)
	return fieldDifference{Name: name, Value: row.Value, Layer: row.Layer, Source: row.Source}
}

// targetOf returns what the policy of an action applies to: on the transport plane the action's model calls.
func targetOf(action string, plane fault.Plane) policy.Target {
	if plane == fault.Transport {
		action = ""
	}
	return policy.Target{Plane: plane, Tool: action}
}

func rowOf(e policy.Explanation, name string) policy.Explained {
	for _, row := range e {
		if row.Field == name {
			return row
		}
	}
	return policy.Explained{}
}
