package report

import (
	"strconv"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// ledger counts the failed attempts of a run, from the recorded decisions.
type ledger struct {
	run, unknown int
	tools        map[string]int
}

// restore sets the counts to those of a snapshot.
func (l *ledger) restore(spent machine.Spent) {
	*l = ledger{spent.Run, spent.Unknown, map[string]int{}}
	for _, t := range spent.Tools {
		l.tools[t.Tool] = t.Failed
	}
}

// decide counts a failed attempt and returns what is left of the budgets. It returns nil for a good attempt.
// on is the kind of the event that was decided on.
func (l *ledger) decide(d *machine.Decision, on machine.EventKind, of policy.Budgets) *left {
	if d.Class == "" {
		return nil
	}
	now := &left{Attempts: countOf(d.MaxAttempts, d.Attempt)}
	// On the transport plane, only a tool call that ends without a result counts.
	if d.Plane == fault.Transport && (on != machine.ToolEnded || d.Retry) {
		return now
	}
	l.run++
	switch {
	case d.Class == fault.Reducer && (d.Reason == policy.ReducerError || d.Reason == policy.RunBudget):
		// A reducer that ends its action counts for the run alone.
	case d.Class == fault.UnknownTool:
		l.unknown++
	case d.Action != machine.AnswerAction:
		l.tools[d.Action]++
	}
	now.Run, now.Unknown = new(countOf(of.Run, l.run)), new(countOf(of.UnknownTools, l.unknown))
	if d.Action != machine.AnswerAction && d.Class != fault.UnknownTool {
		now.Tool = new(countOf(of.Tool, l.tools[d.Action]))
	}
	return now
}

// left is what is left after an attempt. A bound that does not apply is nil.
type left struct {
	Attempts count  `json:"attempts"`
	Tool     *count `json:"tool,omitempty"`
	Run      *count `json:"run,omitempty"`
	Unknown  *count `json:"unknown_tools,omitempty"`
}

// count is what is left of one bound, or [policy.Unlimited].
type count int

func countOf(limit, spent int) count {
	if limit == policy.Unlimited {
		return policy.Unlimited
	}
	return count(max(0, limit-spent))
}

func (c count) String() string {
	if c == policy.Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(int(c))
}

// MarshalJSON writes "unlimited" if there is no bound.
func (c count) MarshalJSON() ([]byte, error) {
	if c == policy.Unlimited {
		return []byte(`"unlimited"`), nil
	}
	return []byte(c.String()), nil
}

// String names the budgets that apply. It leaves out the attempts, which the line of the attempt shows.
func (l *left) String() string {
	name := func(what string, c *count) string {
		if c == nil || *c == policy.Unlimited {
			return ""
		}
		return what + " " + c.String()
	}
	all := joined(", ", name("tool", l.Tool), name("run", l.Run), name("unknown tools", l.Unknown))
	return after("left: ", all)
}
