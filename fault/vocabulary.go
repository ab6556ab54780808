package fault

import "strings"

// Names are a class's exact names in the vocabularies of the seeds. Where a vocabulary has no word of its own for a class,
// the nearest stands in that is retried if and only if the class is; what then differs is told in docs/contracts.md.
type Names struct {
	// ResultEnvelope is the name of seed 000: "llm-rate-limit".
	ResultEnvelope string `json:"result_envelope"`
	// AgentResult is the name of seed 001: "rate_limit".
	AgentResult string `json:"agent_result"`
	// AgentError is the name of seeds 003 and 004: "RATE_LIMITED".
	AgentError string `json:"agent_error"`
}

// Code is one row of the table of built-in classes. It is comparable.
type Code struct {
	Class Class
	Plane Plane
	// Retryable says whether another try may help: the same request on the transport plane, words on the correction plane.
	// A policy decides; this is what the seeds and the defaults say. See [Class.Retryable] for the request alone.
	Retryable bool
	Names     Names
}

// Codes returns the table of all built-in classes in a fixed order. The slice is the caller's own.
func Codes() []Code { return append([]Code(nil), table[:]...) }

// Lookup returns the row of a class; false for a class of the user's own.
func Lookup(c Class) (Code, bool) {
	for n := range table {
		if table[n].Class == c {
			return table[n], true
		}
	}
	return Code{}, false
}

// Retryable reports whether making the same request, or running the same agent, once more may help: so for some built-in classes of the
// transport plane. It does not for those of the correction plane, where words may help and were tried, and not for a user's own.
func (c Class) Retryable() bool {
	row, _ := Lookup(c)
	return row.Plane == Transport && row.Retryable
}

// Names returns the names of a class; those of Unknown for a class of the user's own.
func (c Class) Names() Names {
	row, known := Lookup(c)
	if !known {
		row, _ = Lookup(Unknown)
	}
	return row.Names
}

// ParseName finds the class that a name means in any vocabulary: "llm-rate-limit", "rate_limit", "RATE_LIMITED", or the
// class itself. Each name of the seeds has exactly one home. Case, and "-" for "_", make no difference.
func ParseName(name string) (Class, bool) {
	folded := foldName(name)
	if c := Class(folded); c.InTransport() || c.InCorrection() {
		return c, true
	}
	c := homes.of(folded)
	return c, c != ""
}

func foldName(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
}

