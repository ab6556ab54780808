package report

import (
	"strconv"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// ledger counts what a run has spent of its budgets, by the decisions that were recorded.
type ledger struct {
	run, unknown int
	tools        map[string]int
}

// restore takes over the counts of a snapshot.
func (l *ledger) restore(spent machine.Spent) {
	*l = ledger{spent.Run, spent.Unknown, map[string]int{}}
	for _, t := range spent.Tools {
		l.tools[t.Tool] = t.Failed
	}
}

// decide charges an attempt, and says what is left after it; nil where nothing failed. on is the kind of
// the event that was decided on.
func (l *ledger) decide(d *machine.Decision, on machine.EventKind, of policy.Budgets) *left {
	if d.Class == "" {
		return nil
	}
	now := &left{Attempts: countOf(d.MaxAttempts, d.Attempt)}
	// On the transport plane only a tool call that ends without a result costs the budgets.
	if d.Plane == fault.Transport && (on != machine.ToolEnded || d.Retry) {
		return now
	}
	l.run++
	switch {
	case d.Class == fault.Reducer && (d.Reason == policy.ReducerError || d.Reason == policy.RunBudget):
		// A reducer that ends its action costs the run alone.
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

// left is what is left of bounds after an attempt. Those that do not count there are nil.
type left struct {
	Attempts count  `json:"attempts"`
	Tool     *count `json:"tool,omitempty"`
	Run      *count `json:"run,omitempty"`
	Unknown  *count `json:"unknown_tools,omitempty"`
}

// count is what is left of one bound: [policy.Unlimited] where there is none.
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

// MarshalJSON spells out that there is no bound.
func (c count) MarshalJSON() ([]byte, error) {
	if c == policy.Unlimited {
		return []byte(`"unlimited"`), nil
	}
	return []byte(c.String()), nil
}

// String names the budgets that there are; it is empty where none counts. The attempt says what is left of
// the attempts.
func (l *left) String() string {
	name := func(what string, c *count) string {
		if c == nil || *c == policy.Unlimited {
			return ""
		}
		return what + " " + c.String()
	}
	return after("left: ", joined(", ", name("tool", l.Tool), name("run", l.Run), name("unknown tools", l.Unknown)))
}
