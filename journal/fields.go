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

// The names of the settings other than fields of a policy that a difference may depend on.
const (
	fieldSeed         = "seed"
	fieldSystem       = "system"
	fieldFeedback     = "feedback"
	fieldAllOrNothing = "all_or_nothing"
)

// boundsOf are the limits of a run.
func boundsOf(s *policy.Set) policy.Explanation {
	return policy.Explanation{
		{Field: "budgets.tool", Value: showBound(s.Budgets.Tool)},
		{Field: "budgets.run", Value: showBound(s.Budgets.Run)},
		{Field: "budgets.unknown_tools", Value: showBound(s.Budgets.UnknownTools)},
		{Field: "prices", Value: showData(s.Prices, len(s.Prices) == 0)},
		{Field: "spending", Value: showData(s.Spending, s.Spending.IsZero())},
		{Field: "context", Value: showContext(s.Context)},
		{Field: "max_turns", Value: showBound(s.MaxTurns)},
		{Field: "max_calls", Value: showBound(s.MaxCalls)},
		{Field: fieldAllOrNothing, Value: strconv.FormatBool(s.AllOrNothing)},
	}
}

// configOf are members of a header's config.
func configOf(h *Header) policy.Explanation {
	return policy.Explanation{
		{Field: fieldSeed, Value: strconv.Quote(h.Seed())},
		{Field: "deadline", Value: showTime(h.Config.Deadline)},
		{Field: "planner", Value: strconv.FormatBool(h.Config.Planner)},
		{Field: fieldSystem, Value: showTemplate(h.Config.System, "none")},
		{Field: fieldFeedback, Value: showTemplate(h.Config.Feedback, "the default words")},
	}
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

// showContext returns what says how prompts are kept short, with its defaults.
func showContext(c policy.Context) string {
	from, to := c.Shares()
	return showData(policy.Context{Steps: c.Order(), From: &from, To: &to, Keep: new(c.Newest())}, false)
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

// field returns the value of a field of an action or of the run, and the layer that set it.
func (f *Fold) field(name, action string, plane fault.Plane) fieldDifference {
	set := f.State.Policy
	if set == nil {
		set = &f.Header.Config.Policy
	}
	if plane == fault.Transport && f.Header.Config.Single {
		action = "" // its tries follow the policy of model calls
	}
	all := slices.Concat(boundsOf(set), configOf(&f.Header),
		set.Explain(policy.Target{Plane: plane, Tool: action}))
	if n := slices.IndexFunc(all, func(row policy.Explained) bool { return row.Field == name }); n >= 0 {
		return fieldDifference(all[n])
	}
	return fieldDifference{Field: name}
}
