package result

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// Error is what went wrong, as data. The zero value means no error.
type Error struct {
	// Class is the canonical code; a string that is no built-in class is the agent's own ("breed-not-found").
	Class fault.Class
	// Type is the name of the original error's type ("RateLimitError").
	Type string
	// Message is for operators, and may be empty. It may hold anything; users are shown [Result.UserMessage].
	Message string
	// StatusCode is the HTTP status; 0 where there was none.
	StatusCode int
	// Retryable says whether running the agent again may help; if it is nil, the class says so. It is
	// false after exhausted corrections, because the agent has tried again already.
	Retryable *bool
	// Original is the error as an SDK had it, as JSON. Secrets are taken out of it.
	Original json.RawMessage
}

// Meta is all data of a result besides its outcome. The zero value is empty.
type Meta struct {
	// Message is a line about a success or about progress; an error has its own.
	Message string
	// Content is the raw text of a reply: beside the data made from it, or as far as it came before an error.
	Content string
	// Confidence is the certainty of the outcome or of the error's class, from 0 to 1; of work in progress,
	// how much is done. Nil if it is unknown.
	Confidence *float64
	// Warnings are issues that did not stop the run, for people.
	Warnings []string
	// Execution is what the run used.
	Execution Execution
	// Provider has more data of the provider's response.
	Provider ProviderData
	// Finish says why the model stopped; other words than the known ones are kept.
	Finish message.FinishReason
	// RateLimit is the state of the rate limits after the run; its RetryAfter is the wait in the forms of
	// agent errors.
	RateLimit ratelimit.State
	// Metadata is the agent's own JSON, such as how far a conversation is.
	Metadata json.RawMessage
	// Extra has the members of documents that have no field here; see the package documentation.
	Extra Extra
}

// Extra holds members of documents by form and JSON Pointer. Nil where there are none.
type Extra map[Form]map[string]json.RawMessage

// Warn returns m with more warnings; the slice of m is left as it was.
func (m Meta) Warn(warnings ...string) Meta {
	m.Warnings = append(slices.Clip(m.Warnings), warnings...)
	return m
}

// Execution is what a run used. Zero means unknown in all fields but RetryCount.
type Execution struct {
	// Duration is the time from start to end, of all attempts together; exact to the nanosecond, at most 366
	// days.
	Duration time.Duration
	// Usage is tokens and calls.
	Usage Usage
	// Cost is an estimate in US dollars.
	Cost Cost
	// Model and Provider are identifiers: "gpt-4o-mini", "openai".
	Model    string
	Provider string
	// RetryCount is how often the orchestrator tried again: 0 is a first try that was the last. Nil if it is
	// unknown.
	RetryCount *int
	// Timestamp is the start in ISO 8601, as the sender wrote it; [Execution.Started] reads it.
	Timestamp string
}

// timeLayouts are the ways in which ISO 8601 is written: Python leaves out the zone and may leave out the T.
var timeLayouts = [...]string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04", time.DateOnly,
}

// Started returns Timestamp in UTC. A time without a zone counts as UTC. It returns false if Timestamp is
// empty or not ISO 8601.
func (e Execution) Started() (time.Time, bool) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, e.Timestamp); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// Usage is token usage. Counts are never negative; zero means none or unknown.
type Usage struct {
	message.Usage
	// TotalTokens is the total as the sender gave it; [Usage.Tokens] where it may be missing.
	TotalTokens int64
}

// Tokens returns the total: the sender's, else input and output tokens together.
func (u Usage) Tokens() int64 {
	if u.TotalTokens != 0 {
		return u.TotalTokens
	}
	return u.Total()
}

// ProviderData has more data of a provider's response.
type ProviderData struct {
	// RequestID names the request in the provider's logs.
	RequestID string
	// RawHeaders are the response's headers; see [CleanHeaders].
	RawHeaders Headers
}
