package policy

import "github.com/retake-go/retake/fault"

// Reason says why an action went on or ended: a stable string that journals keep and logs count. It is an
// error too, so that each terminal reason is its own sentinel: errors.Is(err, policy.Deadline). The zero
// value means "not decided".
type Reason string

// The reasons for a retry.
const (
	// Backoff: after the wait of the backoff strategy.
	Backoff Reason = "backoff"
	// ServerAsked: after the wait the server asked for.
	ServerAsked Reason = "retry_after"
	// Immediate: without a wait.
	Immediate Reason = "immediate"
)

// The reasons to stop that [Decide] gives.
const (
	// Accepted: nothing went wrong.
	Accepted Reason = "accepted"
	// NotRetryable: the class of the failure is not among the policy's retryable errors, or the failure is
	// final.
	NotRetryable Reason = "not_retryable"
	// OptOut: the policy allows no retries at all.
	OptOut Reason = "opt_out"
	// AttemptsExhausted: the last attempt of the action failed.
	AttemptsExhausted Reason = "attempts_exhausted"
	// ToolBudget: the run allows no more failed attempts of this tool.
	ToolBudget Reason = "tool_budget"
	// UnknownToolBudget: the run allows no more calls of unknown tools.
	UnknownToolBudget Reason = "unknown_tool_budget"
	// RunBudget: the run allows no more failed attempts.
	RunBudget Reason = "run_budget"
	// NoProgress: the same failure came too often in a row.
	NoProgress Reason = "no_progress"
	// RetryAfterTooLong: the server asks for a longer wait than the policy allows.
	RetryAfterTooLong Reason = "retry_after_too_long"
	// DelayBudget: the wait does not fit what is left of the action's total delay.
	DelayBudget Reason = "delay_budget"
	// Deadline: the time is up, or the wait would last until the deadline or beyond it.
	Deadline Reason = "deadline"
)

// The reasons to stop that come from elsewhere in a run.
const (
	// Cancelled: the caller gave up.
	Cancelled Reason = "cancelled"
	// ReducerError: a session's reducer failed.
	ReducerError Reason = "reducer_error"
	// FailedForGood: a tool said that another try cannot help.
	FailedForGood Reason = "failed_for_good"
	// TurnLimit: the run made as many model calls as it may.
	TurnLimit Reason = "turn_limit"
	// Planner: the planner ended the action.
	Planner Reason = "planner"
	// NotRepeatable: a call of a tool failed that is declared neither read-only nor idempotent, so that it is
	// not run again.
	NotRepeatable Reason = "not_repeatable"
	// OutcomeUnknown: a call of a tool began, and nobody knows how it ended.
	OutcomeUnknown Reason = "outcome_unknown"
)

// phrases has all reasons, in the order in which they are declared.
var phrases = [...]struct {
	reason Reason
	text   string
}{
	{Backoff, "retry after the backoff delay"},
	{ServerAsked, "retry after the wait the server asked for"},
	{Immediate, "retry at once"},
	{Accepted, "accepted"},
	{NotRetryable, "this kind of failure is not retried"},
	{OptOut, "the policy opts out of retries"},
	{AttemptsExhausted, "attempts used up"},
	{ToolBudget, "the tool's budget of failed attempts is used up"},
	{UnknownToolBudget, "the budget of unknown tools is used up"},
	{RunBudget, "the run's budget of failed attempts is used up"},
	{NoProgress, "no progress: the same failure again"},
	{RetryAfterTooLong, "the server asks for a longer wait than the policy allows"},
	{DelayBudget, "the wait does not fit the total delay"},
	{Deadline, "the deadline leaves no time"},
	{Cancelled, "cancelled"},
	{ReducerError, "a reducer failed"},
	{FailedForGood, "failed for good"},
	{TurnLimit, "the run's limit of model calls is reached"},
	{Planner, "ended by the planner"},
	{NotRepeatable, "the tool is declared neither read-only nor idempotent: the call is not made again"},
	{OutcomeUnknown, "the outcome of the call is not known"},
}

// Reasons returns all built-in reasons in a fixed order. The slice is the caller's own.
func Reasons() []Reason {
	all := make([]Reason, len(phrases))
	for n, p := range phrases {
		all[n] = p.reason
	}
	return all
}

// Error is the reason's code, as in "deadline".
func (r Reason) Error() string { return string(r) }

// Phrase is the reason in words for people: "the deadline leaves no time".
func (r Reason) Phrase() string {
	for _, p := range phrases {
		if p.reason == r {
			return p.text
		}
	}
	return string(r)
}

// GaveUp reports whether an attempt without a class ended because nobody waits for it any more: the run was
// cancelled, or its time was up.
func (r Reason) GaveUp() bool { return r == Cancelled || r == Deadline }

// Class is the class of a run that ended for a reason of its own; empty where that is the reason of a
// failure.
func (r Reason) Class() fault.Class {
	switch r {
	case TurnLimit:
		return fault.MaxIterations
	case Cancelled:
		return fault.Cancelled
	case Deadline:
		return fault.DeadlineExceeded
	}
	return ""
}
