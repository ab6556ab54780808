package machine

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// open returns the open action with the name, and opens it if necessary.
func (s *step) open(name string) *action {
	if a := s.find(name); a != nil {
		return a
	}
	s.Opened++
	s.Actions = append(s.Actions, action{Name: name, Number: s.Opened})
	return &s.Actions[len(s.Actions)-1]
}

// close closes actions. The next call of each opens a new one.
func (s *step) close(names ...string) {
	s.closeWhere(func(a action) bool { return slices.Contains(names, a.Name) })
}

// closeWhere closes the actions for which fits is true.
func (s *step) closeWhere(fits func(action) bool) {
	s.Actions = slices.DeleteFunc(s.Actions, fits)
	if len(s.Actions) == 0 {
		s.Actions = nil
	}
}

// key returns the jitter key of an action on a plane. It is zero, which saves a hash, where nothing spreads
// the wait: without jitter in p and without a wait that f asks for.
func (s *step) key(
	p *policy.RetryPolicy, f *fault.Failure, name string, number int, plane fault.Plane,
) backoff.Key {
	if jitter := p.Backoff.Jitter.Kind; f.RetryAfter <= 0 && (jitter == "" || jitter == backoff.NoJitter) {
		return backoff.Key{}
	}
	return JitterKey(s.State.Seed(), number, name, plane)
}

// JitterKey returns the key for the delays of one action on one plane. number is the action's number in the
// run, from 1; on the transport plane it is the turn, and 0 for a try of a single action. Nothing else
// counts, so that a seed gives the same waits in any session. Without a seed the key is zero.
func JitterKey(seed string, number int, action string, plane fault.Plane) backoff.Key {
	return backoff.NewKey(seed, strings.Join([]string{strconv.Itoa(number), action, string(plane)}, "\x00"))
}

// fail charges one failed attempt, which is already counted, and decides on it. proposal is what the model
// proposed, and detail the text for it. The decision is recorded in the session, in the effects, and as
// s.inner.CorrectionWait or s.inner.Exhausted.
func (s *step) fail(name string, f *fault.Failure, proposal, detail string) *Decision {
	a := s.open(name)
	a.Unknown = f.Class == fault.UnknownTool
	stream := name
	if a.Unknown {
		stream = AnswerAction // a name that a model made up decides nothing: a journal may leave it out
	}
	p := s.policyOf(name)
	if s.Batch == nil || len(s.Batch.of(name, callLost)) == 0 { // else the tool has counted in this reply
		s.countFailed(name, f.Class)
	}
	if p.NoProgress > 0 {
		a.repeat(signature(name, proposal, *f))
	}
	verdict := policy.Decide(p, &policy.Position{
		Attempt: a.Attempt, ToolFailed: s.Failed.tool(name), RunFailed: s.Failed.Run,
		UnknownFailed: s.Failed.Unknown, Budgets: s.Policy.Budgets, Repeats: a.Repeats, Now: s.At,
		Deadline: s.Config.Deadline, Waited: a.Waited,
		Key: s.key(p, f, stream, a.Number-s.First, fault.Correction),
	}, f)
	d := &Decision{
		Position: s.position(name, a.Attempt), Plane: fault.Correction, Class: f.Class,
		Decision: verdict, Failed: s.failedAttempts(name),
	}
	s.cutByBudget(d)
	if p.EmitFeedback && p.Retries(f.Class) {
		s.recordWithFeedback(a, d, f, detail)
	} else {
		a.Over = true
		s.recordDecision(d, f.Issues)
	}
	a.Waited = backoff.Sum(a.Waited, d.Delay)
	if d.Retry {
		s.wait(fault.Correction, d.Delay, d.Reason)
		return d
	}
	s.exhaust(d, *f)
	return d
}

