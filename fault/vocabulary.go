package fault

import (
	"strings"
	"sync"
)

// Names are a class's exact names in the vocabularies of the documents that docs/contracts.md names. If a
// vocabulary has no name for a class, it is the nearest one that is retried if and only if the class is.
// docs/contracts.md lists the differences.
type Names struct {
	// ResultEnvelope is the name in result envelopes: "llm-rate-limit".
	ResultEnvelope string `json:"result_envelope"`
	// AgentResult is the name in agent results: "rate_limit".
	AgentResult string `json:"agent_result"`
	// AgentError is the name in agent errors: "RATE_LIMITED".
	AgentError string `json:"agent_error"`
}

// code is one row of the table of built-in classes.
type code struct {
	class     Class
	plane     Plane
	retryable bool
	names     Names
}

// row returns the row of a class; an empty one for a class of the user's own.
func (c Class) row() code {
	for _, row := range codes() {
		if row.class == c {
			return row
		}
	}
	return code{}
}

// Plane returns the plane of a built-in class; empty for a class of the user's own.
func (c Class) Plane() Plane { return c.row().plane }

// Retryable reports whether another try may help against a built-in class: the same request on the transport
// plane, feedback on the correction plane. These are the defaults, as in the documents; a policy decides.
func (c Class) Retryable() bool { return c.row().retryable }

// Transient reports whether it may help to make the same request, or run the same agent, once more. It is
// true for the [Class.Retryable] classes of the transport plane, and false for the correction plane, where
// only feedback helps, and for a user's own classes.
func (c Class) Transient() bool { return c.Plane() == Transport && c.Retryable() }

// Names returns the names of a class; those of Unknown for a class of the user's own.
func (c Class) Names() Names {
	if c.Plane() == "" {
		c = Unknown
	}
	return c.row().names
}

// Classes returns the built-in classes of the plane in a fixed order. The slice is the caller's own.
func (p Plane) Classes() (all []Class) {
	for _, row := range codes() {
		if row.plane == p {
			all = append(all, row.class)
		}
	}
	return all
}

// ParseName finds the class that a name means in any vocabulary: "llm-rate-limit", "rate_limit",
// "RATE_LIMITED", or the class itself. Each name of the documents has exactly one home. Case, and "-" for
// "_", make no difference.
func ParseName(name string) (Class, bool) {
	folded := foldName(name)
	if own := Class(folded); own.Plane() != "" {
		return own, true
	}
	c := homes(folded)
	return c, c != ""
}

func foldName(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
}

// codes is codeTable, read once.
var codes = sync.OnceValue(func() (all []code) {
	for line := range strings.Lines(strings.TrimSpace(codeTable)) {
		f := strings.Fields(line)
		all = append(all, code{Class(f[0]), Plane(f[1]), f[2] == "yes", Names{f[3], f[4], f[5]}})
	}
	return all
})

// codeTable has a line for every built-in class: its name, its plane, whether another try may help, and its
// names in the vocabularies.
const codeTable = `
rate_limit               transport   yes  llm-rate-limit          rate_limit         RATE_LIMITED
timeout                  transport   yes  llm-timeout             timeout            TIMEOUT
unavailable              transport   yes  llm-unavailable         server_error       NETWORK_ERROR
overloaded               transport   yes  llm-unavailable         server_error       NETWORK_ERROR
network                  transport   yes  llm-unavailable         server_error       NETWORK_ERROR
auth                     transport   no   event-rejected          auth_error         AUTHENTICATION_ERROR
permission               transport   no   event-rejected          auth_error         AUTHENTICATION_ERROR
billing                  transport   no   event-rejected          auth_error         AUTHENTICATION_ERROR
quota                    transport   no   event-rejected          auth_error         AUTHENTICATION_ERROR
model_not_found          transport   no   event-rejected          model_unavailable  MODEL_NOT_FOUND
context_length           transport   no   llm-token-limit         context_length     CONTEXT_LENGTH_EXCEEDED
invalid_request          transport   no   invalid-input           invalid_request    VALIDATION_ERROR
content_filter           transport   no   llm-refusal             content_filter     INVALID_RESPONSE
invalid_response         transport   yes  llm-invalid-output      server_error       INVALID_RESPONSE
provider_not_configured  transport   no   invalid-input           invalid_request    PROVIDER_NOT_CONFIGURED
provider_not_supported   transport   no   invalid-input           invalid_request    PROVIDER_NOT_SUPPORTED
config                   transport   no   invalid-input           invalid_request    CONFIG_ERROR
cancelled                transport   no   event-rejected          invalid_request    UNKNOWN
deadline_exceeded        transport   no   llm-timeout             timeout            TIMEOUT
unknown                  transport   no   event-invalid-response  invalid_request    UNKNOWN
event_timeout            transport   yes  event-timeout           timeout            TIMEOUT
event_unavailable        transport   yes  event-unavailable       server_error       NETWORK_ERROR
event_rejected           transport   no   event-rejected          invalid_request    TOOL_EXECUTION_ERROR
event_invalid_response   transport   no   event-invalid-response  invalid_request    INVALID_RESPONSE
invalid_input            transport   no   invalid-input           invalid_request    VALIDATION_ERROR
io                       transport   no   event-rejected          invalid_request    IO_ERROR
permission_denied        transport   no   event-rejected          invalid_request    PERMISSION_DENIED
not_found                transport   no   event-rejected          invalid_request    NOT_FOUND
llm_assist_required      transport   no   event-rejected          invalid_request    LLM_ASSIST_REQUIRED
tool_execution           transport   no   event-rejected          invalid_request    TOOL_EXECUTION_ERROR
max_iterations           transport   no   llm-invalid-output      invalid_request    MAX_ITERATIONS_EXCEEDED
initialization           transport   no   invalid-input           invalid_request    INITIALIZATION_ERROR
tool_validation          correction  yes  llm-invalid-output      invalid_request    VALIDATION_ERROR
structured_output        correction  yes  llm-invalid-output      invalid_request    INVALID_RESPONSE
unknown_tool             correction  yes  llm-invalid-output      invalid_request    VALIDATION_ERROR
no_output                correction  yes  llm-invalid-output      invalid_request    INVALID_RESPONSE
truncated                correction  no   llm-token-limit         context_length     INVALID_RESPONSE
refusal                  correction  no   llm-refusal             content_filter     INVALID_RESPONSE
reducer                  correction  no   llm-invalid-output      invalid_request    TOOL_EXECUTION_ERROR
no_progress              correction  no   llm-invalid-output      invalid_request    MAX_ITERATIONS_EXCEEDED
`

// homes maps the folded names of the documents to classes. A class's own name is not repeated.
var homes = meanings(homeTable)

const homeTable = `
refusal: llm_refusal
structured_output: llm_invalid_output
timeout: llm_timeout
rate_limit: llm_rate_limit rate_limited
context_length: llm_token_limit context_length_exceeded
unavailable: llm_unavailable server_error
auth: auth_error authentication_error
model_not_found: model_unavailable
network: network_error
tool_validation: validation_error
io: io_error
config: config_error
max_iterations: max_iterations_exceeded
tool_execution: tool_execution_error
initialization: initialization_error
`
