package policy

import "github.com/retake-go/retake/fault"

// Reason is why an action went on or ended. It is a stable string that is written to journals and counted in
// logs. A Reason is also an error, so a terminal reason is its own sentinel: errors.Is(err, policy.Deadline).
// The zero value means "not decided".
type Reason string

// The reasons for a retry.
const (
	// Backoff: retry after the wait of the backoff strategy.
	Backoff Reason = "backoff"
	// ServerAsked: retry after the wait that the server asked for.
	ServerAsked Reason = "retry_after"
	// Immediate: retry without a wait.
	Immediate Reason = "immediate"
)

// The reasons of [Decide] to stop.
const (
	// Accepted: nothing went wrong.
	Accepted Reason = "accepted"
	// NotRetryable: the policy does not retry this class of failure, or the failure is final.
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
	// DelayBudget: the wait exceeds what is left of the action's total delay.
	DelayBudget Reason = "delay_budget"
	// Deadline: the time is up, or the wait would last until the deadline or longer.
	Deadline Reason = "deadline"
)

// The reasons to stop that other parts of a run give.
const (
	// Cancelled: the caller cancelled.
	Cancelled Reason = "cancelled"
	// ReducerError: a session's reducer failed.
	ReducerError Reason = "reducer_error"
	// FailedForGood: a tool said that another try cannot help.
	FailedForGood Reason = "failed_for_good"
	// TurnLimit: the run reached its limit of model calls.
	TurnLimit Reason = "turn_limit"
	// Planner: the planner ended the action.
	Planner Reason = "planner"
	// NotRepeatable: a tool's call failed and is not made again, because the tool is declared neither
	// read-only nor idempotent.
	NotRepeatable Reason = "not_repeatable"
	// OutcomeUnknown: a tool's call began, and its outcome is unknown.
	OutcomeUnknown Reason = "outcome_unknown"
)

// phrases lists all reasons in the order of their declaration.
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

// Reasons returns all built-in reasons in a fixed order. The caller owns the slice.
func Reasons() []Reason {
	all := make([]Reason, len(phrases))
	for n, p := range phrases {
		all[n] = p.reason
	}
	return all
}

// Error returns the reason's code, such as "deadline".
func (r Reason) Error() string { return string(r) }

// Phrase returns the reason in words: "the deadline leaves no time".
func (r Reason) Phrase() string {
	for _, p := range phrases {
		if p.reason == r {
			return p.text
		}
	}
	return string(r)
}

// GaveUp reports whether the caller stopped waiting: the run was cancelled or its time was up.
func (r Reason) GaveUp() bool { return r == Cancelled || r == Deadline }

// Class returns the class of a run that ended with r, or "" if r is the reason of a failure that has its own
// class.
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
