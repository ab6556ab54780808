// Package file reads retry policies from YAML and JSON, and refuses whatever is not plainly right: every
// fault of a file is reported at once, each with its path, line and column, and what would be right.
//
// A file is one policy, which becomes the global layer:
//
//	max_attempts: 4
//	backoff: {kind: exponential, base: 500ms, factor: 2, cap: 30s, jitter: {kind: proportional, fraction: 0.2}}
//	retryable_errors: [tool_validation, structured_output]
//	emit_feedback: true
//
// or the layers of a whole [policy.Set] (the two forms do not mix):
//
//	global: {max_attempts: 4}
//	tools:
//	  book_flight: {max_attempts: 2, no_progress: true}
//	answer: {text_repairs: refuse}
//	call: {opt_out: false}
//	transport: {preset: rate-limit, max_attempts: 7}
//	tool_transport:
//	  search: {max_attempts: 2}
//	budgets: {tool: 4, run: 8, unknown_tools: 2}
//	max_turns: 100
//	max_calls: 128
//	all_or_nothing: false
//
// The keys of a policy are those of [policy.Fields]. The kinds of backoff are constant (delay), linear (base,
// step), exponential (base, factor) and list (delays), each with cap and jitter where wanted. Durations are
// written as Go does: 500ms, 2s, 1m30s. A bound is given up with the word unlimited; no_progress is off, true
// or a count. A budget of 0 means that no failed attempt is retried. The key preset takes the schedule of a
// named preset (max_attempts, backoff, bases, retry_after, retry_after_jitter, and for transport the
// retryable errors too); what stands beside it wins. A list or mapping is taken whole: retryable_errors that
// name truncated alone retry nothing else.
//
// JSON is judged as JSON: a name that ends in ".json", or any other than ".yaml" and ".yml" with content that
// starts with "{". The JSON of a [policy.Set] is a file, too. Anchors, aliases, tags, merge keys, several
// documents, and files that are empty, larger than 1 MiB or nested deeper than 32 are refused.
package file
