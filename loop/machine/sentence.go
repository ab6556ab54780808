package machine

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// verbs begin the sentences of effects.
var verbs = map[EffectKind]string{
	CallModel:    "call the model",
	MakePrompt:   "make the prompt",
	EstimateCall: "estimate the call",
	AskGrant:     "ask the limiter",
	RunTools:     "run ",
	TryAction:    "try ",
	AskPlanner:   "ask the planner: ",
	AskPerson:    "ask a person: ",
	Reduce:       "tell the reducers",
	Shorten:      "make the prompt shorter",
}

// String returns the effect as one sentence, with its reason in brackets, as in scenarios and timelines.
func (e Effect) String() string {
	switch e.Kind {
	case CallModel, MakePrompt, EstimateCall:
		return e.Model.sentence(verbs[e.Kind])
	case WaitUntil:
		return fmt.Sprintf("wait %s (%s%s)", e.Wait.Delay, string(e.Wait.Reason), planeNote(e.Wait.Plane))
	case Summarise:
		return fmt.Sprintf("sum up messages %d to %d", e.Summary.From, e.Summary.To-1)
	case Stop:
		return e.Outcome.String()
	case Decided:
		return e.Decision.String()
	}
	return verbs[e.Kind] + e.About()
}

// About returns the sentence of an effect without its verb, for lists that show the verb in a column; empty
// for effects that are a verb alone.
func (e Effect) About() string {
	switch e.Kind {
	case CallModel, MakePrompt:
		if settings := e.Model.settings(); settings != "" {
			return settings + ", " + e.Model.attempts()
		}
		return e.Model.attempts()
	case RunTools:
		return namesOf(e.Tools)
	case TryAction:
		return e.Try.Position.String() + again(e.Try.Transport) + atMost(e.Try.Timeout)
	case AskPlanner:
		return e.Question.String()
	case AskPerson:
		return sentenceOf(e.Asks)
	case AskSettled:
		return e.Settled.String()
	case Stop:
		return e.Outcome.About()
	}
	return ""
}

func (m *ModelCall) sentence(verb string) string {
	if settings := m.settings(); settings != "" {
		verb += " " + settings
	}
	return verb + ", " + m.attempts()
}

// settings names the model and the temperature, if they are not the first model and its own.
func (m *ModelCall) settings() string {
	if m.Temperature == nil {
		return m.Model
	}
	return strings.TrimSpace(fmt.Sprint(m.Model, " at temperature ", *m.Temperature))
}

func (m *ModelCall) attempts() string {
	at := make([]string, len(m.At))
	for n, p := range m.At {
		at[n] = p.String()
	}
	return strings.Join(at, ", ") + again(m.Transport) + atMost(m.Timeout) + m.replies()
}

// replies returns the bound of the reply as text.
func (m *ModelCall) replies() string {
	if m.MaxOutputTokens <= 0 {
		return ""
	}
	return fmt.Sprintf(", at most %d tokens", m.MaxOutputTokens)
}

// atMost returns a limit as text.
func atMost(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return " within " + d.String()
}

func namesOf(runs []ToolRun) string {
	names := make([]string, len(runs))
	for n, t := range runs {
		names[n] = t.Tool
		if t.Transport > 1 {
			names[n] += fmt.Sprintf(" (transport attempt %d)", t.Transport)
		}
		names[n] += atMost(t.Timeout)
	}
	return strings.Join(names, ", ")
}

// again names a transport attempt after the first.
func again(transport int) string {
	if transport <= 1 {
		return ""
	}
	return fmt.Sprintf(", transport attempt %d", transport)
}

// String returns the position as text: "book_room attempt 2 of 3". The answer has no name.
func (p Position) String() string {
	return p.On(fault.Correction)
}

// On returns the position as text. It names the plane unless it is the correction plane.
func (p Position) On(plane fault.Plane) string {
	text := p.count()
	if plane == fault.Transport {
		text = "transport " + text
	}
	if p.Action == AnswerAction {
		return text
	}
	return p.Action + " " + text
}

func (p Position) count() string {
	if p.MaxAttempts == policy.Unlimited {
		return fmt.Sprintf("attempt %d", p.Attempt)
	}
	return fmt.Sprintf("attempt %d of %d", p.Attempt, p.MaxAttempts)
}

