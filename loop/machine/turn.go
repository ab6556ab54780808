package machine

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// nextTurn begins a new model call, unless an exhaustion, the turn limit or a wait comes first.
func (s *step) nextTurn() error {
	if limit := s.Policy.MaxTurns; limit != policy.Unlimited && s.Turn >= limit {
		s.stop(Outcome{Reason: policy.ReasonTurnLimit})
		return nil
	}
	if s.mustWait(thenTurn) {
		return nil
	}
	s.addUserMessages()
	s.Turn++
	s.inner.Transport, s.inner.TransportWaited = 1, 0
	if s.Config.UserPrompt {
		s.Phase = Prompting
		call := s.modelCall()
		s.do(MakePrompt).Model = call
		return nil
	}
	return s.callModel()
}

// callModel calls the model with the current prompt, once it is known to be short enough.
func (s *step) callModel() error {
	call, err := s.nextCall()
	if err == nil && !s.asksEstimate(call) && !s.tooFull(call) {
		s.makeCall(call)
	}
	return err
}

// makeCall makes a call of a model, if its cost fits and the limiter grants it.
func (s *step) makeCall(call *ModelCall) {
	if s.afford(call) && !s.asksGrant(call.Model) {
		s.Phase = Calling
		s.do(CallModel).Model = call
	}
}

// nextCall returns the next model call with its system prompt.
func (s *step) nextCall() (*ModelCall, error) {
	s.addUserMessages()
	call := s.modelCall()
	if s.compiled.unseen && !s.projects(call.Model) {
		return call, nil
	}
	system, err := s.system()
	call.System = system
	return call, err
}

func (s *step) modelCall() *ModelCall {
	call := &ModelCall{
		Turn: s.Turn, At: s.positions(), Transport: s.inner.Transport, Messages: s.transcript.Len(),
		Stop: s.Config.Stop,
	}
	settings := s.settings(call.At)
	call.Model, call.Temperature = cmp.Or(s.Model, settings.Model), settings.Temperature
	p := s.transportPolicy()
	call.Timeout, call.FirstToken, call.Idle = max(p.ModelTimeout, 0), max(p.FirstTokenTimeout, 0),
		max(p.IdleTimeout, 0)
	call.ToolChoice = s.ToolChoice()
	return call
}

// ToolChoice returns the choice of tools that the next reply is asked with: that of the config, but none once
// a required call has ended.
func (st *State) ToolChoice() message.ToolChoice {
	if st.inner.Chosen {
		return ""
	}
	return st.Config.ToolChoice
}

// model returns the name of the model of the next call.
func (s *step) model() string {
	if s.Model != "" {
		return s.Model
	}
	return s.settings(s.positions()).Model
}

// positions returns the positions that the corrected actions have with the next reply.
func (s *step) positions() []Position {
	if len(s.Actions) == 0 {
		return []Position{s.position(AnswerAction, 1)}
	}
	at := make([]Position, len(s.Actions))
	for n := range s.Actions {
		at[n] = s.position(s.Actions[n].Name, s.Actions[n].Attempt+1)
	}
	return at
}

// foremost returns the position of the action with the most attempts; among equals, of the first.
func foremost(at []Position) Position {
	return slices.MaxFunc(at, func(a, b Position) int { return cmp.Compare(a.Attempt, b.Attempt) })
}

// settings returns the settings of the foremost action.
func (s *step) settings(at []Position) policy.Settings {
	most := foremost(at)
	return s.policyOf(most.Action).SettingsOf(most.Attempt)
}

// nextTry asks for the next try of the single action.
func (s *step) nextTry() error {
	if s.mustWait(thenTry) {
		return nil
	}
	a := s.open(s.Config.Action)
	if s.inner.Transport = max(s.inner.Transport, 1); s.asksGrant("") {
		return nil
	}
	s.Phase = Trying
	p := s.policyOf(a.Name)
	s.do(TryAction).Try = &TryRun{
		Position: s.position(a.Name, a.Attempt+1),
		Settings: p.SettingsOf(a.Attempt + 1), Transport: s.inner.Transport,
		Timeout: max(s.transportPolicy().ModelTimeout, 0),
	}
	return nil
}

// wait delays what follows on a plane, unless a wait there already ends later.
func (s *step) wait(plane fault.Plane, delay time.Duration, why policy.Reason) {
	w := &s.inner.CorrectionWait
	if plane == fault.Transport {
		w = &s.inner.TransportWait
	}
	until := s.At.Add(delay)
	if delay > 0 && (*w == nil || until.After((*w).Until)) {
		*w = &Wait{Until: until, Delay: delay, Plane: plane, Reason: why}
	}
}

// waitBefore returns the wait before n, or nil. Before a try it is the later of both planes' waits.
func (st *State) waitBefore(n following) *Wait {
	c, t := st.inner.CorrectionWait, st.inner.TransportWait
	switch {
	case n == thenTurn:
		return c
	case n != thenTry || c == nil || (t != nil && t.Until.After(c.Until)):
		return t
	}
	return c
}