// AtOnce reports that a single action ([Config].Single) will make another try at once when its n-th has
// failed at now with f, and so did those before it. Then the records of all n can wait. False means that only
// the steps know. deadline is that of the run. No seed is needed: jitter spreads no wait that is 0.
func (c *Compiled) AtOnce(n int, f *fault.Failure, now, deadline time.Time) bool {
	p := c.compiled.policies.of(policy.Target{Tool: c.cfg.Action})
	if f.Plane != fault.Correction || f.Class == fault.Reducer || p.NoProgress > 0 {
		return false
	}
	d := policy.Decide(p, &policy.Position{
		Attempt: n, ToolFailed: n, RunFailed: n, UnknownFailed: n, Budgets: c.cfg.Policy.Budgets, Now: now,
		Deadline: deadline,
	}, f)
	return d.Retry && d.Delay == 0
}

// countFailed counts one failed attempt against the budgets.
func (s *step) countFailed(tool string, class fault.Class) {
	s.Failed.Run++
	switch {
	case class == fault.UnknownTool:
		s.Failed.Unknown++
	case tool != AnswerAction:
		at, found := s.Failed.index(tool)
		own := slices.Clone(s.Failed.Tools)
		if !found {
			own = slices.Insert(own, at, toolFailed{Tool: tool})
		}
		own[at].Failed++
		s.Failed.Tools = own
	}
}

// lastAttempt returns the number of the last attempt that the policy and the budgets leave to an action of
// which made attempts have failed; negative if nothing bounds them.
func (s *step) lastAttempt(a *action, made int) int {
	last, b := s.policyOf(a.Name).MaxAttempts, &s.Policy.Budgets
	bound := func(failed, limit int) {
		if n := made + max(limit-failed+1, 0); limit != policy.Unlimited && (last == policy.Unlimited || n < last) {
			last = n
		}
	}
	bound(s.Failed.Run, b.Run)
	switch {
	case a.Unknown:
		bound(s.Failed.Unknown, b.UnknownTools)
	case a.Name != AnswerAction:
		bound(s.Failed.tool(a.Name), b.Tool)
	}
	return last
}

// failedAttempts returns the counts of failed attempts, with the latest one.
func (s *step) failedAttempts(tool string) FailedAttempts {
	return FailedAttempts{Tool: s.Failed.tool(tool), Run: s.Failed.Run, Unknown: s.Failed.Unknown}
}

// repeat counts the failures in a row that equal the one before.
func (a *action) repeat(signature string) {
	if signature == a.Signature {
		a.Repeats++
		return
	}
	a.Signature, a.Repeats = signature, 0
}

// recordWithFeedback records a decision with its feedback and attempt.
func (s *step) recordWithFeedback(a *action, d *Decision, f *fault.Failure, detail string) {
	in := s.input(a, f, detail)
	in.At, in.Delay, in.Scheduled = s.At, d.Delay, d.Retry
	d.Feedback = s.addFeedback(in)
	s.recordDecision(d, d.Feedback.Issues)
	a.Last, a.Over = d.Feedback, false
}

// recordDecision records a decision and its attempt.
func (s *step) recordDecision(d *Decision, issues []fault.Issue) {
	if d.Cost = s.Owed.Cost; d.Class != "" {
		s.Wasted = s.Wasted.Plus(s.Owed)
	}
	s.Session = s.Session.AddAttempt(session.Attempt{
		Action: d.Action, Attempt: d.Attempt, MaxAttempts: d.MaxAttempts,
		Plane: d.Plane, Class: d.Class, Issues: issues,
		Retry: d.Retry, Delay: d.Delay, Reason: d.Reason,
		Repairs: s.repairs(d), Usage: s.Owed.Usage, Cost: d.Cost, Estimated: s.Owed.Estimated > 0, At: s.At,
	})
	s.Owed = policy.Charge{}
	s.do(Decided).Decision = d
	s.notifyAttempt(d)
}

// addFeedback adds feedback to the session, and returns it as the session has it.
func (s *step) addFeedback(in feedback.Input) *feedback.RetryFeedback {
	s.Session = s.Session.AddFeedback(feedback.New(in))
	all := s.Session.Feedback()
	return &all[len(all)-1]
}