// String returns the decision as text, beginning with the feedback. For a retry, the next effect gives the
// wait or call.
func (d *Decision) String() string {
	switch {
	case d.Reason == policy.ReasonNudged:
		return "tell the model: " + d.Feedback.Message
	case d.Reason == policy.ReasonCancelled || d.Reason == policy.ReasonBroken ||
		d.Class == "" && d.Reason.GaveUp():
		return "leave " + d.Position.String() + " (" + string(d.Reason) + ")"
	case d.Reason == policy.ReasonFailedForGood:
		return "close " + d.Position.String() + " (failed_for_good)"
	case d.Class == "":
		return "accept " + d.accepted()
	case d.Plane == fault.Transport && d.Retry:
		return fmt.Sprintf("send it again: %s at %s (%s)", d.Class, d.On(d.Plane), string(d.Reason))
	case d.Feedback != nil && d.Retry:
		return "tell the model: " + d.Feedback.Message
	case d.ReducerError != nil && !d.Retry:
		return fmt.Sprintf("reducer %s refused: %s (%s)", d.ReducerError.Reducer, d.ReducerError.Message,
			string(d.Reason))
	case d.Retry:
		return fmt.Sprintf("ask again: %s at %s (%s)", d.Class, d.Position, string(d.Reason))
	}
	if d.Cycle != nil {
		return fmt.Sprintf("give up: no_progress: %s, %d times, allowed %d", d.Cycle, d.Cycle.Rounds,
			d.Detail.Limit)
	}
	return fmt.Sprintf("give up: %s at %s (%s)", d.Class, d.On(d.Plane), why(d.Reason, d.Detail))
}

// why returns a reason to stop with the numbers that the position does not have.
func why(r policy.Reason, d policy.Detail) string {
	switch {
	case d.Wait > 0:
		return fmt.Sprintf("%s: wait %v, room %v", string(r), d.Wait, d.Room)
	case d.Spending() != "":
		return string(r) + ": " + d.Spending()
	case d.Count > 0 && r != policy.ReasonAttemptsExhausted:
		return fmt.Sprintf("%s: %d, allowed %d", string(r), d.Count, d.Limit)
	}
	return string(r)
}

func (d *Decision) accepted() string {
	if d.Action == AnswerAction {
		return "the answer, " + d.Position.String()
	}
	return d.Position.String()
}

// planeNote names the plane of a wait, unless it is the correction plane.
func planeNote(p fault.Plane) string {
	if p == fault.Transport {
		return ", transport"
	}
	return ""
}

// String returns the question as text: "book_room attempt 3 of 3: tool_validation (attempts_exhausted)" or,
// before the policy is followed, "transport attempt 1 of 4: rate_limit; the policy says retry in 2s:
// backoff".
func (q *Question) String() string {
	if q.Cycle != nil && q.Exhausted {
		return fmt.Sprintf("no_progress: %s, %d times, allowed %d", q.Cycle, q.Cycle.Rounds, q.Detail.Limit)
	} else if q.Cycle != nil {
		return fmt.Sprintf("no_progress: %s, %d times; the policy goes on", q.Cycle, q.Cycle.Rounds)
	}
	text := fmt.Sprintf("%s: %s", q.On(q.Plane), q.Failure.Class)
	if q.Exhausted {
		return text + " (" + why(q.Reason, q.Detail) + ")"
	}
	return text + "; the policy says " + q.Decision.String()
}

// String returns the outcome as text.
func (o *Outcome) String() string {
	switch about := o.About(); {
	case o.OK && o.Degraded:
		return "done, " + about
	case o.OK && about == "":
		return "done"
	case o.OK:
		return "done: " + about
	case o.Exhaustion == nil:
		return "stop (" + about + ")"
	default:
		return "stop: " + about
	}
}

// About returns what the outcome says after "done" or "stop": the answer, or why there is none.
func (o *Outcome) About() string {
	switch {
	case o.OK && o.Degraded:
		return "degraded to plain text: " + o.Text
	case o.OK && len(o.Calls) > 0:
		return "call " + namesOf(o.Calls)
	case o.OK && len(o.Value) > 0:
		return string(o.Value)
	case o.OK:
		return o.Text
	case o.Exhaustion != nil:
		return o.Exhaustion.String()
	}
	return why(o.Reason, o.Detail)
}
