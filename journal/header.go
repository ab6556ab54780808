package journal

import (
	"strconv"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// setFields shows what a set of policies says for the run as a whole.
var setFields = []struct {
	name string
	show func(*policy.Set) string
}{
	{fieldBudgetTool, func(s *policy.Set) string { return showBound(s.Budgets.Tool) }},
	{fieldBudgetRun, func(s *policy.Set) string { return showBound(s.Budgets.Run) }},
	{fieldBudgetNames, func(s *policy.Set) string { return showBound(s.Budgets.UnknownTools) }},
	{fieldMaxTurns, func(s *policy.Set) string { return showBound(s.MaxTurns) }},
	{fieldMaxCalls, func(s *policy.Set) string { return showBound(s.MaxCalls) }},
	{fieldAllOrNothing, func(s *policy.Set) string { return strconv.FormatBool(s.AllOrNothing) }},
}

func showBound(n int) string {
	if n == policy.Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(n)
}

// configFields shows members of a run's config.
var configFields = []struct {
	name string
	show func(*machine.Config) string
}{
	{fieldDeadline, func(c *machine.Config) string {
		if c.Deadline.IsZero() {
			return "none"
		}
		return c.Deadline.UTC().Format(time.RFC3339Nano)
	}},
	{fieldPlanner, func(c *machine.Config) string { return strconv.FormatBool(c.Planner) }},
	{fieldSystem, func(c *machine.Config) string { return showTemplate(c.System, "none") }},
	{fieldFeedback, func(c *machine.Config) string { return showTemplate(c.Feedback, "the default words") }},
}

// showTemplate names a template by its digest: its text is in the header.
func showTemplate(text, none string) string {
	if text == "" {
		return none
	}
	return "template " + SchemaDigest([]byte(text))[:8]
}

// configField is a value of the run as a whole; ok is false for a field of single policies.
func (f *Fold) configField(name string) (value string, ok bool) {
	set := &f.Header.Config.Policy
	if f.State.Policy != nil {
		set = f.State.Policy
	}
	for _, row := range setFields {
		if row.name == name {
			return row.show(set), true
		}
	}
	if name == fieldSeed {
		return strconv.Quote(f.Header.Seed()), true
	}
	for _, row := range configFields {
		if row.name == name {
			return row.show(&f.Header.Config), true
		}
	}
	return "", false
}
