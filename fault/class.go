package fault

// Plane says what helps against a failure. The zero value is invalid.
type Plane string

// The two planes. Their policies, counters and budgets are kept apart: a failure of one never charges the
// other.
const (
	// Correction is for replies that cannot be used: the model is shown what was wrong and asked again.
	Correction Plane = "correction"
	// Transport is for calls that did not come through: the same request is sent again, and the model is not
	// told.
	Transport Plane = "transport"
)

// Class is the stable name of a kind of failure in policies, journals and logs. Users may add their own; a
// class no policy lists is not retried. The zero value means "nothing went wrong".
type Class string

// The classes of the correction plane.
const (
	// ToolValidation is a tool call whose arguments the tool's schema or rules refuse.
	ToolValidation Class = "tool_validation"
	// StructuredOutput is a final answer that cannot be parsed or that its schema refuses.
	StructuredOutput Class = "structured_output"
	// UnknownTool is a call of a tool that was not offered.
	UnknownTool Class = "unknown_tool"
	// NoOutput is a reply with neither text nor calls, or without a call where one is required.
	NoOutput Class = "no_output"
	// Truncated is a reply cut off by the token limit. Nothing of it is repaired or executed.
	Truncated Class = "truncated"
	// Refusal is a reply in which the model or its provider declined to answer.
	Refusal Class = "refusal"
	// Reducer is a state update that a session's reducer refused.
	Reducer Class = "reducer"
	// NoProgress is a cycle of valid calls whose results stay the same.
	NoProgress Class = "no_progress"
)

// The classes of the transport plane that come from a model's provider.
const (
	// RateLimit is a limit that refills within minutes: waiting helps.
	RateLimit Class = "rate_limit"
	// Timeout is a request that the provider, a gateway or a client timeout gave up on.
	Timeout Class = "timeout"
	// Unavailable is a fault on the provider's side, such as most 5xx.
	Unavailable Class = "unavailable"
	// Overloaded is a provider that has no room at the moment (529, queue full, slow down).
	Overloaded Class = "overloaded"
	// Network is a connection that could not be made or broke.
	Network Class = "network"
	// Auth is a missing or wrong key (401).
	Auth Class = "auth"
	// Permission is a valid key that may not do this (403).
	Permission Class = "permission"
	// Billing is a matter of money: no credit, no plan, a spending limit (402, and many a 429).
	Billing Class = "billing"
	// Quota is an allowance that does not refill within a run: per day, per month, or none at all.
	Quota Class = "quota"
	// ModelNotFound is a model that does not exist or is not offered.
	ModelNotFound Class = "model_not_found"
	// ContextLength is a request with more tokens than the model takes.
	ContextLength Class = "context_length"
	// InvalidRequest is a request that the provider cannot process.
	InvalidRequest Class = "invalid_request"
	// ContentFilter is a request or reply that a safety filter stopped.
	ContentFilter Class = "content_filter"
	// InvalidResponse is a response that is not what the protocol promises.
	InvalidResponse Class = "invalid_response"
)

// The classes of the transport plane that come from this side of the wire.
const (
	// ProviderNotConfigured is a provider without its settings.
	ProviderNotConfigured Class = "provider_not_configured"
	// ProviderNotSupported is an unknown provider.
	ProviderNotSupported Class = "provider_not_supported"
	// Config is a setting that is missing or wrong.
	Config Class = "config"
	// Cancelled is a call that its caller gave up.
	Cancelled Class = "cancelled"
	// DeadlineExceeded is a call that was ended by the deadline of its caller's context: another try could not
	// end in time either. A deadline of the called code's own is a Timeout.
	DeadlineExceeded Class = "deadline_exceeded"
	// Unknown is any other failure.
	Unknown Class = "unknown"
)

// The classes of the transport plane that come from external systems, tools and the agent itself.
const (
	// EventTimeout is an external system that did not answer in time.
	EventTimeout Class = "event_timeout"
	// EventUnavailable is an external system that is down.
	EventUnavailable Class = "event_unavailable"
	// EventRejected is an external system that refused the request.
	EventRejected Class = "event_rejected"
	// EventInvalidResponse is an external system whose answer cannot be used.
	EventInvalidResponse Class = "event_invalid_response"
	// InvalidInput is input that an agent cannot work on.
	InvalidInput Class = "invalid_input"
	// IO is a file or network fault within a tool.
	IO Class = "io"
	// PermissionDenied is access that a tool was denied.
	PermissionDenied Class = "permission_denied"
	// NotFound is a thing that a tool did not find.
	NotFound Class = "not_found"
	// LLMAssistRequired is a tool that cannot go on without a model's help.
	LLMAssistRequired Class = "llm_assist_required"
	// ToolExecution is a tool that failed.
	ToolExecution Class = "tool_execution"
	// MaxIterations is an agent that used up its iterations.
	MaxIterations Class = "max_iterations"
	// Initialization is an agent that could not start.
	Initialization Class = "initialization"
)
