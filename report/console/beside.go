package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/told"
)

// openAsk is an open question, with what it is to be judged by. Its texts are for people.
type openAsk struct {
	machine.Ask
	// form is the schema of the arguments, and secrets the places of the values in them that are not shown.
	form    json.RawMessage
	secrets []string
	// before are the arguments of the call of the tool before this one; empty if there was none.
	before json.RawMessage
	// Effect says what the tool is called with, and Before what came of the call before, if that was no
	// success.
	Effect, Before string
	// Earlier are the latest calls of the tool that had an effect, or may have had one.
	Earlier []string
	// Declared is what the tool says of itself.
	Declared string
	// Refused is when a person has refused the same arguments in this run; empty if nobody has.
	Refused string
	// Failed is what was wrong with what was given up.
	Failed string
	// Run is the number of the run in the session, and Budgets what it has left.
	Run     int
	Budgets []budget
	// Untaken is what the run said of an answer that it did not take.
	Untaken string
}

// Doubt reports whether the question is what came of a call, and GaveUp whether it is what is to follow an
// exhaustion.
func (a *openAsk) Doubt() bool  { return a.Kind == machine.AskDoubt }
func (a *openAsk) GaveUp() bool { return a.Kind == machine.AskExhausted }

// Holds says what holds if nobody answers.
func (a *openAsk) Holds() string {
	if a.Deadline.IsZero() {
		return "nothing happens until somebody does"
	}
	return defaultWord(a.Default) + " at " + clock(a.Deadline)
}

// over reports whether the time of the question is over.
func (a *openAsk) over(now time.Time) bool { return !a.Deadline.IsZero() && !now.Before(a.Deadline) }

// budget is what a run has left of one of its budgets. Low is set if that is little.
type budget struct {
	Text string
	Low  bool
}

// budgetsOf returns what a run has left of the budgets that bound it.
func budgetsOf(st *machine.State) (all []budget) {
	add := func(limit, spent int64, text func(int64) string, what string) {
		left := max(0, limit-spent)
		all = append(all, budget{text(left) + " of " + text(limit) + what, several.Low(left, limit)})
	}
	if most := st.Policy.Budgets.Run; most != policy.Unlimited {
		add(int64(most), int64(st.Failed.Run), several.Grouped, " failed attempts")
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

// openAskOf returns a question with what it is to be judged by.
func openAskOf(f *journal.Fold, a machine.Ask, by scrubber) openAsk {
	st := &f.State
	o := openAsk{Ask: a, form: f.Form(a.Tool), Run: st.Run, Budgets: budgetsOf(st), Untaken: by.tell(f.Untaken(a.ID))}
	if !by.showSecrets {
		o.secrets = secretsOf(o.form)
	}
	o.Effect = by.spoken(a.Arguments, o.secrets)
	var failed string
	if o.before, failed = callBefore(st.Transcript(), a.Tool); failed != "" {
		o.Before = by.spoken(o.before, o.secrets) + ": " + brief(by.scrub(failed))
	}
	for _, call := range earlierCalls(st, a.Tool) {
		outcome := "done, " + call.Said
		switch {
		case call.InDoubt:
			outcome = "nobody knows whether it was done"
		case call.Failed:
			outcome = "failed, " + call.Said
		}
		o.Earlier = append(o.Earlier, by.spoken(json.RawMessage(call.Arguments), o.secrets)+": "+
			brief(visible(by.scrub(outcome))))
	}
	if batch := st.Batch; batch != nil && a.Index >= 0 && a.Index < len(batch.Calls) {
		if call := batch.Calls[a.Index]; !call.Repeatable && !call.ReadOnly && !o.GaveUp() {
			o.Declared = "not declared idempotent: what it does is not taken back by a retry"
		}
	}
	_, same, _ := strings.Cut(a.ID, "-")
	for _, g := range st.Given() {
		if _, digest, _ := strings.Cut(g.Question, "-"); digest == same && g.Verdict == machine.Refuse && !g.Nobody {
			o.Refused = clock(g.At)
		}
	}
	if o.GaveUp() && a.Failure != nil {
		for _, i := range a.Failure.Issues {
			o.Failed += i.String() + "; "
		}
		o.Failed = by.scrub(fmt.Sprintf("%s%s, at attempt %d (%s)", o.Failed, told.Words(string(a.Failure.Class)),
			a.Attempt, a.Reason.Phrase()))
	}
	return o
}

// callBefore returns the arguments of the call of a tool before the latest reply, and what the model was told
// of it, if that was no success.
func callBefore(said []message.Message, tool string) (arguments json.RawMessage, failed string) {
	for n := talk.LastReply(said) - 1; n >= 0; n-- {
		for _, call := range slices.Backward(said[n].Calls) {
			if call.Name == tool {
				return json.RawMessage(call.Arguments), failureOf(said[n+1:], call.ID)
			}
		}
	}
	return nil, ""
}

// maxEarlier is how many earlier calls of a tool are shown.
const maxEarlier = 5

// earlierCalls returns the latest calls of a tool in the session that had an effect, or may have had one:
// those in doubt first, then the latest.
func earlierCalls(st *machine.State, tool string) (all []projection.Call) {
	for _, turn := range slices.Backward(st.Kept().Turns) {
		for _, call := range slices.Backward(turn.Calls) {
			if call.Tool == tool {
				all = append(all, call)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b projection.Call) int { return sooner(a.InDoubt) - sooner(b.InDoubt) })
	return all[:min(len(all), maxEarlier)]
}

// sooner puts what holds before what does not.
func sooner(holds bool) int {
	if holds {
		return 0
	}
	return 1
}

// failureOf returns what the model was told of a call that did not succeed; empty if it did.
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
