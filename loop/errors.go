package loop

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/internal/typed"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// RetryExhaustedError reports that a run or an action ended without success. errors.Is matches its Reason
// ([policy.ReasonAttemptsExhausted], [policy.ReasonDeadline], …). errors.As finds the typed error of the last
// failure ([fault.ToolValidationError], [fault.StructuredOutputError], [fault.ReducerError]) and the error of
// the model, tool or try. With %+v it prints a table of the attempts. It is safe for concurrent reading.
type RetryExhaustedError struct {
	// Action is the tool's name; empty for the final answer.
	Action string
	// Plane is the plane that was exhausted; empty if the run ended for another reason.
	Plane fault.Plane
	// Reason is why no further attempt follows.
	Reason policy.Reason
	// Detail has the numbers behind the reason: the wait that did not fit and the time that was left, or what
	// a budget had left and what the next call would have taken.
	Detail policy.Detail
	// Attempt and MaxAttempts are the position of the action on that plane.
	Attempt, MaxAttempts int
	// Failure is the last failure.
	Failure fault.Failure
	// Cycle is what was repeated without progress, if that is the reason and the calls were valid; else nil.
	// It is read-only.
	Cycle *machine.Cycle
	// Feedback is the feedback on the last attempt; nil on the transport plane, if the policy emits none, and
	// if it does not retry the class of the failure. Its slices are read-only.
	Feedback *feedback.RetryFeedback
	// Attempts are all attempts of the run on both planes, oldest first.
	Attempts []session.Attempt
	// InDoubt are the calls whose effect is unknown: see [Result].
	InDoubt []machine.CallRef
	// ToolFailures are the calls that failed: see [Result].
	ToolFailures []ToolFailure
	machine.Totals
	// Policy is the policy that decided. Explanation says where its values came from.
	Policy      policy.RetryPolicy
	Explanation policy.Explanation
	// Seed is the seed of the jitter: that of the session, of the config or action, or the session's id.
	// Given as the seed of a config or action it makes the same waits again.
	Seed string
	// Cause is the Go error behind the failure, or nil.
	Cause error
	// Recorded is when the run or action ended, if this is its recorded end: the journal had it, and nothing
	// was done now. It is zero if it ended now.
	Recorded time.Time
	// tried reports that the action was one of Do or Attempts, whose errors are classified by types.
	tried bool
}

// Error returns what gave up, at which attempt, why, and the last failure. That of a recorded end also says
// so, and when it was.
func (e *RetryExhaustedError) Error() string {
	text := canon.Visible(e.ended())
	if !e.Recorded.IsZero() {
		text += " (the recorded end of " + e.Recorded.UTC().Format(time.RFC3339) + "; nothing was done now)"
	}
	return text
}

// ended returns the text of the end itself.
func (e *RetryExhaustedError) ended() string {
	if e.Plane == "" {
		if spent := e.Detail.Spending(); spent != "" {
			return "run stopped: " + e.Reason.Phrase() + " (" + spent + ")"
		}
		return "run stopped: " + e.Reason.Phrase() + e.because()
	}
	if e.Cycle != nil { // its cause has the words of the failure
		return e.Reason.Phrase() + ": " + e.Failure.Message + e.planners()
	}
	text := fmt.Sprintf("%s: attempt %d of %s on the %s plane: %s", cmp.Or(e.Action, "answer"), e.Attempt,
		bound(e.MaxAttempts), e.Plane, e.why())
	if e.Detail.Wait > 0 {
		text += fmt.Sprintf(" (wait %v, room %v)", e.Detail.Wait, e.Detail.Room)
	} else if spent := e.Detail.Spending(); spent != "" {
		text += " (" + spent + ")"
	}
	named := e.Reason == policy.ReasonNotRetryable
	if cause := e.typed(); cause != nil && len(e.Failure.Issues) > 0 {
		// The error itself names the classes of invalid arguments and answers.
		if c := e.Failure.Class; !named && c != fault.ToolValidation && c != fault.StructuredOutput {
			text += ": " + string(c)
		}
		text += ": " + e.wrong(cause)
		return text + e.planners()
	}
	if because := e.because(); because != "" || named {
		return text + because
	}
	return text + ": " + string(e.Failure.Class)
}

