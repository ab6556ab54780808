package policy

import (
	"cmp"

	"github.com/retake-go/retake/fault"
)

// Reason is why an action went on or ended. It is a stable string that is written to journals and counted in
// logs. A Reason is also an error, so a terminal reason is its own sentinel: errors.Is(err,
// policy.ReasonDeadline). The zero value means "not decided".
type Reason string

// The reasons for a retry.
const (
	// ReasonBackoff: retry after the wait of the backoff strategy.
	ReasonBackoff Reason = "backoff"
	// ReasonServerAsked: retry after the wait that the server asked for.
	ReasonServerAsked Reason = "retry_after"
	// ReasonImmediate: retry without a wait.
	ReasonImmediate Reason = "immediate"
	// ReasonShortened: the prompt was too long, and is sent again shorter. It costs no attempt.
	ReasonShortened Reason = "shortened"
	// ReasonReplyBounded: the model cannot write as much as was asked for, and is asked for no more than it can.
	// It costs no attempt.
	ReasonReplyBounded Reason = "reply_bounded"
)

// The reasons of [Decide] to stop.
const (
	// ReasonAccepted: nothing went wrong.
	ReasonAccepted Reason = "accepted"
	// ReasonNotRetryable: the policy does not retry this class of failure, or the failure is final.
	ReasonNotRetryable Reason = "not_retryable"
	// ReasonOptOut: the policy allows no retries at all.
	ReasonOptOut Reason = "opt_out"
	// ReasonAttemptsExhausted: the last attempt of the action failed.
	ReasonAttemptsExhausted Reason = "attempts_exhausted"
	// ReasonToolBudget: the run allows no more failed attempts of this tool.
	ReasonToolBudget Reason = "tool_budget"
	// ReasonUnknownToolBudget: the run allows no more calls of unknown tools.
	ReasonUnknownToolBudget Reason = "unknown_tool_budget"
	// ReasonRunBudget: the run allows no more failed attempts.
	ReasonRunBudget Reason = "run_budget"
	// ReasonNoProgress: the same failure came too often in a row, or the same valid calls with the same
	// results.
	ReasonNoProgress Reason = "no_progress"
	// ReasonRetryAfterTooLong: the server asks for a longer wait than the policy allows.
	ReasonRetryAfterTooLong Reason = "retry_after_too_long"
	// ReasonDelayBudget: the wait exceeds what is left of the action's total delay.
	ReasonDelayBudget Reason = "delay_budget"
	// ReasonDeadline: the time is up, or the wait would last until the deadline or longer.
	ReasonDeadline Reason = "deadline"
)

// The reasons to stop that other parts of a run give.
const (
	// ReasonCancelled: the caller cancelled.
	ReasonCancelled Reason = "cancelled"
	// ReasonBroken: the run could not continue, because a function that the caller gave failed, such as one
	// that makes prompts, or because an event could not be taken.
	ReasonBroken Reason = "broken"
	// ReasonReducerError: a session's reducer failed.
	ReasonReducerError Reason = "reducer_error"
	// ReasonFailedForGood: a tool said that another try cannot help.
	ReasonFailedForGood Reason = "failed_for_good"
	// ReasonTurnLimit: the run reached its limit of model calls.
	ReasonTurnLimit Reason = "turn_limit"
	// ReasonTokenBudget: the next model call does not fit what is left of a budget of tokens.
	ReasonTokenBudget Reason = "token_budget"
	// ReasonCostBudget: the next model call does not fit what is left of a budget of money, or its model has
	// no price.
	ReasonCostBudget Reason = "cost_budget"
	// ReasonLimited: the limiter does not grant the next call in the time that it may wait.
	ReasonLimited Reason = "limited"
	// ReasonPlanner: the planner ended the action.
	ReasonPlanner Reason = "planner"
	// ReasonNotRepeatable: a tool's call failed and is not made again, because the tool is declared neither
	// read-only nor idempotent.
	ReasonNotRepeatable Reason = "not_repeatable"
	// ReasonContextFull: the prompt is too long, and nothing more can be left out of it.
	ReasonContextFull Reason = "context_full"
	// ReasonOutcomeUnknown: a tool's call began, and its outcome is unknown.
	ReasonOutcomeUnknown Reason = "outcome_unknown"
	// ReasonNudged: the model was told that it repeats valid calls whose results stay the same.
	ReasonNudged Reason = "nudged"
	// ReasonPolling: a call of a tool that polls came early and waits.
	ReasonPolling Reason = "polling"
)

type reasonRow struct {
	reason Reason
	phrase string
	// fields are the settings that it depends on.
	fields []string
	retry  bool
	// class is the class of a run that ended with it, if its failure has none of its own.
	class fault.Class
}

