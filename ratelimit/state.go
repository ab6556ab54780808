package ratelimit

import "time"

// State is what a response says about rate limits (RateLimitState of agent results). The zero value says
// nothing. States made by Parse share nothing and may be read concurrently.
type State struct {
	// Limited says that at least one window is exhausted. A retry-after alone does not make a State limited.
	Limited bool `json:"limited"`
	// RetryAfter is the wait the server, or the caller, asked for outright.
	RetryAfter Span `json:"retry_after,omitzero"`
	// Wait is the wait that follows from the exhausted windows: until the last of them resets, and at most
	// the length of a window that does not say when. Absent where RetryAfter is known, which wins, and where
	// nothing is known of either.
	Wait Span `json:"wait,omitzero"`
	// Windows are in a fixed order: by family of headers, then resource, then period; no two have the same
	// name.
	Windows []Window `json:"windows,omitzero"`
	// Ignored is what looks like a rate limit and was not used, in a fixed order.
	Ignored []Ignored `json:"ignored,omitzero"`
}

// Delay is how long to wait before the next call: RetryAfter, else Wait. False where the response says
// neither.
func (s State) Delay() (time.Duration, bool) {
	if s.RetryAfter.Known {
		return s.RetryAfter.Duration, true
	}
	return s.Wait.Duration, s.Wait.Known
}

// Window is one limit (RateLimitWindow of agent results). Windows are comparable.
type Window struct {
	// Name is unique within a State: the resource and, where it is known, the period ("tokens_per_day"); of
	// an IETF field the server's own name.
	Name string `json:"name"`
	// Resource is what is counted: "requests", "tokens", "input_tokens", "output_tokens", or what else the
	// server counts.
	Resource string `json:"resource"`
	// Remaining is what is left of Limit. Remaining 0 means exhausted.
	Remaining Count `json:"remaining,omitzero"`
	Limit     Count `json:"limit,omitzero"`
	// ResetsIn is the time from now until the window resets, ResetAt the same moment as a date.
	ResetsIn Span `json:"resets_in,omitzero"`
	ResetAt  Date `json:"reset_at,omitzero"`
}

// Exhausted reports whether nothing is left.
func (w Window) Exhausted() bool { return w.Remaining.Known && w.Remaining.N == 0 }

// Ignored is one header, or one part of a body, that was not used.
type Ignored struct {
	// Header is the name in lower case; "body" for a part of the body.
	Header string `json:"header"`
	Value  string `json:"value"`
	// Why says what is wrong with it, in a few words.
	Why string `json:"why"`
}
