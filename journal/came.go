package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// Came is what came of the call that a person was asked about, after the answer.
type Came struct {
	// Verdict is how the call was last tried; empty if it was not. Text is its result, or what went wrong, in
	// at most 400 bytes.
	Verdict machine.Verdict
	Text    string
	// Open reports that the call is still to end, and Again that a person is asked about it again.
	Open, Again bool
	// InDoubt reports that nobody knows what the call did, and NotAccepted that a reducer refused its result:
	// Text is why.
	InDoubt, NotAccepted bool
}

// The bounds of what is known of calls after answers: the latest answers of a run, and bytes of each text.
const (
	maxCames    = 8
	maxCameText = 400
)

// answeredCall is a call about which a person has answered, and what came of it when it last ended.
type answeredCall struct {
	Came
	question, key string
	turn, index   int
}

// Came says what came of the call of a question that was answered in the run. It knows the latest
// answers, of a compacted journal those since: else ok is false, and for a question about no call.
func (f *Fold) Came(question string) (came Came, ok bool) {
	n := slices.IndexFunc(f.answered, func(a answeredCall) bool { return a.question == question })
	if n < 0 {
		return came, false
	}
	a, st := f.answered[n], &f.State
	came = a.Came
	for _, d := range st.InDoubt() {
		came.InDoubt = came.InDoubt || d.Key == a.key
	}
	here := st.Turn == a.turn && st.Phase != machine.Stopped
	if b := st.Batch; here && b != nil && a.index < len(b.Calls) {
		later := func(o answeredCall) bool { return o.turn == a.turn && o.index == a.index }
		came.Open = !b.Calls[a.index].Ended() && !slices.ContainsFunc(f.answered[n+1:], later)
	}
	same := func(q machine.Ask) bool { return q.Index == a.index }
	came.Again = came.Open && slices.ContainsFunc(st.Asks(), same)
	return came, true
}

// Warnings say what the inbox had for this run and no process took. They are warnings of its result. The
// slice is read-only.
func (f *Fold) Warnings() []string { return f.untaken.From(0) }

// Untaken returns what a process said of the last answer to a question that it did not take; empty if it took
// all.
func (f *Fold) Untaken(question string) string {
	for _, text := range f.untaken.Backward() {
		if strings.Contains(text, fmt.Sprintf("%q", question)) {
			return canon.Cut(text, 1<<10)
		}
	}
	return ""
}

// keepAnswered keeps which calls people answer about, and how these end.
func (f *Fold) keepAnswered(from standing, ev *machine.Event, effects []machine.Effect) {
	if t := ev.Tool; t != nil && ev.Kind == machine.ToolEnded {
		for n, a := range slices.Backward(f.answered) {
			if a.turn == from.turn && a.index == t.Index {
				f.answered = slices.Clone(f.answered)
				f.answered[n].Came = Came{Verdict: t.Verdict, Text: canon.UTF8(canon.Cut(endText(t), maxCameText)),
					NotAccepted: t.Failure == nil && t.Reduced != nil && t.Reduced.Error != nil}
				f.answered[n].key = from.batch.Calls[t.Index].Key
				break
			}
		}
	}
	for n := range effects {
		if s := effects[n].Settled; s != nil && s.Ask.Index >= 0 {
			kept := f.answered[max(0, len(f.answered)-maxCames+1):]
			f.answered = append(slices.Clip(kept), answeredCall{question: s.Ask.ID, turn: from.turn, index: s.Ask.Index})
		}
	}
}

// endText returns what the end of a call says: the result, or what was wrong.
func endText(t *machine.ToolEnd) string {
	switch {
	case t.Failure != nil:
		return cmp.Or(t.Failure.Message, string(t.Failure.Class))
	case t.Reduced != nil && t.Reduced.Error != nil:
		return t.Reduced.Error.Message
	case len(t.Issues) > 0:
		return t.Issues[0].String()
	}
	return cmp.Or(t.Text, string(t.Result))
}
