package policy

// Unlimited stands where a bound is given up on purpose: an untyped constant that fits counts and durations alike. In
// files and JSON it is spelled "unlimited".
const Unlimited = -1

// RetryAfter says how a wait that the server asked for meets the wait of the backoff strategy. The zero value is invalid
// in a policy and means "not said" in a layer.
type RetryAfter string

// The rules for a server's retry-after.
const (
	// Floor waits at least as long as the server asks, and by jitter up to half as long again, unless the backoff says that
	// there is none ([backoff.NoJitter]). A longer backoff stands.
	Floor RetryAfter = "floor"
	// First waits exactly as long as the server asks, whatever the backoff says (seed 003).
	First RetryAfter = "first"
)

// Repairs says what becomes of JSON that had to be repaired to be read. The zero value is invalid in a policy and means
// "not said" in a layer.
type Repairs string

// What becomes of repaired JSON.
const (
	// Accept takes it as if it had been right.
	Accept Repairs = "accept"
	// Note takes it and keeps what was repaired with the call or answer, in its event. The model is not told.
	Note Repairs = "note"
	// Refuse makes it a failed attempt.
	Refuse Repairs = "refuse"
)

// ReducerAction says what follows when a session's reducer fails. The zero value is invalid in a policy and means "not
// said" in a layer.
type ReducerAction string

// What follows a failing reducer.
const (
	// EndAction ends the action without charging an attempt; the next prompt shows the reducer's feedback.
	EndAction ReducerAction = "end_action"
	// StopRun ends the whole run.
	StopRun ReducerAction = "stop"
)