// mustWait starts the wait before n if there is one; else it clears the wait.
func (s *step) mustWait(n following) bool {
	if w := s.waitBefore(n); w != nil && w.Until.After(s.At) {
		s.Phase, s.inner.Next = Waiting, n
		s.do(WaitUntil).Wait = w
		if w.Reason != policy.ReasonPlanner {
			s.Waited = backoff.Sum(s.Waited, w.Until.Sub(s.At))
		}
		return true
	}
	if n != thenTurn {
		s.inner.TransportWait = nil
	}
	if n == thenTurn || n == thenTry {
		s.inner.CorrectionWait = nil
	}
	return false
}

// enter begins n, or the wait before it.
func (s *step) enter(n following) error {
	s.inner.Next = ""
	switch n {
	case thenCall:
		if s.mustWait(n) {
			return nil
		}
		return s.callModel()
	case thenTools:
		return s.runCalls()
	case thenTry:
		return s.nextTry()
	}
	return s.nextTurn()
}

// proceed enters n, unless reducers have to run, the planner has to be asked about a transport failure, or an
// exhaustion has to be handled first.
func (s *step) proceed(n following) error {
	if s.asksReducers(n) {
		return nil
	}
	about := cmp.Or(s.inner.Consult, s.inner.Exhausted)
	if about == nil {
		return s.enter(n)
	}
	s.inner.Next = n
	if !s.Config.Planner {
		return s.follow()
	}
	s.Phase = Planning
	s.do(AskPlanner).Question = about
	return nil
}

// callFailed handles a failed model call. If the provider refused the model's own output, the reply failed on
// the correction plane.
func (s *step) callFailed() error {
	f := *s.ev.Failure
	if s.tooLong(&f) {
		return nil
	}
	if s.askedTooMuch(&f) {
		return s.makeAgain(&f, policy.ReasonReplyBounded)
	}
	if f.Plane == fault.Correction {
		s.chargeProjection() // the model has worked
		return s.replyFailed(f, "")
	}
	s.chargeFailed(&f)
	if !s.excused(&f) {
		s.requestFailed(f)
	}
	return s.proceed(thenCall)
}

// tried judges one try of the single action.
func (s *step) tried() error {
	t, name := s.ev.Try, s.Config.Action
	s.use(t.Usage)
	switch f := &t.Failure; {
	case t.Abandoned:
		return s.cancelled()
	case f.Plane == fault.Transport:
		if !s.excused(f) {
			s.requestFailed(*f)
		}
		return s.proceed(thenTry)
	}
	s.open(name).Attempt++
	s.inner.Transport, s.inner.TransportWaited = 0, 0
	switch {
	case t.Reduced != nil && t.Reduced.Error != nil:
		s.tryRefused(name, t)
		return s.proceed(thenTry)
	case t.Failure.Failed():
		s.fail(name, &t.Failure, t.Same, "")
		return s.proceed(thenTry)
	}
	if err := s.reduce(t.Reduced); err != nil {
		return err
	}
	s.pass(name, policy.ReasonAccepted)
	s.stop(Outcome{OK: true, Value: t.Value, Reason: policy.ReasonAccepted})
	return nil
}

// tryRefused handles a try that a reducer refused: its value, or an event that the caller dispatched in it.
// If the class is not retried, it ends the action, because there is no model to tell.
func (s *step) tryRefused(name string, t *Try) {
	e := t.Reduced.Error
	if !t.Failure.Failed() { // else the session has it from its event
		s.Session = s.Session.AddReducerError(*e)
	}
	if d := s.refused(name, e, t.Same); !d.Retry {
		f, _ := ReducerFailure(name, e)
		s.exhaust(d, f)
	}
}

// system returns the system prompt of the next model call: the user's, or the rendered template.
func (s *step) system() (string, error) {
	if s.Config.UserPrompt || s.compiled.system == nil {
		return s.System, nil
	}
	at := foremost(s.positions())
	a := cmp.Or(s.find(at.Action), &action{Name: at.Action})
	most := s.lastAttempt(a, at.Attempt-1)
	if most != policy.Unlimited {
		most = max(most, at.Attempt) // a plan may go on beyond a budget
	}
	text, err := s.compiled.system.Prompt(view{s.State}, at.Attempt, most, s.Config.Limits)
	return text, chain.At("system", err)
}

// view is a state as templates read it.
type view struct{ st *State }

// LatestFeedback returns the current feedback of an open action: once an action is closed or has another
// outcome, its feedback is history.
func (v view) LatestFeedback(action string) (feedback.RetryFeedback, bool) {
	if n := v.st.inner.Nudge; n != nil && (action == "" || action == n.ToolName) {
		return *n, true
	}
	if action != "" {
		if fb := v.st.Feedback(action); fb != nil {
			return *fb, true
		}
		return feedback.RetryFeedback{}, false
	}
	for fb := range v.st.Session.NewestFeedback() {
		if now := v.st.Feedback(fb.ToolName); now != nil {
			return *now, true
		}
	}
	return feedback.RetryFeedback{}, false
}

func (v view) Feedback() iter.Seq[feedback.RetryFeedback] {
	return slices.Values(v.st.Session.Feedback())
}

func (v view) Slice(name string) ([]json.RawMessage, bool) { return v.st.Session.Values(name) }