// table has a row for every built-in class.
var table = [...]Code{
	{RateLimit, Transport, true, Names{"llm-rate-limit", "rate_limit", "RATE_LIMITED"}},
	{Timeout, Transport, true, Names{"llm-timeout", "timeout", "TIMEOUT"}},
	{Unavailable, Transport, true, Names{"llm-unavailable", "server_error", "NETWORK_ERROR"}},
	{Overloaded, Transport, true, Names{"llm-unavailable", "server_error", "NETWORK_ERROR"}},
	{Network, Transport, true, Names{"llm-unavailable", "server_error", "NETWORK_ERROR"}},
	{Auth, Transport, false, Names{"event-rejected", "auth_error", "AUTHENTICATION_ERROR"}},
	{Permission, Transport, false, Names{"event-rejected", "auth_error", "AUTHENTICATION_ERROR"}},
	{Billing, Transport, false, Names{"event-rejected", "auth_error", "AUTHENTICATION_ERROR"}},
	{Quota, Transport, false, Names{"event-rejected", "auth_error", "AUTHENTICATION_ERROR"}},
	{ModelNotFound, Transport, false, Names{"event-rejected", "model_unavailable", "MODEL_NOT_FOUND"}},
	{ContextLength, Transport, false, Names{"llm-token-limit", "context_length", "CONTEXT_LENGTH_EXCEEDED"}},
	{InvalidRequest, Transport, false, Names{"invalid-input", "invalid_request", "VALIDATION_ERROR"}},
	{ContentFilter, Transport, false, Names{"llm-refusal", "content_filter", "INVALID_RESPONSE"}},
	{InvalidResponse, Transport, false, Names{"llm-invalid-output", "server_error", "INVALID_RESPONSE"}},
	{ProviderNotConfigured, Transport, false, Names{"invalid-input", "invalid_request", "PROVIDER_NOT_CONFIGURED"}},
	{ProviderNotSupported, Transport, false, Names{"invalid-input", "invalid_request", "PROVIDER_NOT_SUPPORTED"}},
	{Config, Transport, false, Names{"invalid-input", "invalid_request", "CONFIG_ERROR"}},
	{Cancelled, Transport, false, Names{"event-rejected", "invalid_request", "UNKNOWN"}},
	{DeadlineExceeded, Transport, false, Names{"llm-timeout", "timeout", "TIMEOUT"}},
	{Unknown, Transport, false, Names{"event-invalid-response", "invalid_request", "UNKNOWN"}},
	{EventTimeout, Transport, true, Names{"event-timeout", "timeout", "TIMEOUT"}},
	{EventUnavailable, Transport, true, Names{"event-unavailable", "server_error", "NETWORK_ERROR"}},
	{EventRejected, Transport, false, Names{"event-rejected", "invalid_request", "TOOL_EXECUTION_ERROR"}},
	{EventInvalidResponse, Transport, false, Names{"event-invalid-response", "invalid_request", "INVALID_RESPONSE"}},
	{InvalidInput, Transport, false, Names{"invalid-input", "invalid_request", "VALIDATION_ERROR"}},
	{IO, Transport, false, Names{"event-rejected", "invalid_request", "IO_ERROR"}},
	{PermissionDenied, Transport, false, Names{"event-rejected", "invalid_request", "PERMISSION_DENIED"}},
	{NotFound, Transport, false, Names{"event-rejected", "invalid_request", "NOT_FOUND"}},
	{LLMAssistRequired, Transport, false, Names{"event-rejected", "invalid_request", "LLM_ASSIST_REQUIRED"}},
	{ToolExecution, Transport, false, Names{"event-rejected", "invalid_request", "TOOL_EXECUTION_ERROR"}},
	{MaxIterations, Transport, false, Names{"llm-invalid-output", "invalid_request", "MAX_ITERATIONS_EXCEEDED"}},
	{Initialization, Transport, false, Names{"invalid-input", "invalid_request", "INITIALIZATION_ERROR"}},

	{ToolValidation, Correction, true, Names{"llm-invalid-output", "invalid_request", "VALIDATION_ERROR"}},
	{StructuredOutput, Correction, true, Names{"llm-invalid-output", "invalid_request", "INVALID_RESPONSE"}},
	{UnknownTool, Correction, true, Names{"llm-invalid-output", "invalid_request", "VALIDATION_ERROR"}},
	{NoOutput, Correction, true, Names{"llm-invalid-output", "invalid_request", "INVALID_RESPONSE"}},
	{Truncated, Correction, false, Names{"llm-token-limit", "context_length", "INVALID_RESPONSE"}},
	{Refusal, Correction, false, Names{"llm-refusal", "content_filter", "INVALID_RESPONSE"}},
	{Reducer, Correction, false, Names{"llm-invalid-output", "invalid_request", "TOOL_EXECUTION_ERROR"}},
}

// homes says what each name of the seeds means, folded; a name that is a class's own is not repeated.
var homes = names{
	// Seed 000.
	{"llm_refusal", Refusal}, {"llm_invalid_output", StructuredOutput}, {"llm_timeout", Timeout}, {"llm_rate_limit", RateLimit},
	{"llm_token_limit", ContextLength}, {"llm_unavailable", Unavailable},
	// Seed 001.
	{"server_error", Unavailable}, {"auth_error", Auth}, {"model_unavailable", ModelNotFound},
	// Seeds 003 and 004.
	{"authentication_error", Auth}, {"rate_limited", RateLimit}, {"context_length_exceeded", ContextLength},
	{"network_error", Network}, {"validation_error", ToolValidation}, {"io_error", IO}, {"config_error", Config},
	{"max_iterations_exceeded", MaxIterations}, {"tool_execution_error", ToolExecution}, {"initialization_error", Initialization},
}
