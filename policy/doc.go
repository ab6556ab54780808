// Package policy decides whether a failed attempt is followed by another, after which delay, and why. The
// decision is a pure function of data.
//
// A [RetryPolicy] is a plain struct: you can print it, compare it, read it from a file (package policy/file)
// and store it in a journal. A [Set] has everything a run needs: the layers of its policies and the budgets
// of the run. A layer sets some fields of a policy; for each field the most specific layer wins. [Set.Policy]
// merges the layers into one policy, and [Set.Explain] says where each value comes from. [Decide] takes the
// policy, the position and the failure. It returns retry or stop, the delay and a [Reason].
//
// An attempt is one try; the first try is attempt 1. Zero never means "unlimited" or "default": [Unlimited]
// means unlimited. The same types serve both planes. The correction plane is for replies that cannot be used:
// the model is told what was wrong and asked again. The transport plane is for requests that failed: the same
// request is made again. Each plane has its own policies and counters.
//
// [Decide] makes these checks in this order. The first that applies is the reason:
//
//	accepted              nothing went wrong
//	not_retryable         the class is not one that the policy retries, or the failure is final
//	opt_out               the policy allows no retries at all
//	attempts_exhausted    this was the last attempt of the action
//	tool_budget           more failed attempts of this tool than the run allows
//	unknown_tool_budget   more calls of unknown tools than the run allows
//	run_budget            more failed attempts than the run allows
//	no_progress           the same failure came too often in a row
//	retry_after_too_long  the server asks for a longer wait than the policy allows
//	delay_budget          the wait exceeds what is left of the action's total delay
//	deadline              the wait would last until the deadline or longer
//	retry_after           retry: wait as long as the server asked
//	immediate             retry: without a wait
//	backoff               retry: after the strategy's wait
//
// An error of Validate or of reading JSON joins at most 100 faults. One more then says that there are others.
//
// Nothing here reads a clock, draws a random number or waits. All functions are safe for concurrent use.
package policy
