package fault_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
)

// seedName is a name of a document, and whether the document retries it.
type seedName struct {
	name      string
	retryable bool
	home      fault.Class
}

// envelopeNames is the list of result envelopes, "Standard Error Types".
var envelopeNames = []seedName{
	{"llm-refusal", false, fault.Refusal},
	{"llm-invalid-output", false, fault.StructuredOutput}, // retryable on the correction plane only
	{"llm-timeout", true, fault.Timeout},
	{"llm-rate-limit", true, fault.RateLimit},
	{"llm-token-limit", false, fault.ContextLength},
	{"llm-unavailable", true, fault.Unavailable},
	{"event-timeout", true, fault.EventTimeout},
	{"event-unavailable", true, fault.EventUnavailable},
	{"event-rejected", false, fault.EventRejected},
	{"event-invalid-response", false, fault.EventInvalidResponse},
	{"invalid-input", false, fault.InvalidInput},
}

// resultNames is the list of agent results, "Known error codes". Its "Maybe" for model_unavailable is a no
// here.
var resultNames = []seedName{
	{"rate_limit", true, fault.RateLimit},
	{"timeout", true, fault.Timeout},
	{"server_error", true, fault.Unavailable},
	{"invalid_request", false, fault.InvalidRequest},
	{"auth_error", false, fault.Auth},
	{"content_filter", false, fault.ContentFilter},
	{"context_length", false, fault.ContextLength},
	{"model_unavailable", false, fault.ModelNotFound},
}

// errorNames is the list of agent errors, "AgentErrorCode", with its table "Retryable Errors".
var errorNames = []seedName{
	{"PROVIDER_NOT_CONFIGURED", false, fault.ProviderNotConfigured},
	{"PROVIDER_NOT_SUPPORTED", false, fault.ProviderNotSupported},
	{"AUTHENTICATION_ERROR", false, fault.Auth},
	{"RATE_LIMITED", true, fault.RateLimit},
	{"MODEL_NOT_FOUND", false, fault.ModelNotFound},
	{"CONTEXT_LENGTH_EXCEEDED", false, fault.ContextLength},
	{"NETWORK_ERROR", true, fault.Network},
	{"TIMEOUT", true, fault.Timeout},
	{"INVALID_RESPONSE", false, fault.InvalidResponse}, // retried only if more is known than the name
	{"VALIDATION_ERROR", false, fault.ToolValidation},  // retryable on the correction plane only
	{"IO_ERROR", false, fault.IO},
	{"CONFIG_ERROR", false, fault.Config},
	{"PERMISSION_DENIED", false, fault.PermissionDenied},
	{"NOT_FOUND", false, fault.NotFound},
	{"LLM_ASSIST_REQUIRED", false, fault.LLMAssistRequired},
	{"MAX_ITERATIONS_EXCEEDED", false, fault.MaxIterations},
	{"TOOL_EXECUTION_ERROR", false, fault.ToolExecution},
	{"INITIALIZATION_ERROR", false, fault.Initialization},
	{"UNKNOWN", false, fault.Unknown},
}

// modelErrorCode and toolErrorCode are the lists of agent errors, "Existing Error Patterns".
var (
	modelErrorCode = []string{
		"PROVIDER_NOT_CONFIGURED", "PROVIDER_NOT_SUPPORTED", "AUTHENTICATION_ERROR", "RATE_LIMITED", "MODEL_NOT_FOUND",
		"CONTEXT_LENGTH_EXCEEDED", "NETWORK_ERROR", "TIMEOUT", "INVALID_RESPONSE", "UNKNOWN",
	}
	toolErrorCode = []string{
		"VALIDATION_ERROR", "IO_ERROR", "CONFIG_ERROR", "PERMISSION_DENIED", "RATE_LIMITED", "NOT_FOUND",
		"LLM_ASSIST_REQUIRED", "TIMEOUT", "UNKNOWN",
	}
)

// vocabulary is a document's list of names, and the field of Names that has them.
type vocabulary struct {
	names  []seedName
	column func(fault.Names) string
}

var vocabularies = map[string]vocabulary{
	"result_envelope": {envelopeNames, func(n fault.Names) string { return n.ResultEnvelope }},
	"agent_result":    {resultNames, func(n fault.Names) string { return n.AgentResult }},
	"agent_error":     {errorNames, func(n fault.Names) string { return n.AgentError }},
}

func TestNamesOfDocumentsHaveExactlyOneHome(t *testing.T) {
	t.Parallel()
	for document, v := range vocabularies {
		for _, n := range v.names {
			t.Run(document+"/"+n.name, func(t *testing.T) {
				t.Parallel()
				home, known := fault.ParseName(n.name)
				require.True(t, known)
				assert.Equal(t, n.home, home)
				assert.Equal(t, n.name, v.column(home.Names()), "the home has the name")
				if home != fault.InvalidResponse { // the name alone is not retried
					assert.Equal(t, n.retryable, home.Transient(), "as the document says")
				}
			})
		}
	}
}

