package machine

import (
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// open returns the open action of that name, opened where it was not. The state's own copy: it may be written to.
func (s *step) open(name string) *Action {
	if a := s.find(name); a != nil {
		if !s.ownActions {
			s.takeActions(0)
			a = s.find(name)
		}
		return a
	}
	at := 0
	for at < len(s.Actions) && s.Actions[at].Name < name {
		at++
	}
	s.takeActions(1)
	s.Opened++
	s.Actions = append(s.Actions, Action{})
	copy(s.Actions[at+1:], s.Actions[at:])
	s.Actions[at] = Action{Name: name, Number: s.Opened}
	return &s.Actions[at]
}

// takeActions gives the step actions of its own, with room for more.
func (s *step) takeActions(more int) {
	if s.ownActions {
		return
	}
	s.ownActions = true
	if s.room != nil || len(s.Actions)+more > 1 {
		s.Actions = s.room.copyActions(s.Actions, more)
		return
	}
	var own []Action
	own, s.spentRoom = s.newLists()
	s.Actions = append(own, s.Actions...)
}

// shut closes an action: its next call opens a new one.
func (s *step) shut(name string) {
	s.shutAll(func(a *Action) bool { return a.Name == name })
}

// shutAll closes the actions that fit.
func (s *step) shutAll(fits func(*Action) bool) {
	stay := 0
	for n := range s.Actions {
		if !fits(&s.Actions[n]) {
			stay++
		}
	}
	switch stay {
	case len(s.Actions):
	case 0:
		s.Actions, s.ownActions = nil, true
	default:
		s.takeActions(0)
		left := s.Actions[:0]
		for n := range s.Actions {
			if a := &s.Actions[n]; !fits(a) {
				left = append(left, *a)
			}
		}
		s.Actions = left
	}
}

// policyOf is the policy of an action: read-only.
func (s *step) policyOf(action string) *policy.RetryPolicy { return s.rules().of(action) }

// rules are the policies as they stand.
func (s *step) rules() *policies {
	if s.policies == nil {
		s.policies = policiesOf(s.Policy)
	}
	return s.policies
}

// key is the jitter key of an action on a plane.
func (s *step) key(name string, number int, plane fault.Plane) backoff.Key {
	return JitterKey(s.Config.Seed, s.Session.ID(), s.Run, number, name, plane)
}

// JitterKey is the key of the delays of one line of attempts. It names session, run, the action and its number, and the plane,
// so that no two lines move in lockstep. Without a seed it is the zero key: no jitter.
func JitterKey(seed, session string, run, number int, action string, plane fault.Plane) backoff.Key {
	if seed == "" {
		return backoff.Key{}
	}
	return backoff.NewKey(seed, strings.Join([]string{session, strconv.Itoa(run), strconv.Itoa(number), action, string(plane)}, "\x00"))
}

// fail charges one failed attempt of an action and decides on it; sig is the failure's signature. The attempt has been counted
// already. What it decided stands in the session, in the effects, and in s.Resume or s.Exhausted.
func (s *step) fail(name string, f *fault.Failure, sig mark, detail string) *Decision {
	a := s.open(name)
	a.Unknown = f.Class == fault.UnknownTool
	p := s.policyOf(name)
	s.charge(name, f.Class)
	a.repeat(sig)
	verdict := policy.Decide(p, &policy.Position{
		Attempt: a.Attempt, ToolFailed: s.Spent.tool(name), RunFailed: s.Spent.Run, UnknownFailed: s.Spent.Unknown,
		Budgets: s.Policy.Budgets, Repeats: a.Repeats, Now: s.At, Deadline: s.Config.Deadline, Waited: a.Waited,
		Key: s.key(name, a.Number, fault.Correction),
	}, f)
	d := s.newDecision()
	d.Action, d.Attempt, d.MaxAttempts = name, a.Attempt, p.MaxAttempts
	d.Plane, d.Class = fault.Correction, f.Class
	d.Retry, d.Delay, d.Reason, d.Detail = verdict.Retry, verdict.Delay, verdict.Reason, verdict.Detail
	if p.EmitFeedback && p.Retries(f.Class) {
		s.feed(a, d, f, detail)
	} else {
		s.decided(d, f.Issues)
	}
	a.Waited += d.Delay
	if d.Retry {
		s.Resume = s.later(s.Resume, d.Delay, fault.Correction, d.Reason)
		return d
	}
	s.exhaust(d, *f)
	return d
}

// charge counts one more failed attempt against the budgets.
func (s *step) charge(tool string, class fault.Class) {
	s.Spent.Run++
	switch {
	case class == fault.UnknownTool:
		s.Spent.Unknown++
	case tool != AnswerAction:
		s.takeSpent()
		at := 0
		for at < len(s.Spent.Tools) && s.Spent.Tools[at].Tool < tool {
			at++
		}
		if at == len(s.Spent.Tools) || s.Spent.Tools[at].Tool != tool {
			s.Spent.Tools = append(s.Spent.Tools, ToolSpent{})
			copy(s.Spent.Tools[at+1:], s.Spent.Tools[at:])
			s.Spent.Tools[at] = ToolSpent{Tool: tool}
		}
		s.Spent.Tools[at].Failed++
	}
}

// takeSpent gives the step budgets of tools of its own, with room for one more.
func (s *step) takeSpent() {
	switch {
	case s.ownSpent:
		return
	case s.spentRoom != nil && len(s.Spent.Tools) <= cap(s.spentRoom):
		s.Spent.Tools = append(s.spentRoom, s.Spent.Tools...)
	default:
		s.Spent.Tools = s.room.copySpent(s.Spent.Tools)
	}
	s.ownSpent = true
}

// repeat counts how often the same failure has come in a row. One without a signature is not counted.
func (a *Action) repeat(sig mark) {
	switch {
	case sig == mark{}:
	case string(sig[:]) == a.Signature:
		a.Repeats++
	default:
		a.Signature, a.Repeats, a.proposed = string(sig[:]), 0, nil
	}
}

// again reports whether an attempt failed as the one before it did, of which Last is the feedback.
func (a *Action) again(f *fault.Failure) bool {
	return a.Last != nil && a.Last.ErrorType == f.Class && len(f.Issues) > 0 && fault.SameIssues(a.Last.Issues, f.Issues)
}

// feed records the feedback of a decision, and the attempt with it.
func (s *step) feed(a *Action, d *Decision, f *fault.Failure, detail string) {
	in := s.input(a, d.MaxAttempts, f, detail)
	in.At, in.Delay, in.Scheduled = s.At, d.Delay, d.Retry
	s.recorded(d, f.Issues, &in)
	a.Last, a.proposed = d.Feedback, nil
}

// decided records an attempt and tells of it.
func (s *step) decided(d *Decision, issues []fault.Issue) { s.recorded(d, issues, nil) }

// recorded is decided, with what the feedback is made from that the attempt gave cause to, if it did.
func (s *step) recorded(d *Decision, issues []fault.Issue, in *feedback.Input) {
	next, a, fb := s.Session.Draft(in != nil)
	if in != nil {
		if in.Scheduled {
			fb.Schedule = s.room.schedule()
		}
		feedback.ShareTo(fb, in)
		d.Feedback = fb
	}
	a.Action, a.Attempt, a.MaxAttempts = d.Action, d.Attempt, d.MaxAttempts
	a.Plane, a.Class, a.Issues = d.Plane, d.Class, issues
	a.Retry, a.Delay, a.Reason = d.Retry, d.Delay, d.Reason
	a.Usage = s.Owed
	a.At = s.At
	session.Seal(a, fb)
	s.Session, s.Owed = next, message.Usage{}
	if d.Retry {
		s.Waited += d.Delay
	}
	s.do(Decided).Decision = d
}

// pass records a good attempt of an action and closes it. more is 1 where the attempt was not counted yet, else 0.
func (s *step) pass(name string, more int, why policy.Reason) {
	d := s.newDecision()
	d.Action, d.Attempt, d.MaxAttempts = name, more, s.policyOf(name).MaxAttempts
	if a := s.find(name); a != nil {
		d.Attempt += a.Attempt
	} else {
		s.Opened++
	}
	d.Plane, d.Reason = fault.Correction, why
	s.decided(d, nil)
	s.shut(name)
}

// refuse answers a reducer's refusal: by default the action ends uncharged, and the model is shown the refusal instead of
// a retry. It returns the feedback to show.
func (s *step) refuse(name string, e *fault.ReducerError, same string) *Decision {
	s.Session = s.Session.AddReducerError(*e)
	a := s.open(name)
	p := s.policyOf(name)
	f := reducerFailure(name, e)
	if p.Retries(fault.Reducer) {
		d := s.fail(name, &f, sign(s, name, same, &f), e.Message)
		d.ReducerError = e
		return d
	}
	s.Spent.Run++
	d := &Decision{
		Position: Position{Action: name, Attempt: a.Attempt, MaxAttempts: p.MaxAttempts},
		Plane:    fault.Correction, Class: fault.Reducer, Reason: policy.ReducerError, ReducerError: e,
	}
	if limit := s.Policy.Budgets.Run; limit != policy.Unlimited && s.Spent.Run > limit {
		d.Reason = policy.RunBudget
	}
	if p.EmitFeedback {
		s.feed(a, d, &f, e.Message)
	} else {
		s.decided(d, f.Issues)
	}
	if d.Reason == policy.RunBudget || p.OnReducerError == policy.StopRun {
		s.exhaust(d, f)
		return d
	}
	s.shut(name)
	return d
}

func reducerFailure(name string, e *fault.ReducerError) fault.Failure {
	return fault.Failure{
		Plane: fault.Correction, Class: fault.Reducer, Tool: name, Message: e.Error(),
		Issues: []fault.Issue{{Rule: fault.RuleReducer, Source: fault.FromReply}},
	}
}

func (s *step) transportPolicy() *policy.RetryPolicy { return &s.rules().transport }

// judgeTransport decides on a failed attempt of the transport plane, and records it. The model hears nothing of it.
func (s *step) judgeTransport(name string, attempt int, f fault.Failure, waited time.Duration) *Decision {
	return s.decidedTransport(name, attempt, f, s.transportVerdict(name, attempt, f, waited))
}

// transportVerdict is what the policy says of a failed attempt of the transport plane.
func (s *step) transportVerdict(name string, attempt int, f fault.Failure, waited time.Duration) policy.Decision {
	return policy.Decide(s.transportPolicy(), &policy.Position{
		Attempt: attempt, Now: s.At, Deadline: s.Config.Deadline, Waited: waited,
		Key: s.key(name, s.Turn, fault.Transport),
	}, &f)
}

// decidedTransport records what was decided on a failed attempt of the transport plane, and follows it.
func (s *step) decidedTransport(name string, attempt int, f fault.Failure, verdict policy.Decision) *Decision {
	d := s.newDecision()
	*d = Decision{
		Position: Position{Action: name, Attempt: attempt, MaxAttempts: s.transportPolicy().MaxAttempts},
		Plane:    fault.Transport, Class: f.Class, Retry: verdict.Retry, Delay: verdict.Delay, Reason: verdict.Reason,
		Detail: verdict.Detail,
	}
	s.decided(d, f.Issues)
	if d.Retry {
		s.Hold = s.later(s.Hold, d.Delay, fault.Transport, d.Reason)
	} else {
		s.exhaust(d, f)
	}
	return d
}

// recordCancelled records the attempts that were under way when the run was cancelled.
func (s *step) recordCancelled() {
	s.leaveConsults(policy.Cancelled)
	if s.Phase == Waiting || s.Phase == Planning {
		return
	}
	for _, p := range s.underWay() {
		s.decided(&Decision{Position: p, Plane: fault.Correction, Reason: policy.Cancelled}, nil)
	}
}

// underWay are the attempts whose outcome is open.
func (s *step) underWay() []Position {
	switch s.Phase {
	case Trying:
		a := s.open(s.Config.Action)
		return []Position{{Action: a.Name, Attempt: a.Attempt + 1, MaxAttempts: s.policyOf(a.Name).MaxAttempts}}
	case Running:
		var at []Position
		for _, a := range s.Actions {
			if s.Batch.unsettled(a.Name) {
				at = append(at, Position{Action: a.Name, Attempt: a.Attempt, MaxAttempts: s.policyOf(a.Name).MaxAttempts})
			}
		}
		return at
	}
	return s.positions()
}
