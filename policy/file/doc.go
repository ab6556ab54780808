// Package file reads retry policies from YAML and JSON. It is strict, and reports all faults of a file at
// once, at most 100. Each fault has the path, line and column, and says what would be right.
//
// A file is one policy, which becomes the global layer:
//
//	max_attempts: 4
//	backoff: {kind: exponential, base: 500ms, factor: 2, cap: 30s, jitter: {kind: proportional, fraction: 0.2}}
//	retryable_errors: [tool_validation, structured_output]
//	emit_feedback: true
//
// or the layers of a whole [policy.Set] (the two forms cannot be mixed):
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
// Beside either form stands what all runs of a fleet keep to; [ReadFleet] returns it:
//
//	fleet:
//	  limit: {windows: [{resource: requests, limit: 500, period: 1m}], concurrency: 20}
//	  max_wait: 2m
//
// The keys of a policy are those of [policy.RetryPolicy]. The kinds of backoff are constant (delay), linear
// (base, step), exponential (base, factor) and list (delays); each may have cap and jitter. Durations are
// written as in Go: 500ms, 2s, 1m30s. The word unlimited means no limit; no_progress is off, true or a count.
// A budget of 0 means that no failed attempt is retried. The key preset takes the schedule of a named preset:
// max_attempts, backoff, bases, retry_after, retry_after_jitter, and for transport retryable_errors. Keys
// beside it win. A list or mapping replaces the default as a whole: retryable_errors with only truncated
// retries nothing else.
//
// A file whose name ends in ".json" is read as JSON, one that ends in ".yaml" or ".yml" as YAML, and any
// other as JSON if it starts with "{". The JSON of a [policy.Set] is a valid file. Refused are anchors,
// aliases, tags, merge keys, several documents, and files that are empty, larger than 1 MiB or nested deeper
// than 32 levels.
package file
