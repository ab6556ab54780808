package report

import (
	"fmt"
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

// charge counts the failed attempt of a decision and returns what is left of the budgets; nil if it counts
// against none. on is the kind of the event that was decided on.
func (l *ledger) charge(d *machine.Decision, on machine.EventKind, of policy.Budgets) *left {
	// On the transport plane, only a tool call that ends without a result counts.
	if d.Class == "" || d.Plane == fault.Transport && (on != machine.ToolEnded || d.Retry) {
		return nil
	}
	l.run++
	isTool := d.Action != machine.AnswerAction && d.Class != fault.UnknownTool
	switch {
	case d.Class == fault.Reducer && (d.Reason == policy.ReasonReducerError || d.Reason == policy.ReasonRunBudget):
		// A reducer that ends its action counts for the run alone.
	case d.Class == fault.UnknownTool:
		l.unknown++
	case isTool:
		l.tools[d.Action]++
	}
	now := &left{Run: leftOf(of.Run, l.run), Unknown: leftOf(of.UnknownTools, l.unknown)}
	if isTool {
		now.Tool = leftOf(of.Tool, l.tools[d.Action])
	}
	return now
}

// left is what is left of the budgets. A budget that does not apply or has no limit is nil.
type left struct {
	Tool    *int `json:"tool,omitempty"`
	Run     *int `json:"run,omitempty"`
	Unknown *int `json:"unknown_tools,omitempty"`
}

func leftOf(limit, spent int) *int {
	if limit == policy.Unlimited {
		return nil
	}
	return new(max(0, limit-spent))
}

// String names what is left; empty if nothing is limited.
func (l *left) String() string {
	name := func(what string, n *int) string {
		if n == nil {
			return ""
		}
		return fmt.Sprint(what, *n)
	}
	all := joined(", ", name("tool ", l.Tool), name("run ", l.Run), name("unknown tools ", l.Unknown))
	return after("left: ", all)
}

// limitText is a limit in words.
func limitText(limit int) string {
	if limit == policy.Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(limit)
}
