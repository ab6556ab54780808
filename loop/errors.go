package loop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// RetryExhaustedError says that a run, or one action, ended without success. errors.Is finds its Reason
// ([policy.AttemptsExhausted], [policy.Deadline], …); errors.As finds the typed error of the last failure
// ([fault.ToolValidationError], [fault.StructuredOutputError], [fault.ReducerError]) and what the model, the
// tool or the try returned. Printed with %+v it has a table of the attempts. Safe for concurrent reading.
type RetryExhaustedError struct {
	// Action is the tool's name; empty for the final answer.
	Action string
	// Plane is the plane that was exhausted; empty where the run ended for a reason of its own.
	Plane fault.Plane
	// Reason says why there is no further attempt.
	Reason policy.Reason
	// Detail has the numbers behind the reason: the wait that did not fit, and the room there was for it.
	Detail policy.Detail
	// Attempt and MaxAttempts say where the action stood on that plane.
	Attempt, MaxAttempts int
	// Failure is the last failure as the core saw it.
	Failure fault.Failure
	// Feedback is that on the last attempt, as the model or the try would have been given it; nil on the
	// transport plane, and where the policy emits none. Its slices are read-only.
	Feedback *feedback.RetryFeedback
	// Attempts are all attempts of the run on both planes, oldest first. [Do] without a session keeps no
	// history: it has the last one.
	Attempts []session.Attempt
	// Usage is summed over all attempts.
	Usage message.Usage
	// Policy is the policy that decided; of [Do] without a session it shares its lists with the [Action].
	// Explanation says where each of its values came from.
	Policy      policy.RetryPolicy
	Explanation policy.Explanation
	// Seed is what jitter was drawn from: that of the config or action, the session's id, or what [Do]
	// without a session drew; empty where that came to no wait that needed one.
	Seed string
	// Cause is the Go error behind the failure, where there was one.
	Cause error
}

// Error says what gave up, where it stood, why, and the last failure.
func (e *RetryExhaustedError) Error() string {
	if e.Plane == "" {
		return "run stopped: " + e.Reason.Phrase() + e.because()
	}
	text := fmt.Sprintf("%s: attempt %d of %s on the %s plane: %s", cmp.Or(e.Action, "answer"), e.Attempt, bound(e.MaxAttempts), e.Plane, e.why())
	if e.Detail.Wait > 0 {
		text += fmt.Sprintf(" (wait %v, room %v)", e.Detail.Wait, e.Detail.Room)
	}
	named := e.Reason == policy.NotRetryable
	if cause := e.typed(); cause != nil && len(e.Failure.Issues) > 0 {
		if c := e.Failure.Class; !named && c != fault.ToolValidation && c != fault.StructuredOutput { // which the error itself does not say
			text += ": " + string(c)
		}
		text += ": " + cause.Error()
		if p, ok := errors.AsType[*engine.PlannerError](e.Cause); ok {
			text += "; " + p.Words()
		}
		return text
	}
	if because := e.because(); because != "" || named {
		return text + because
	}
	return text + ": " + string(e.Failure.Class)
}

// why is the reason in words; of a class that is not retried, also its name and what to set.
func (e *RetryExhaustedError) why() string {
	class := cmp.Or(e.Failure.Class, fault.Unknown)
	switch {
	case e.Reason != policy.NotRetryable:
		return e.Reason.Phrase()
	case e.Failure.Final:
		return fmt.Sprintf("%s is not retried: the other side said that another try does not help", class)
	}
	return fmt.Sprintf("%s is not retried: add it to retryable_errors of the %s policy to have it retried", class, e.Plane)
}

// because is the text of the cause; empty where there is none, or it has none.
func (e *RetryExhaustedError) because() string {
	if e.Cause == nil || e.Cause.Error() == "" {
		return ""
	}
	return ": " + e.Cause.Error()
}

func bound(n int) string {
	if n == policy.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

// Unwrap returns the reason, the typed error of the last failure, and its cause.
func (e *RetryExhaustedError) Unwrap() []error {
	all := []error{e.Reason}
	if typed := e.typed(); typed != nil {
		all = append(all, typed)
	}
	if e.Cause != nil {
		all = append(all, e.Cause)
	}
	return all
}

// typed is the failure as a typed error; nil where the cause already is one, or its class has none.
func (e *RetryExhaustedError) typed() error {
	switch e.Failure.Class {
	case fault.ToolValidation, fault.UnknownTool:
		return &fault.ToolValidationError{Tool: e.Action, Issues: e.Failure.Issues}
	case fault.StructuredOutput, fault.NoOutput, fault.Truncated, fault.Refusal:
		return &fault.StructuredOutputError{Issues: e.Failure.Issues}
	}
	return nil
}

// exhausted is the error of a run that stopped without success.
func exhausted(st machine.State, attempts []session.Attempt, cause error) *RetryExhaustedError {
	o := st.Outcome
	e := &RetryExhaustedError{Reason: o.Reason, Attempts: attempts, Usage: o.Usage, Seed: st.Session.ID(), Cause: cause}
	if st.Config != nil {
		e.Seed = cmp.Or(st.Config.Seed, e.Seed)
	}
	x := o.Exhaustion
	if x == nil {
		return e
	}
	e.Action, e.Plane, e.Attempt, e.MaxAttempts, e.Failure, e.Detail = x.Action, x.Plane, x.Attempt, x.MaxAttempts, x.Failure, x.Detail
	e.Failure.Issues = slices.Clone(e.Failure.Issues) // the session's records have those
	if e.Policy, e.Explanation = st.PolicyFor(x.Action, x.Plane); x.Plane == fault.Transport && x.Failure.Tool != "" {
		e.Policy, e.Explanation = st.ToolPolicy(x.Failure.Tool)
	}
	e.Policy = e.Policy.Clone() // it may hold what all runs share
	e.Feedback = e.lastFeedback(st.Session, nil)
	return e
}

// lastFeedback is the feedback on the last attempt as the session has it; of an action whose session is gone
// it is made again from its attempts. prev is the feedback before, where the attempts do not have it.
func (e *RetryExhaustedError) lastFeedback(s session.State, prev *feedback.RetryFeedback) *feedback.RetryFeedback {
	f := &e.Failure
	if e.Plane != fault.Correction || !e.Policy.EmitFeedback || !(e.Policy.Retries(f.Class) || f.Class == fault.Reducer) {
		return nil
	}
	for held := range s.NewestFeedback() {
		if held.ToolName == e.Action && held.Attempt == e.Attempt && held.ErrorType == f.Class {
			return &held
		}
	}
	in := feedback.Input{
		Source: feedback.Tool, Tool: e.Action, Attempt: e.Attempt, MaxAttempts: e.MaxAttempts, Class: f.Class, Issues: f.Issues,
		Prev: prev,
	}
	if e.Action == "" {
		in.Source = feedback.StructuredOutput
	}
	for _, a := range e.Attempts {
		if a.Plane == fault.Correction && a.Action == e.Action && a.Attempt == e.Attempt-1 {
			before := in
			before.Attempt, before.Class, before.Issues = a.Attempt, a.Class, a.Issues
			in.Prev = new(feedback.New(before))
		}
	}
	return new(feedback.New(in))
}
