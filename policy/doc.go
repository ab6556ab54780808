// Package policy decides, as a pure function of data, whether a failed attempt is followed by another, after
// which delay, and why.
//
// A [RetryPolicy] is a plain struct: it can be printed, compared, read from a file (package policy/file) and
// stored in a journal. A [Set] is what a run is given: layers of policy, each partial, of which the most
// specific wins field by field, and the budgets of the run. [Resolve] makes one policy of them and
// says where each value came from. [Decide] takes the policy, the position and the failure, and answers with
// retry or stop, the delay and a [Reason].
//
// Words: an attempt counts the first one and is 1-based. Zero never means "unlimited" or "default": unlimited
// is [Unlimited]. The same types serve both planes, correction and transport, with separate policies and
// counters.
//
// [Decide] asks in this order, and the first that applies is the reason:
//
//	accepted              nothing went wrong
//	not_retryable         the class is not among the policy's retryable errors, or the failure is final
//	opt_out               the policy says: no retries at all
//	attempts_exhausted    this was the last attempt of the action
//	tool_budget           more failed attempts of this tool than the run allows
//	unknown_tool_budget   more calls of unknown tools than the run allows
//	run_budget            more failed attempts than the run allows
//	no_progress           the same failure came too often in a row
//	retry_after_too_long  the server asks for a longer wait than the policy allows
//	delay_budget          the wait does not fit the action's total delay
//	deadline              the wait would last until the deadline or beyond it
//	retry_after           retry: the server's wait counts
//	immediate             retry: without a wait
//	backoff               retry: after the strategy's wait
//
// Nothing here reads a clock, draws a random number or waits. All functions are safe for concurrent use.
package policy
