package console

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// questionContext is what a question is to be judged by, beside its own arguments.
type questionContext struct {
	// before are the arguments of the call of the tool before this one; empty if there was none. failed is
	// what the model was told of it, if that was no success.
	before json.RawMessage
	failed string
	// plain reports that the tool is declared neither read-only nor idempotent.
	plain bool
	// refused is when a person has refused the same arguments in this run; zero if nobody has.
	refused time.Time
	// run is the number of the run in the session, and left what it has left of its budgets.
	run  int
	left []budget
}

// budget is what a run has left of one of its budgets. Low is set if that is little.
type budget struct {
	Text string
	Low  bool
}

// budgetsOf are what a run has left of the budgets that bound it.
func budgetsOf(st *machine.State) (all []budget) {
	add := func(limit, spent int64, text func(int64) string, what string) {
		left := max(0, limit-spent)
		all = append(all, budget{text(left) + " of " + text(limit) + what, several.Low(left, limit)})
	}
	if most := st.Policy.Budgets.Run; most != policy.Unlimited {
		add(int64(most), int64(st.Spent.Run), several.Grouped, " failed attempts")
	}
	run := &st.Policy.Spending.Run
	if run.TotalTokens != nil {
		add(*run.TotalTokens, st.Charged.Usage.Total(), several.Grouped, " tokens")
	}
	if run.Cost != nil {
		add(*run.Cost, st.Charged.Cost, several.Money, "")
	}
	return all
}

// contextOf returns the context of a question.
func contextOf(st *machine.State, a *machine.Ask) (b questionContext) {
	b.run, b.left = st.Run, budgetsOf(st)
	said := st.Transcript()
	for n := talk.LastReply(said) - 1; n >= 0 && b.before == nil; n-- {
		for _, call := range slices.Backward(said[n].Calls) {
			if call.Name == a.Tool && b.before == nil {
				b.before, b.failed = json.RawMessage(call.Arguments), failureOf(said[n+1:], call.ID)
			}
		}
	}
	if batch := st.Batch; batch != nil && a.Index >= 0 && a.Index < len(batch.Calls) {
		call := batch.Calls[a.Index]
		b.plain = !call.Repeatable && !call.ReadOnly
	}
	_, same, _ := strings.Cut(a.ID, "-")
	for _, g := range st.Given {
		if _, digest, _ := strings.Cut(g.Question, "-"); digest == same && g.Verdict == machine.Refuse && !g.Nobody {
			b.refused = g.At
		}
	}
	return b
}

// failureOf is what the model was told of a call that did not succeed; empty if it did.
func failureOf(after []message.Message, call string) string {
	for _, m := range after {
		if m.Role == message.Tool && m.CallID == call {
			if m.IsError {
				return brief(m.Text)
			}
			return ""
		}
	}
	return ""
}
