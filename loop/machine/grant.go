package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/policy"
)

// GrantAsk asks the limiter for a grant of a model call or a try.
type GrantAsk struct {
	// Model is the name of the model in the run; empty for the first, and for a try.
	Model string `json:"model,omitempty"`
	// Turn is the Turn of the last [Grant], which the limiter needs to be fair between sessions.
	Turn int64 `json:"turn,omitempty"`
	// Retry reports that the request is made again, also after a call that was excused.
	Retry bool `json:"retry,omitempty"`
	// UnlessDown asks for a denial at once if the provider is down, because the planner may know another
	// model.
	UnlessDown bool `json:"unless_down,omitempty"`
}

// Grant is what the limiter answered.
type Grant struct {
	// Scope names the limits that the call counts against; empty if they have no name.
	Scope string `json:"scope,omitempty" redact:"keep"`
	// Turn is for the next [GrantAsk] of the session.
	Turn int64 `json:"turn,omitempty"`
	// Probe marks a call that finds out whether the provider is back. Its failure is charged to nobody.
	Probe bool `json:"probe,omitempty"`
	// Excused marks a call whose refusal is charged to nobody: the limiter, which did not know the limit, let
	// it through too early.
	Excused bool `json:"excused,omitempty"`
	// Waited is how long the call waited.
	Waited time.Duration `json:"waited_ns,omitempty"`
	// Denied says why there is no grant; empty if there is one. Wait is how long the call would have waited,
	// and Left the time that it had.
	Denied limit.Why     `json:"denied,omitempty" redact:"keep"`
	Wait   time.Duration `json:"wait_ns,omitempty"`
	Left   time.Duration `json:"left_ns,omitempty"`
}

// String returns the answer as one sentence.
func (g *Grant) String() string {
	text := "granted"
	switch {
	case g.Denied != "":
		return "denied: " + g.Denied.Explain(g.Wait, g.Left)
	case g.Probe:
		text = "granted, as a probe"
	}
	if g.Waited > 0 {
		text += fmt.Sprintf(", after %v", g.Waited)
	}
	return text
}

// asksGrant asks for a grant of a call or a try, if the run has a limiter and the event is not its answer.
func (s *step) asksGrant(model string) bool {
	if !s.Config.Limited || s.ev.Kind == Granted && s.ev.Grant.Denied == "" {
		return false
	}
	ask := GrantAsk{
		Model: model, Retry: s.inner.Transport > 1 || s.excusedNow(),
		UnlessDown: !s.inner.Patient && s.consulted(fault.Unavailable),
	}
	if s.inner.Grant != nil {
		ask.Turn = s.inner.Grant.Turn
	}
	s.Phase = Queueing
	s.do(AskGrant).Grant = &ask
	return true
}

// CallTokens estimates the tokens of the next model call's prompt, for the limiter; 0 for a single action.
func (st *State) CallTokens() int64 {
	if st.Config.Single {
		return 0
	}
	tokens := st.EstimateAdded()
	if p := st.Prompt; p != nil {
		tokens += p.Usage.InputTokens + max(p.Usage.OutputTokens-p.Usage.ReasoningTokens, 0)
	}
	return tokens
}

// granted makes the call or the try that was granted.
func (s *step) granted() error {
	g := s.ev.Grant
	if g.Denied != "" {
		return s.denied(g)
	}
	s.inner.Grant, s.inner.Patient = g, false
	if s.Config.Single {
		return s.nextTry()
	}
	return s.makeNext()
}

// denied ends the run, or asks the planner. No attempt was made, and none is charged.
func (s *step) denied(g *Grant) error {
	f := fault.Failure{Plane: fault.Transport, Class: fault.RateLimit, Message: "limiter: " + g.String()}
	if g.Denied == limit.NotUp || g.Denied == limit.DownTooLong {
		f.Class = fault.Unavailable
	}
	d := &Decision{Position: s.requestPosition(), Plane: fault.Transport, Decision: policy.Decision{
		Reason: policy.ReasonLimited, Detail: policy.Detail{Wait: g.Wait, Room: g.Left}}}
	if g.Denied == limit.TooLate && s.outlasts(g.Wait) {
		d.Reason = policy.ReasonDeadline
	}
	if g.Denied == limit.NotUp {
		s.consult(Question{Position: d.Position, Plane: d.Plane, Denied: true, Failure: f,
			Decision: policy.Decision{Retry: true, Reason: policy.ReasonLimited}})
	} else {
		s.exhaust(d, f)
	}
	if s.Config.Single {
		return s.proceed(thenTry)
	}
	return s.proceed(thenCall)
}

// excusedNow reports that the event is the end of a call that is excused.
func (s *step) excusedNow() bool {
	f := s.ev.Failure
	if s.ev.Try != nil {
		f = &s.ev.Try.Failure
	}
	return f != nil && s.excused(f)
}

// excused reports that the failed call of the event was a probe that found the provider down, or was refused
// by the fault of the limiter. The call waits for another grant, and no attempt is charged.
func (s *step) excused(f *fault.Failure) bool {
	g := s.inner.Grant
	if g == nil || slices.Contains(s.Config.Consult, f.Class) {
		return false
	}
	outcome := limit.OutcomeOf(f.Class)
	return g.Probe && outcome == limit.Down || g.Excused && outcome == limit.Refused
}
