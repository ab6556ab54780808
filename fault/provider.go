package fault

import (
	"cmp"
	"strings"
	"time"
)

// ProviderError is a call to a model's provider that failed. It is the base of [APIError], [AuthError],
// [RateLimitError], [ModelNotFoundError], [TimeoutError] and [ConfigError]: errors.As finds it in each of
// them. Safe for concurrent reading.
type ProviderError struct {
	// Class is the canonical code. Without one the failure is [Unknown], whatever type the error has; [Typed]
	// returns the type for a class.
	Class Class `json:"class"`
	// Provider and Model are names as configured; empty if unknown.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// StatusCode is the HTTP status, or 0.
	StatusCode int `json:"status_code,omitempty"`
	// RetryAfter is the wait that the server asked for, or 0.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	// MaxReply is the most tokens of a reply that the model can write, if it refused a request for more: a run
	// with a budget then asks for no more. 0 otherwise.
	MaxReply int64 `json:"max_reply,omitempty"`
	// Final is set if the provider said that another try cannot help (x-should-retry: false).
	Final bool `json:"final,omitempty"`
	// RequestID names the request in the provider's logs.
	RequestID string `json:"request_id,omitempty"`
	// Message is the provider's own, for operators. It may hold anything and belongs in no prompt and before
	// no user. What is made of it, by Error and Failure, is scrubbed: see [Scrub].
	Message string `json:"message,omitempty"`
	// Cause is the original error, with its own text, or nil. It is no part of the JSON.
	Cause error `json:"-"`
}

// Error says the class, the provider and its message, on one line.
func (e *ProviderError) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Class))
	if e.Provider != "" {
		b.WriteString(" from " + e.Provider)
	}
	switch {
	case e.Message != "":
		b.WriteString(": " + Scrub(e.Message))
	case e.Cause != nil:
		b.WriteString(": " + Scrub(e.Cause.Error()))
	}
	return b.String()
}

// Unwrap returns the original error.
func (e *ProviderError) Unwrap() error { return e.Cause }

// Metadata returns the data that a message to users may show.
func (e *ProviderError) Metadata() Metadata {
	return Metadata{Provider: e.Provider, Model: e.Model, StatusCode: e.StatusCode, RetryAfter: e.RetryAfter}
}

// Failure returns the error as the core sees it.
func (e *ProviderError) Failure() Failure {
	return Failure{Plane: cmp.Or(e.Class.Plane(), Transport), Class: e.Class, Message: Scrub(e.Message),
		RetryAfter: max(e.RetryAfter, 0), MaxReply: max(e.MaxReply, 0), Final: e.Final}
}

// The typed errors. Each is a ProviderError under a type of its own, for errors.As.
type (
	// APIError is a fault on the provider's side, or a request or response that does not fit
	// (ProviderAPIError).
	APIError struct{ ProviderError }
	// AuthError is a key that is missing, wrong or not allowed to do this, or an account without credit
	// (ProviderAuthError).
	AuthError struct{ ProviderError }
	// RateLimitError is a limit or quota that is used up (ProviderRateLimitError).
	RateLimitError struct{ ProviderError }
	// ModelNotFoundError is a model that is not there (ProviderModelNotFoundError).
	ModelNotFoundError struct{ ProviderError }
	// TimeoutError is a call that took too long (ProviderTimeoutError).
	TimeoutError struct{ ProviderError }
	// ConfigError is a setting that is missing or wrong (AgentConfigError).
	ConfigError struct{ ProviderError }
)

// Unwrap returns the base, which unwraps to the original error.
func (e *APIError) Unwrap() error { return &e.ProviderError }

// Unwrap returns the base, which unwraps to the original error.
func (e *AuthError) Unwrap() error { return &e.ProviderError }

// Unwrap returns the base, which unwraps to the original error.
func (e *RateLimitError) Unwrap() error { return &e.ProviderError }

// Unwrap returns the base, which unwraps to the original error.
func (e *ModelNotFoundError) Unwrap() error { return &e.ProviderError }

// Unwrap returns the base, which unwraps to the original error.
func (e *TimeoutError) Unwrap() error { return &e.ProviderError }

// Unwrap returns the base, which unwraps to the original error.
func (e *ConfigError) Unwrap() error { return &e.ProviderError }

// Typed returns the error as the type for its class; an [APIError] if no other fits.
func Typed(e ProviderError) error {
	switch e.Class {
	case Auth, Permission, Billing:
		return &AuthError{e}
	case RateLimit, Quota:
		return &RateLimitError{e}
	case ModelNotFound:
		return &ModelNotFoundError{e}
	case Timeout, DeadlineExceeded:
		return &TimeoutError{e}
	case Config, ProviderNotConfigured, ProviderNotSupported, Initialization:
		return &ConfigError{e}
	}
	return &APIError{e}
}

// maxLine is the most bytes of a message in a log or journal.
const maxLine = 1024