// wrong returns what was wrong with the last reply. One that said nothing, was cut or refused need not have
// been a structured output, whatever the type of its error.
func (e *RetryExhaustedError) wrong(cause error) string {
	if c := e.Failure.Class; c != fault.NoOutput && c != fault.Truncated && c != fault.Refusal {
		return cause.Error()
	}
	return several.Joined(e.Failure.Issues)
}

// why returns the reason in words. For a class that is not retried it also says what to set.
func (e *RetryExhaustedError) why() string {
	class := cmp.Or(e.Failure.Class, fault.Unknown)
	switch {
	case e.Reason != policy.ReasonNotRetryable:
		return e.Reason.Phrase()
	case e.Failure.Final && e.inner():
		return fmt.Sprintf("%s is not retried: what gave up within the try is not tried again, unless "+
			"WithClassifier says so", class)
	case e.Failure.Final && e.tried && !fault.TypedFailure(e.Cause).Final:
		return fmt.Sprintf("%s is not retried: the verdict of WithClassifier, or the other side, said that another "+
			"try does not help (Verdict.Retryable)", class)
	case e.Failure.Final:
		return fmt.Sprintf("%s is not retried: the other side said that another try does not help", class)
	}
	if e.tried && class == fault.Unknown && e.Plane == fault.Transport {
		return "unknown is not retried: " + e.untyped()
	}
	if e.Plane == fault.Transport && hopeless(class) {
		return fmt.Sprintf("%s is not retried: another try does not help", class)
	}
	return fmt.Sprintf("%s is not retried: add it to retryable_errors of the %s policy to have it retried",
		class, e.Plane)
}

// inner reports whether a try ended with an error of work of its own.
func (e *RetryExhaustedError) inner() bool {
	by, found := errors.AsType[fault.Sealed](e.Cause)
	return e.tried && found && by.Sealed(e.Action)
}

// hopeless reports whether the same request fails again until a person changes something, as with a wrong
// key. A quota refills, and of an unknown failure nothing is known.
func hopeless(c fault.Class) bool {
	return c.Plane() != "" && !c.Retryable() && c != fault.Quota && c != fault.Unknown
}

// untyped says what would have an error retried whose type says nothing.
func (e *RetryExhaustedError) untyped() string {
	const types = "the error's type does not say that another try helps: return a *fault.TransportError, or " +
		"an error with HTTPStatusCode() int, "
	if e.Action != "" {
		return types + "or give WithClassifier"
	}
	return types + "give WithClassifier, or set classify_words in the transport policy"
}

// because returns the text of the cause; empty if there is none.
func (e *RetryExhaustedError) because() string {
	if e.Cause == nil || e.Cause.Error() == "" {
		return ""
	}
	return ": " + e.Cause.Error()
}

// planners returns what the planner said that ended the run, if its error did.
func (e *RetryExhaustedError) planners() string {
	if p, ok := errors.AsType[*engine.PlannerError](e.Cause); ok {
		return "; " + p.Words()
	}
	return ""
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
	if own := e.typed(); own != nil {
		all = append(all, own)
	}
	if e.Cause != nil {
		all = append(all, e.Cause)
	}
	return all
}

// Sealed marks the error as one of work within a tool or a try that returns it: see [fault.Sealed].
func (*RetryExhaustedError) Sealed(string) bool { return true }

// typed returns the failure as a typed error; nil if the cause already is one, or if its class has none.
func (e *RetryExhaustedError) typed() error {
	f := e.Failure
	f.Tool = e.Action
	return typed.Of(f)
}