// repairs returns the kinds of repair that the calls, or the answer, of an attempt needed.
func (s *step) repairs(d *Decision) []extract.Form {
	var all []extract.Repair
	switch r := s.ev.Reply; {
	case d.Plane != fault.Correction:
	case d.Action == AnswerAction && r != nil && r.Answer != nil:
		all = r.Answer.Repairs
	case s.Batch != nil:
		for _, c := range s.Batch.Calls {
			if c.Tool == d.Action {
				all = append(all, c.Repairs...)
			}
		}
	}
	return extract.Kinds(all)
}

// pass closes an action with a successful attempt, which is already counted.
func (s *step) pass(name string, why policy.Reason) {
	if s.find(name) == nil {
		s.Opened++
	}
	s.recordDecision(&Decision{
		Position: s.Attempt(name), Plane: fault.Correction, Decision: policy.Decision{Reason: why},
	}, nil)
	s.close(name)
}

// refused handles a reducer's refusal, which is already in the session. By default the action ends uncharged,
// and the model is shown the refusal. The decision has the feedback to show.
func (s *step) refused(name string, e *fault.ReducerError, proposal string) *Decision {
	a := s.open(name)
	p := s.policyOf(name)
	f, told := ReducerFailure(name, e)
	if p.Retries(fault.Reducer) {
		d := s.fail(name, &f, proposal, told)
		d.ReducerError = e
		return d
	}
	a.Attempt = max(a.Attempt, 1) // an action that was over begins anew
	s.Failed.Run++
	d := &Decision{
		Position: s.position(name, a.Attempt), Plane: fault.Correction, Class: fault.Reducer,
		Decision: policy.Decision{Reason: policy.ReasonReducerError}, Failed: s.failedAttempts(name), ReducerError: e,
	}
	if over, detail := s.Policy.Budgets.Exceeded(0, 0, s.Failed.Run); over != "" {
		d.Reason, d.Detail = over, detail
	}
	if p.EmitFeedback {
		s.recordWithFeedback(a, d, &f, told)
	} else {
		s.recordDecision(d, f.Issues)
	}
	if d.Reason == policy.ReasonRunBudget || p.OnReducerError == policy.ReducerStopsRun {
		s.exhaust(d, f)
		return d
	}
	s.close(name)
	return d
}

// ReducerFailure returns the failure of an action that a reducer refused, and what the model is told of it:
// the reducer's message, but not the words of a panic.
func ReducerFailure(name string, e *fault.ReducerError) (f fault.Failure, told string) {
	f = fault.Failure{
		Plane: fault.Correction, Class: fault.Reducer, Tool: name, Message: fault.Scrub(e.Error()),
		Issues: []fault.Issue{{Rule: fault.RuleReducer, Source: fault.FromReply}},
	}
	if e.Panicked {
		return f, "the program failed while it updated its state"
	}
	return f, fault.Scrub(e.Message)
}

// recordCancelled records the attempts in progress when the run was cancelled or its time was up.
func (s *step) recordCancelled(reason policy.Reason) {
	s.leaveConsult(reason)
	if slices.Contains([]Phase{Waiting, Planning, Reducing, Asking, Queueing}, s.Phase) {
		return
	}
	for _, p := range s.underWay() {
		d := &Decision{Position: p, Plane: fault.Correction, Decision: policy.Decision{Reason: reason}}
		s.recordDecision(d, nil)
	}
}

// underWay returns the attempts in progress.
func (s *step) underWay() []Position {
	switch s.Phase {
	case Trying:
		a := s.open(s.Config.Action)
		return []Position{s.position(a.Name, a.Attempt+1)}
	case Running:
		var at []Position
		tools := s.Batch.tools()
		for _, a := range s.Actions {
			if slices.Contains(tools, a.Name) && s.Batch.open(a.Name) && !s.Batch.failed(a.Name) {
				at = append(at, s.position(a.Name, a.Attempt))
			}
		}
		return at
	}
	return s.positions()
}
