package ratelimit

import "time"

// State is the rate limits of a response (RateLimitState of agent results). The zero value means that nothing
// is known. States made by Parse share no memory and are safe for concurrent reading.
type State struct {
	// Limited reports that a window is exhausted. A retry-after alone does not set it.
	Limited bool `json:"limited"`
	// RetryAfter is the wait that the server or the caller asked for.
	RetryAfter Span `json:"retry_after,omitzero"`
	// Wait is the wait that follows from exhausted windows: until the last one resets, or for the length of a
	// window that does not say when. It is absent if RetryAfter is known, or if nothing is known.
	Wait Span `json:"wait,omitzero"`
	// Windows are in a fixed order: by family of headers, resource, then period. Names are unique.
	Windows []Window `json:"windows,omitzero"`
	// Ignored are the values that look like rate limits but were not used, in a fixed order.
	Ignored []Ignored `json:"ignored,omitzero"`
}

// Delay returns how long to wait before the next call: RetryAfter, or Wait. It returns false if neither is
// known.
func (s State) Delay() (time.Duration, bool) {
	if s.RetryAfter.Known {
		return s.RetryAfter.Duration, true
	}
	return s.Wait.Duration, s.Wait.Known
}

// Window is one limit (RateLimitWindow of agent results). It is comparable.
type Window struct {
	// Name is unique in a State: the resource and, if known, the period ("tokens_per_day"). For an IETF field
	// it is the server's name.
	Name string `json:"name"`
	// Resource is what is counted: "requests", "tokens", "input_tokens", "output_tokens", or another of the
	// server.
	Resource string `json:"resource"`
	// Remaining is what is left of Limit; 0 means exhausted.
	Remaining Count `json:"remaining,omitzero"`
	Limit     Count `json:"limit,omitzero"`
	// ResetsIn is the time from now until the window resets, and ResetAt the same as a date.
	ResetsIn Span `json:"resets_in,omitzero"`
	ResetAt  Date `json:"reset_at,omitzero"`
	// Period is the length of a window whose name does not tell it: the parameter w of an IETF field.
	Period Span `json:"period,omitzero"`
}

// Exhausted reports whether nothing is left.
func (w Window) Exhausted() bool { return w.Remaining.Known && w.Remaining.N == 0 }

// Ignored is one header, or one part of a body, that was not used.
type Ignored struct {
	// Header is the name in lower case, or "body".
	Header string `json:"header"`
	Value  string `json:"value"`
	// Why says briefly what is wrong.
	Why string `json:"why"`
}