// exhausted returns the error of a run that stopped without success.
func exhausted(st machine.State, attempts []session.Attempt, cause error) *RetryExhaustedError {
	o := st.Outcome
	e := &RetryExhaustedError{Reason: o.Reason, Attempts: attempts, Totals: o.Totals, Seed: st.Seed(),
		Detail: o.Detail, Cause: cause, InDoubt: o.InDoubt}
	if st.Config != nil {
		e.tried = st.Config.Single
	}
	x := o.Exhaustion
	if x == nil {
		return e
	}
	e.Action, e.Plane, e.Attempt, e.MaxAttempts, e.Failure, e.Detail = x.Action, x.Plane, x.Attempt,
		x.MaxAttempts, x.Failure, x.Detail
	e.Cycle = x.Cycle
	e.Failure.Issues = slices.Clone(e.Failure.Issues) // the session's records share them
	of := policy.Target{Plane: x.Plane, Tool: x.Action}
	if x.Plane == fault.Transport {
		of.Tool = x.Failure.Tool
	}
	// The policy may share memory with other runs.
	e.Policy, e.Explanation = st.Policy.Policy(of).Clone(), st.Policy.Explain(of)
	e.Feedback = e.lastFeedback(st.Session)
	return e
}

// lastFeedback returns the feedback on the last attempt from the session. If the session is not available, it
// is made again from the attempts.
func (e *RetryExhaustedError) lastFeedback(s session.State) *feedback.RetryFeedback {
	f := &e.Failure
	if e.Plane != fault.Correction || !e.Policy.EmitFeedback ||
		!(e.Policy.Retries(f.Class) || f.Class == fault.Reducer) {
		return nil
	}
	for held := range s.NewestFeedback() {
		if held.ToolName == e.Action && held.Attempt == e.Attempt && held.ErrorType == f.Class {
			return &held
		}
	}
	in := feedback.Input{
		Tool: e.Action, Attempt: e.Attempt, MaxAttempts: e.MaxAttempts, Class: f.Class, Issues: f.Issues,
	}
	if by := refusalIn(e.Cause, f); by != nil {
		_, in.Detail = machine.ReducerFailure(e.Action, by)
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

// Format prints the error; %+v adds a table of the attempts with their issues and decisions.
func (e *RetryExhaustedError) Format(to fmt.State, verb rune) {
	if verb != 'v' || !to.Flag('+') {
		fmt.Fprintf(to, fmt.FormatString(to, verb), e.Error())
		return
	}
	_, _ = io.WriteString(to, e.Error())
	if len(e.Attempts) == 0 {
		return
	}
	var table strings.Builder
	rows := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprint(rows, "\n  action\tattempt\tplane\tfailure\tdecision\tissues")
	for _, a := range e.Attempts {
		fmt.Fprintf(rows, "\n  %s\t%d of %s\t%s\t%s\t%s\t%s", cell(cmp.Or(a.Action, "answer")), a.Attempt,
			bound(a.MaxAttempts),
			a.Plane, cmp.Or(string(a.Class), "none"), decision(a), cell(issuesLine(a)))
	}
	_ = rows.Flush() // a strings.Builder does not fail
	for line := range strings.Lines(table.String()) {
		_, _ = io.WriteString(to, strings.TrimRight(line, " \n"))
		if strings.HasSuffix(line, "\n") {
			_, _ = io.WriteString(to, "\n")
		}
	}
}

func decision(a session.Attempt) string {
	switch {
	case a.Retry && a.Delay > 0:
		return fmt.Sprintf("again after %v", a.Delay)
	case a.Retry:
		return "again"
	}
	return string(a.Reason)
}

// cell returns a text as one line without tabs.
func cell(text string) string { return canon.Visible(strings.Join(strings.Fields(text), " ")) }

// shownIssues is how many issues of an attempt the table shows.
const shownIssues = 3

func issuesLine(a session.Attempt) string {
	var texts []string
	for _, i := range a.Issues[:min(len(a.Issues), shownIssues)] {
		texts = append(texts, i.String())
	}
	if more := len(a.Issues) - shownIssues; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}
