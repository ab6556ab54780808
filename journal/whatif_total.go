package journal

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Totals sums up a run. In a [Comparison.Change] values may be negative.
type Totals struct {
	// Correction is the number of all attempts of the correction plane, and Transport that of failed attempts
	// of the transport plane.
	Correction int `json:"correction_attempts"`
	Transport  int `json:"transport_attempts"`
	// ModelCalls is the number of model calls, or of tries of a single action. ToolRuns is the number of tool
	// calls.
	ModelCalls int `json:"model_calls"`
	ToolRuns   int `json:"tool_runs"`
	// Waited is the sum of the waits between attempts.
	Waited time.Duration `json:"waited_ns"`
	Usage  message.Usage `json:"usage"`
	// Cost is what the calls cost, in the unit of a [policy.Price], if the policy has prices. Wasted is what
	// failed attempts consumed.
	Cost   int64         `json:"cost_micros,omitempty"`
	Wasted policy.Charge `json:"wasted,omitzero"`
}

// plus returns the sum with so many times u. Sums saturate.
func (t Totals) plus(u Totals, times int) Totals {
	t.Correction += times * u.Correction
	t.Transport += times * u.Transport
	t.ModelCalls += times * u.ModelCalls
	t.ToolRuns += times * u.ToolRuns
	more := u.sums()
	for n, sum := range t.sums() {
		*sum = int64(backoff.Sum(time.Duration(*sum), time.Duration(int64(times)**more[n])))
	}
	return t
}

// sums returns what may grow without bound.
func (t *Totals) sums() []*int64 {
	all := []*int64{(*int64)(&t.Waited), &t.Cost, &t.Wasted.Cost, &t.Wasted.Estimated}
	for _, u := range []*message.Usage{&t.Usage, &t.Wasted.Usage} {
		all = append(all, &u.InputTokens, &u.OutputTokens, &u.CacheReadTokens, &u.CacheWriteTokens,
			&u.ReasoningTokens, &u.APICalls)
	}
	return all
}

// add counts one step, after which the run has st; was is what it waited for.
func (t *Totals) add(ev *machine.Event, effects []machine.Effect, was *request, st *machine.State) {
	t.Usage, t.Cost, t.Wasted = st.Usage, st.Charged.Cost, st.Wasted
	switch {
	case ev.Kind == machine.Replied || ev.Kind == machine.CallFailed || ev.Kind == machine.Tried:
		t.ModelCalls++
	case ev.Kind == machine.ToolEnded:
		t.ToolRuns++
	case (ev.Kind == machine.Woke || ev.Kind == machine.Cancelled) && was.asked.Wait != nil:
		end := ev.At
		if was.asked.Wait.Until.Before(end) {
			end = was.asked.Wait.Until
		}
		t.Waited = backoff.Sum(t.Waited, max(end.Sub(was.askedAt), 0))
	}
	for _, e := range effects {
		switch {
		case e.Decision == nil || e.Decision.Reason == policy.ReasonNudged: // a nudge is no attempt
		case e.Decision.Plane == fault.Transport:
			t.Transport++
		default:
			t.Correction++
		}
	}
}

// shape is a digest of the form of a conversation: the roles and the answered calls, but not the texts.
type shape uint64

// add returns the shape with more messages.
func (s shape) add(said []message.Message) shape {
	for _, m := range said {
		for _, part := range []string{string(m.Role), m.CallID, m.Name, fmt.Sprint(m.IsError, len(m.Calls))} {
			for _, c := range []byte(part + "\x00") {
				s = (s ^ shape(c)) * 1099511628211
			}
		}
	}
	return s
}

// decisionsOf returns the decisions among effects as sentences, and in a form that can be compared.
func decisionsOf(effects []machine.Effect) (sentences []string, same string) {
	var b strings.Builder
	for _, e := range effects {
		if d := e.Decision; d != nil {
			sentences = append(sentences, verdictOf(d))
			fmt.Fprintf(&b, "%q %d %s %s %v %d %s\n", d.Action, d.Attempt, d.Plane, d.Class, d.Retry, d.Delay,
				d.Reason)
		}
	}
	return sentences, b.String()
}

// verdictOf returns a decision as one sentence, with its delay and reason.
func verdictOf(d *machine.Decision) string {
	if d.Class == "" {
		return d.String()
	}
	return d.On(d.Plane) + ": " + policy.Decision{Retry: d.Retry, Delay: d.Delay, Reason: d.Reason,
		Detail: d.Detail}.String()
}

// endOf returns what was decided at the end of a run, in a form that can be compared.
func endOf(o *machine.Outcome) string {
	if o == nil {
		return ""
	}
	text := fmt.Sprintf("%v %v %s %q %s", o.OK, o.Degraded, o.Reason, o.Text, o.Value)
	for _, c := range o.Calls {
		text += fmt.Sprintf(" %s %s", c.Tool, c.Arguments)
	}
	if x := o.Exhaustion; x != nil {
		text += fmt.Sprintf(" %q %d %s %s %s", x.Action, x.Attempt, x.Plane, x.Reason, x.Failure.Class)
	}
	return text
}