// A document's name alone is retried as the document says, even if its class is retried on the correction
// plane.
func TestNamesAloneAreRetriedAsTheirDocumentSays(t *testing.T) {
	t.Parallel()
	for document, v := range vocabularies {
		for _, n := range v.names {
			verdict := fault.Classify(fault.Response{Code: n.name})
			assert.Equal(t, n.retryable, verdict.Retryable, "%s: %s", document, n.name)
			assert.Equal(t, n.name, v.column(verdict.Class.Names()), "%s: %s", document, n.name)
			assert.False(t, verdict.Plane == fault.Correction && verdict.Failure().Final, "words may help against %s", n.name)
		}
	}
}

// A name as the body of an error keeps its class, in each form of the documents and alone.
func TestNamesInABodyKeepTheirClass(t *testing.T) {
	t.Parallel()
	for document, v := range vocabularies {
		for _, n := range v.names {
			for _, form := range []string{
				`{"error":%q}`, `{"status":"error","error":%q}`, `{"success":false,"error":%q}`,
				`{"success":false,"error":%q,"message":"it went wrong"}`,
			} {
				body := fmt.Sprintf(form, n.name)
				r, err := fault.ReadResponse([]byte(body))
				require.NoError(t, err)
				verdict := fault.Classify(r)
				assert.Equal(t, n.home, verdict.Class, "%s: %s", document, body)
				assert.Equal(t, n.retryable, verdict.Retryable, "%s: %s", document, body)
			}
		}
	}
	// What has a status or a provider is an answer of a server.
	verdict := fault.Classify(fault.Response{Status: 404, Body: []byte(`{"error":"NOT_FOUND"}`)})
	assert.NotEqual(t, fault.NotFound, verdict.Class)
}

func TestCodesOfModelsAndToolsAreThoseOfAgents(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	for _, n := range errorNames {
		all[n.name] = true
	}
	for _, name := range append(modelErrorCode, toolErrorCode...) {
		assert.True(t, all[name], name)
	}
}

// The name of a class is in its vocabulary, and the document retries that name if and only if the class is
// retried.
func TestNamesSayOfRetryingWhatTheClassSays(t *testing.T) {
	t.Parallel()
	for document, v := range vocabularies {
		says := map[string]bool{}
		for _, n := range v.names {
			says[n.name] = n.retryable
		}
		for _, class := range builtIn() {
			name := v.column(class.Names())
			retryable, known := says[name]
			assert.True(t, known, "%s: %s has the name %q", document, class, name)
			switch {
			case class == fault.DeadlineExceeded: // every name is that of a timeout, but the caller's time is up
			case class.Plane() == fault.Correction:
				assert.False(t, retryable, "%s: %s by %q: sending the same again helps no correction", document, class, name)
			case class == fault.InvalidResponse: // no document retries a name of an answer that cannot be read
			default:
				assert.Equal(t, class.Retryable(), retryable, "%s: %s by %q", document, class, name)
			}
		}
	}
}

// builtIn are the built-in classes.
func builtIn() []fault.Class { return append(fault.Transport.Classes(), fault.Correction.Classes()...) }

func TestEveryClassHasOnePlane(t *testing.T) {
	t.Parallel()
	assert.Len(t, fault.Transport.Classes(), 32)
	assert.Len(t, fault.Correction.Classes(), 8)
	seen := map[fault.Class]bool{}
	for _, plane := range []fault.Plane{fault.Transport, fault.Correction} {
		for _, class := range plane.Classes() {
			assert.Equal(t, plane, class.Plane())
			assert.False(t, seen[class], class)
			seen[class] = true
		}
	}
}

func TestParseNameTakesEveryWriting(t *testing.T) {
	t.Parallel()
	for _, class := range builtIn() {
		own := string(class)
		for _, name := range []string{own, strings.ToUpper(own), strings.ReplaceAll(own, "_", "-"), " " + own + " "} {
			c, known := fault.ParseName(name)
			assert.True(t, known, name)
			assert.Equal(t, class, c, name)
		}
	}
	for _, name := range []string{"", "rate", "llm", "429", "tool_validations"} {
		_, known := fault.ParseName(name)
		assert.False(t, known, name)
	}
}

func TestClassesOfTheUsersOwn(t *testing.T) {
	t.Parallel()
	own := fault.Class("low_confidence")
	assert.False(t, own.Transient())
	assert.Equal(t, fault.Unknown.Names(), own.Names())
	assert.Empty(t, own.Plane())
}
