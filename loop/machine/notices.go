package machine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Notice is an event for the reducers: see [session.Notices].
type Notice struct {
	session.Event
	// Action is the action whose policy decides on a reducer's error; empty for the answer.
	Action string `json:"action,omitempty"`
}

// notify adds an event for the reducers if one is bound to it. Otherwise payload costs no memory: hence the
// type parameter.
func notify[T any](s *step, name, action string, payload T) {
	if !slices.Contains(s.inner.Hears, name) {
		return
	}
	raw, err := canon.Marshal(payload)
	if err != nil {
		raw = json.RawMessage("null") // an event of another program may have no JSON form
	}
	s.Notices = append(slices.Clip(s.Notices), Notice{session.Event{Name: name, Payload: raw}, action})
}

func (s *step) notifyReply(m *message.Reply) {
	notify(s, session.EventReplied, AnswerAction, session.RepliedEvent{
		Turn: s.Turn, Text: m.Text, Calls: m.Calls, Model: m.Model, Finish: m.Finish, Usage: m.Usage,
	})
}

func (s *step) notifyAttempt(d *Decision) {
	if d.Class == "" {
		return
	}
	notify(s, session.EventAttemptFailed, d.Action, session.AttemptFailedEvent{
		Action: d.Action, Attempt: d.Attempt, MaxAttempts: d.MaxAttempts, Plane: d.Plane, Class: d.Class,
		Retry: d.Retry, Delay: d.Delay, Reason: d.Reason, Feedback: d.Feedback,
	})
}

func (s *step) notifyToolFailed(c *BatchCall, class fault.Class, text string, inDoubt bool) {
	notify(s, session.EventToolFailed, c.Tool, session.ToolFailedEvent{
		Tool: c.Tool, CallID: c.ID, Arguments: c.Arguments, Class: class, Message: text,
		InDoubt:  inDoubt,
		Progress: c.Progress,
	})
}

func (s *step) notifyExhausted(x *Question) {
	notify(s, session.EventExhausted, x.Action, session.ExhaustedEvent{
		Action: x.Action, Attempt: x.Attempt, MaxAttempts: x.MaxAttempts, Plane: x.Plane,
		Class: x.Failure.Class, Reason: x.Reason,
	})
}

func (s *step) notifyEnd(o *Outcome) {
	notify(s, session.EventRunEnded, AnswerAction, session.RunEndedEvent{
		OK: o.OK, Reason: o.Reason, Degraded: o.Degraded, Text: o.Text, Value: o.Value, Usage: o.Usage,
		Turns: o.Turns,
	})
}

// asksReducers asks to run the reducers if there are notices.
func (s *step) asksReducers(n following) bool {
	if len(s.Notices) == 0 {
		return false
	}
	s.Phase, s.inner.Next = Reducing, n
	s.do(Reduce)
	return true
}

// reduced takes the results of the reducers for the notices, and continues.
func (s *step) reduced() error {
	heard, next := s.Notices, s.inner.Next
	if got := len(s.ev.Reductions); got != len(heard) {
		return s.eventError(fmt.Sprintf("it needs %d reductions, one for each notice, and has %d", len(heard), got))
	}
	s.Notices, s.inner.Next = nil, ""
	for n := range heard {
		if err := s.noticeReduced(&heard[n], &s.ev.Reductions[n]); err != nil {
			return err
		}
	}
	if s.Outcome != nil {
		s.ended()
		return nil
	}
	return s.proceed(next)
}

// noticeReduced takes the result of the reducers for one notice.
func (s *step) noticeReduced(n *Notice, r *Reduced) error {
	p := s.policyOf(n.Action)
	if err := s.reduce(r); err != nil || r.Error == nil || s.Outcome != nil || s.inner.Exhausted != nil ||
		p.OnReducerError != policy.ReducerStopsRun {
		return err
	}
	d := &Decision{
		Position: s.Attempt(n.Action), Plane: fault.Correction,
		Class: fault.Reducer, Decision: policy.Decision{Reason: policy.ReasonReducerError}, ReducerError: r.Error,
	}
	d.Attempt = max(d.Attempt, 1)
	f, _ := ReducerFailure(n.Action, r.Error)
	s.recordDecision(d, f.Issues)
	s.exhaust(d, f)
	return nil
}

// reduce applies the operations of the reducers, or records that one failed.
func (s *step) reduce(r *Reduced) error {
	if r == nil || r.Error == nil && len(r.Ops) == 0 {
		return nil
	}
	if r.Error != nil {
		s.Session = s.Session.AddReducerError(*r.Error)
		return nil
	}
	next, err := s.Session.Apply(r.Ops)
	if err != nil {
		return s.eventError(err.Error())
	}
	s.Session = next
	return nil
}