// reasons has the row of each reason, in the order of their declaration.
var reasons = [...]reasonRow{
	{reason: ReasonBackoff, phrase: "retry after the backoff delay", fields: []string{"backoff"}, retry: true},
	{reason: ReasonServerAsked, phrase: "retry after the wait the server asked for",
		fields: []string{"retry_after", "retry_after_jitter"}, retry: true},
	{reason: ReasonImmediate, phrase: "retry at once", fields: []string{"backoff"}, retry: true},
	{reason: ReasonShortened, phrase: "the prompt was made shorter", fields: []string{"context"}, retry: true},
	{reason: ReasonReplyBounded, phrase: "the model is asked for no longer reply than it can write",
		fields: []string{"spending"}, retry: true},
	{reason: ReasonAccepted, phrase: "accepted"},
	{reason: ReasonNotRetryable, phrase: "this kind of failure is not retried",
		fields: []string{"retryable_errors"}},
	{reason: ReasonOptOut, phrase: "the policy opts out of retries", fields: []string{"opt_out"}},
	{reason: ReasonAttemptsExhausted, phrase: "attempts used up", fields: []string{"max_attempts"}},
	{reason: ReasonToolBudget, phrase: "the tool's budget of failed attempts is used up",
		fields: []string{"budgets.tool"}},
	{reason: ReasonUnknownToolBudget, phrase: "the budget of unknown tools is used up",
		fields: []string{"budgets.unknown_tools"}},
	{reason: ReasonRunBudget, phrase: "the run's budget of failed attempts is used up",
		fields: []string{"budgets.run"}},
	{reason: ReasonNoProgress, phrase: "no progress: the same again and again",
		fields: []string{"no_progress", "progress"}},
	{reason: ReasonRetryAfterTooLong, phrase: "the server asks for a longer wait than the policy allows",
		fields: []string{"max_retry_after"}},
	{reason: ReasonDelayBudget, phrase: "the wait does not fit the total delay",
		fields: []string{"max_total_delay"}},
	{reason: ReasonDeadline, phrase: "the deadline leaves no time",
		fields: []string{"deadline"}, class: fault.DeadlineExceeded},
	{reason: ReasonCancelled, phrase: "cancelled", class: fault.Cancelled},
	{reason: ReasonBroken, phrase: "the run could not continue"},
	{reason: ReasonReducerError, phrase: "a reducer failed", fields: []string{"on_reducer_error"}},
	{reason: ReasonFailedForGood, phrase: "failed for good"},
	{reason: ReasonTurnLimit, phrase: "the run's limit of model calls is reached",
		fields: []string{"max_turns"}, class: fault.MaxIterations},
	{reason: ReasonTokenBudget, phrase: "the next call does not fit the budget of tokens",
		fields: []string{"spending"}, class: fault.MaxIterations},
	{reason: ReasonCostBudget, phrase: "the next call does not fit the budget of money",
		fields: []string{"spending", "prices"}, class: fault.MaxIterations},
	{reason: ReasonLimited, phrase: "the limiter grants no call in time"},
	{reason: ReasonPlanner, phrase: "ended by the planner", fields: []string{"planner"}},
	{reason: ReasonNotRepeatable, phrase: "the tool is declared neither read-only nor idempotent: the call is " +
		"not made again"},
	{reason: ReasonContextFull, phrase: "the prompt is too long, and nothing more can be left out",
		fields: []string{"context"}, class: fault.ContextLength},
	{reason: ReasonOutcomeUnknown, phrase: "the outcome of the call is not known"},
	{reason: ReasonNudged, phrase: "the model was told that it repeats itself", fields: []string{"progress"}},
	{reason: ReasonPolling, phrase: "a poll that came early waits", fields: []string{"polling"}},
}

// Reasons returns all built-in reasons in a fixed order. The caller owns the slice.
func Reasons() []Reason {
	all := make([]Reason, len(reasons))
	for n, row := range reasons {
		all[n] = row.reason
	}
	return all
}

// Error returns the reason's code, such as "deadline".
func (r Reason) Error() string { return string(r) }

// row returns the row of the reason, or an empty one.
func (r Reason) row() (row reasonRow) {
	for _, row = range reasons {
		if row.reason == r {
			return row
		}
	}
	return reasonRow{}
}

// Phrase returns the reason in words: "the deadline leaves no time". That of an unknown reason is its code.
func (r Reason) Phrase() string { return cmp.Or(r.row().phrase, string(r)) }

// Fields returns the names of the settings that the reason depends on: fields of a policy, limits of the run
// ("budgets.tool", "max_turns", "deadline"), or "planner". It is nil if there are none, and read-only.
func (r Reason) Fields() []string { return r.row().fields }

// Retries reports whether another attempt follows.
func (r Reason) Retries() bool { return r.row().retry }

// GaveUp reports whether the run was given up: it was cancelled, its time was up, or it could not continue.
func (r Reason) GaveUp() bool {
	return r == ReasonCancelled || r == ReasonDeadline || r == ReasonBroken
}

// Class returns the class of a run that ended with r, or "" if r is the reason of a failure that has its own
// class.
func (r Reason) Class() fault.Class { return r.row().class }
