package report

import (
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// ledger counts what a run has spent, by the decisions that were recorded.
type ledger struct {
	set          policy.Set
	run, unknown int
	tools        map[string]int
	// owed is usage that no attempt has been told of yet.
	owed message.Usage
}

func newLedger(set policy.Set) ledger { return ledger{set: set, tools: map[string]int{}} }

// restore takes over the counts of a snapshot.
func (l *ledger) restore(st *machine.State) {
	if st.Policy != nil {
		l.set = *st.Policy
	}
	l.run, l.unknown, l.owed = st.Spent.Run, st.Spent.Unknown, st.Owed
	for _, t := range st.Spent.Tools {
		l.tools[t.Tool] = t.Failed
	}
}

// adopt takes over what a planner changes for the rest of a run.
func (l *ledger) adopt(p *machine.Plan) {
	if p.Do != machine.Fallback {
		return
	}
	if p.Policy != nil {
		l.set = policy.Fold(l.set, *p.Policy)
	}
	if p.ResetBudgets {
		l.run, l.unknown, l.tools = 0, 0, map[string]int{}
	}
}

// decide charges an attempt, and says what is left after it; nil where nothing failed. on is the kind of
// the event that was decided on.
func (l *ledger) decide(d *machine.Decision, on machine.EventKind) (*left, message.Usage) {
	usage := l.owed
	l.owed = message.Usage{}
	if d.Class == "" {
		return nil, usage
	}
	attempts := countOf(d.MaxAttempts, d.Attempt)
	// A call that ends without a result costs the budgets, and no attempt.
	lost := on == machine.ToolEnded && d.Plane == fault.Transport && !d.Retry
	if d.Plane == fault.Transport && !lost {
		return &left{Attempts: attempts}, usage
	}
	l.charge(d)
	now := &left{Attempts: attempts}
	run, unknown := countOf(l.set.Budgets.Run, l.run), countOf(l.set.Budgets.UnknownTools, l.unknown)
	now.Run, now.Unknown = &run, &unknown
	if d.Action != machine.AnswerAction && d.Class != fault.UnknownTool {
		own := countOf(l.set.Budgets.Tool, l.tools[d.Action])
		now.Tool = &own
	}
	return now, usage
}

// charge counts a failed attempt of the correction plane. One that a reducer has ended costs the run alone.
func (l *ledger) charge(d *machine.Decision) {
	l.run++
	retried := policy.Effective(&l.set, d.Action)
	switch {
	case d.Class == fault.Reducer && !retried.Retries(fault.Reducer):
	case d.Class == fault.UnknownTool:
		l.unknown++
	case d.Action != machine.AnswerAction:
		l.tools[d.Action]++
	}
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

func (l *left) String() string {
	parts := []string{"attempts " + l.Attempts.String()}
	for _, c := range []struct {
		name string
		n    *count
	}{{"tool", l.Tool}, {"run", l.Run}, {"unknown tools", l.Unknown}} {
		if c.n != nil && *c.n != policy.Unlimited {
			parts = append(parts, c.name+" "+c.n.String())
		}
	}
	return "left: " + strings.Join(parts, ", ")
}
