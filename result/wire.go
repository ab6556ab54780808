package result

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// The documents, one struct each. Writing, reading and the JSON Schemas follow from them. The comment of a
// member is its description in the schema, and its type says how it is written (values.go). Its tags are:
//
//	json    its name; without omitzero it is required in its object
//	of      the field of Result that has its value; empty for the whole Result
//	only    the only status whose results have it
//	unless  the member that is written instead if the document had only that one
//	wire    "null": null is a value; "echo": it repeats another member, and is written only if the document
//	        had it; "private": its spelling is not kept

// envelope is the form of the result envelope.
type envelope struct {
	// How far the result is.
	Status Status `json:"status" of:"Status"`
	// The outcome of a success.
	Data json.RawMessage `json:"data,omitzero" of:"Data" only:"success" wire:"null"`
	// What kind of error it was: a standard one or the agent's own.
	Error kebabCode `json:"error,omitzero" of:"Error.Class"`
	// How far a conversation is, in the agent's own words.
	Metadata json.RawMessage `json:"metadata,omitzero" of:"Metadata" only:"in-progress"`
	// Certainty of the outcome or of the error's kind; of work in progress, how much is done.
	Confidence *float64 `json:"confidence,omitzero" of:"Confidence"`
	// Issues that did not stop the run.
	Warnings  []string          `json:"warnings,omitzero" of:"Warnings"`
	Execution envelopeExecution `json:"execution,omitzero"`
}

type envelopeExecution struct {
	// Time it took in milliseconds, all attempts together.
	DurationMs millis `json:"durationMs,omitzero" of:"Execution.Duration"`
	// Tokens of all calls.
	TokensUsed tokens `json:"tokensUsed,omitzero" of:"Execution.Usage"`
	// Estimated cost in US dollars.
	Cost total `json:"cost,omitzero" of:"Execution.Cost"`
	// Model identifier.
	Model string `json:"model,omitzero" of:"Execution.Model"`
	// Provider identifier.
	Provider string `json:"provider,omitzero" of:"Execution.Provider"`
	// How often the orchestrator tried again; 0 for none.
	RetryCount *int `json:"retryCount,omitzero" of:"Execution.RetryCount"`
	// Start, ISO 8601.
	Timestamp timestamp `json:"timestamp,omitzero" of:"Execution.Timestamp"`
}

// agentResult is the form of the agent result.
type agentResult struct {
	Error agentResultError `json:"error,omitzero"`
	// Structured output.
	Output object `json:"output,omitzero" of:"Data" only:"success"`
	// Raw text.
	Content content `json:"content,omitzero" of:""`
	// The agent's own.
	Metadata object `json:"metadata,omitzero" of:"Metadata"`
	// Why the model stopped.
	FinishReason message.FinishReason `json:"finish_reason,omitzero" of:"Finish"`
	// Cost in US dollars: a total, or its parts.
	Cost         Cost                `json:"cost,omitzero" of:"Execution.Cost"`
	ProviderData agentResultProvider `json:"provider_data,omitzero"`
	RateLimit    agentResultLimits   `json:"rate_limit,omitzero"`
	Usage        usage               `json:"usage,omitzero"`
}

type agentResultError struct {
	// Canonical error code.
	Code snakeCode `json:"code" of:"Error.Class"`
	// Name of the original error's type.
	Type string `json:"type,omitzero" of:"Error.Type"`
	// What happened, for operators.
	Message string `json:"message" of:"Error.Message"`
	// HTTP status.
	StatusCode httpStatus `json:"status_code,omitzero" of:"Error.StatusCode"`
	// Whether another try might help.
	Retryable *bool `json:"retryable,omitzero" of:"Error.Retryable"`
}

type agentResultProvider struct {
	// Provider identifier.
	Provider string `json:"provider,omitzero" of:"Execution.Provider"`
	// Model identifier.
	Model string `json:"model,omitzero" of:"Execution.Model"`
	// The request's name in the provider's logs.
	RequestID string `json:"request_id,omitzero" of:"Provider.RequestID"`
	// Response headers, names in lower case, secrets left out.
	RawHeaders Headers `json:"raw_headers,omitzero" of:"Provider.RawHeaders" wire:"private"`
}

type agentResultLimits struct {
	// Whether any limit is exhausted.
	Limited bool `json:"limited" of:"RateLimit.Limited"`
	// Wait in seconds that was asked for outright.
	RetryAfter ratelimit.Span `json:"retry_after,omitzero" of:"RateLimit.RetryAfter"`
	// Each limit.
	Windows []ratelimit.Window `json:"windows,omitzero" of:"RateLimit.Windows"`
}

// usage is a usage as agent results have it.
type usage struct {
	// Tokens of prompts.
	InputTokens int64 `json:"input_tokens,omitzero" of:"Execution.Usage.InputTokens"`
	// Tokens of replies.
	OutputTokens int64 `json:"output_tokens,omitzero" of:"Execution.Usage.OutputTokens"`
	// All tokens.
	TotalTokens int64 `json:"total_tokens,omitzero" of:"Execution.Usage.TotalTokens"`
	// Tokens of replies that the model thought.
	ReasoningTokens int64 `json:"reasoning_tokens,omitzero" of:"Execution.Usage.ReasoningTokens"`
	// Tokens read from the prompt cache.
	CacheReadTokens int64 `json:"cache_read_tokens,omitzero" of:"Execution.Usage.CacheReadTokens"`
	// Tokens written to the prompt cache.
	CacheWriteTokens int64 `json:"cache_write_tokens,omitzero" of:"Execution.Usage.CacheWriteTokens"`
	// Model calls.
	APICalls int64 `json:"api_calls,omitzero" of:"Execution.Usage.APICalls"`
}

// response is how both forms of agent errors begin.
type response struct {
	// Whether there is a result.
	Success success `json:"success" of:"Status"`
	// The outcome of a success.
	Result json.RawMessage `json:"result,omitzero" of:"Data" only:"success" wire:"null"`
	// Error code.
	Error upperCode `json:"error,omitzero" of:"Error.Class"`
	// What happened, for operators.
	Message said `json:"message" of:""`
}

// agentResponse is the form of agent errors.
type agentResponse struct {
	response
	Metadata agentResponseMetadata `json:"metadata,omitzero"`
	// Milliseconds until another try is allowed.
	RetryAfterMs waitMillis `json:"retryAfterMs,omitzero" of:"RateLimit.RetryAfter" only:"error" wire:"echo"`
}

type agentResponseMetadata struct {
	// Provider identifier.
	Provider string `json:"provider,omitzero" of:"Execution.Provider" only:"error"`
	// Model identifier.
	Model string `json:"model,omitzero" of:"Execution.Model" only:"error"`
	// HTTP status.
	StatusCode httpStatus `json:"statusCode,omitzero" of:"Error.StatusCode"`
	// Seconds until another try is allowed.
	RetryAfter ratelimit.Span `json:"retryAfter,omitzero" of:"RateLimit.RetryAfter" only:"error" unless:"/retryAfterMs"`
	// The error as an SDK had it, secrets left out.
	OriginalError original `json:"originalError,omitzero" of:"Error.Original"`
}

// modelResponse is the other form of agent errors: the wait stands at the top, and there is no metadata of
// its own.
type modelResponse struct {
	response
	Metadata modelResponseMetadata `json:"metadata,omitzero"`
	// Milliseconds until another try is allowed.
	RetryAfterMs waitMillis `json:"retryAfterMs,omitzero" of:"RateLimit.RetryAfter" only:"error" unless:"/metadata/retryAfter"`
}

type modelResponseMetadata struct {
	// Provider identifier.
	Provider string `json:"provider,omitzero" of:"Execution.Provider" only:"error" wire:"echo"`
	// Model identifier.
	Model string `json:"model,omitzero" of:"Execution.Model" only:"error" wire:"echo"`
	// HTTP status.
	StatusCode httpStatus `json:"statusCode,omitzero" of:"Error.StatusCode" wire:"echo"`
	// Seconds until another try is allowed.
	RetryAfter ratelimit.Span `json:"retryAfter,omitzero" of:"RateLimit.RetryAfter" only:"error" wire:"echo"`
	// The error as an SDK had it, secrets left out.
	OriginalError original `json:"originalError,omitzero" of:"Error.Original" wire:"echo"`
}

// extension is the member "retake" of every form. It has what the form has no member for.
type extension struct {
	// The status, where the form cannot say it.
	Status Status `json:"status,omitzero" of:"Status"`
	// The data, where it does not fit the form.
	Data  json.RawMessage `json:"data,omitzero" of:"Data" wire:"null"`
	Error extensionError  `json:"error,omitzero"`
	// A line about the result.
	Message string `json:"message,omitzero" of:"Message"`
	// Raw text.
	Content string `json:"content,omitzero" of:"Content"`
	// What the content of an agent result is, if not the data: a text beside no data (text), or both.
	ContentIs contentRole `json:"content_is,omitzero" of:""`
	// Certainty.
	Confidence *float64 `json:"confidence,omitzero" of:"Confidence"`
	// Issues that did not stop the run.
	Warnings  []string           `json:"warnings,omitzero" of:"Warnings"`
	Execution extensionExecution `json:"execution,omitzero"`
	// Cost in US dollars.
	Cost Cost `json:"cost,omitzero" of:"Execution.Cost"`
	// Why the model stopped.
	FinishReason message.FinishReason `json:"finish_reason,omitzero" of:"Finish"`
	// The request's name in the provider's logs.
	RequestID string `json:"request_id,omitzero" of:"Provider.RequestID"`
	// Response headers.
	RawHeaders Headers         `json:"raw_headers,omitzero" of:"Provider.RawHeaders" wire:"private"`
	RateLimit  extensionLimits `json:"rate_limit,omitzero"`
	// The agent's own.
	Metadata json.RawMessage `json:"metadata,omitzero" of:"Metadata"`
	// Members of other forms' documents, by form and pointer.
	Extra Extra `json:"extra,omitzero" of:"Extra"`
	Usage usage `json:"usage,omitzero"`
}

type extensionError struct {
	// The canonical class, where the form's code is coarser.
	Class fault.Class `json:"class,omitzero" of:"Error.Class"`
	// Name of the original error's type.
	Type string `json:"type,omitzero" of:"Error.Type"`
	// What happened, for operators.
	Message string `json:"message,omitzero" of:"Error.Message"`
	// HTTP status.
	StatusCode httpStatus `json:"status_code,omitzero" of:"Error.StatusCode"`
	// Whether another try might help; null where nobody said so.
	Retryable *bool `json:"retryable,omitzero" of:"Error.Retryable"`
	// The error as an SDK had it.
	Original original `json:"original,omitzero" of:"Error.Original"`
}

type extensionExecution struct {
	// Time it took.
	DurationMs millis `json:"duration_ms,omitzero" of:"Execution.Duration"`
	// Model identifier.
	Model string `json:"model,omitzero" of:"Execution.Model"`
	// Provider identifier.
	Provider string `json:"provider,omitzero" of:"Execution.Provider"`
	// How often the orchestrator tried again.
	RetryCount *int `json:"retry_count,omitzero" of:"Execution.RetryCount"`
	// Start, ISO 8601.
	Timestamp timestamp `json:"timestamp,omitzero" of:"Execution.Timestamp"`
}

type extensionLimits struct {
	// Whether any limit is exhausted.
	Limited bool `json:"limited,omitzero" of:"RateLimit.Limited"`
	// Wait in seconds that was asked for outright.
	RetryAfter ratelimit.Span `json:"retry_after,omitzero" of:"RateLimit.RetryAfter"`
	// Wait in seconds that follows from exhausted windows.
	Wait ratelimit.Span `json:"wait,omitzero" of:"RateLimit.Wait"`
	// Each limit.
	Windows []ratelimit.Window `json:"windows,omitzero" of:"RateLimit.Windows"`
	// What of the headers was not used.
	Ignored []ratelimit.Ignored `json:"ignored,omitzero" of:"RateLimit.Ignored"`
}

const (
	// failurePtr is the member for errors.
	failurePtr = "/error"
	// extensionPtr is the member for what a form has no member of its own for.
	extensionPtr = "/retake"
	// contentPtr is the text of an agent result. Alone, it is the data, unless contentRolePtr says otherwise.
	contentPtr     = "/content"
	contentRolePtr = extensionPtr + "/content_is"
	// unsaidPtr is null if it is unknown whether another try may help. Without it the form's code would say
	// so.
	unsaidPtr = extensionPtr + "/error/retryable"
)

// spec is one wire form.
type spec struct {
	form   Form
	layout func() *layout
	// status and data are the members of the outcome, beside failurePtr. status is empty if the form has no
	// such member.
	status, data string
}

var specs = [...]spec{
	{ResultEnvelope, formOf[envelope](), "/status", "/data"},
	{AgentResult, formOf[agentResult](), "", "/output"},
	{AgentResponse, formOf[agentResponse](), "/success", "/result"},
	{ModelResponse, formOf[modelResponse](), "/success", "/result"},
}

var extended = sync.OnceValue(func() []member {
	return membersOf(reflect.TypeFor[extension](), reflect.TypeFor[core](), extensionPtr)
})

func specOf(form Form) (spec, error) {
	for _, s := range specs {
		if s.form == form {
			return s, nil
		}
	}
	return spec{}, fmt.Errorf("result: no wire form %q: expected one of %q", form, Forms())
}

// layout is a form's document.
type layout struct {
	members []member
	known   map[string]bool // see pointersOf; with those of the extension
}

func formOf[D any]() func() *layout {
	return sync.OnceValue(func() *layout {
		own := membersOf(reflect.TypeFor[D](), reflect.TypeFor[core](), "")
		return &layout{own, pointersOf(slices.Concat(own, extended()))}
	})
}

// member describes one member of a document.
type member struct {
	ptr  string
	only Status
	// required, unless and so on come from the tags.
	required, nullable, private, echo bool
	unless                            string
	of                                []int        // the field that stands there
	as                                reflect.Type // pointer to the type of the member
}

// membersOf lists the members of a document, those of its objects too.
func membersOf(wire, of reflect.Type, at string) []member {
	var all []member
	for i := range wire.NumField() {
		f := wire.Field(i)
		name, absent, _ := strings.Cut(f.Tag.Get("json"), ",")
		from, one := f.Tag.Lookup("of")
		if !one {
			all = append(all, membersOf(f.Type, of, strings.TrimSuffix(at+"/"+name, "/"))...)
			continue
		}
		kind := f.Tag.Get("wire")
		m := member{
			ptr: at + "/" + name, only: Status(f.Tag.Get("only")), unless: f.Tag.Get("unless"),
			as:       reflect.PointerTo(f.Type),
			required: absent == "", nullable: kind == "null",
			private: kind == "private", echo: kind == "echo",
		}
		in := of
		for _, step := range strings.FieldsFunc(from, func(r rune) bool { return r == '.' }) {
			f, _ := in.FieldByName(step)
			m.of, in = append(m.of, f.Index...), f.Type
		}
		all = append(all, m)
	}
	return all
}

// pointersOf maps the pointers of members to true, and those of the objects around them to false.
func pointersOf(members []member) map[string]bool {
	known := map[string]bool{}
	for _, m := range members {
		for at := path.Dir(m.ptr); at != "/"; at = path.Dir(at) {
			known[at] = false
		}
		known[m.ptr] = true
	}
	return known
}

// field is a member of one document.
type field struct {
	member
	// at points to the value that is read and written.
	at any
	// mute members are not written: they belong to results of another status.
	mute bool
}

// fields returns the form's own members.
func (s spec) fields(c *core) []field { return fieldsOf(s.layout().members, c, c.Status) }

// extension has every field of a Result.
func (c *core) extension() []field { return fieldsOf(extended(), c, c.Status) }

// fieldsOf returns the members, each with its value in the struct that of points to.
func fieldsOf(members []member, of any, status Status) []field {
	fields := make([]field, len(members))
	for i, m := range members {
		at := reflect.ValueOf(of).Elem().FieldByIndex(m.of).Addr().Convert(m.as).Interface()
		fields[i] = field{member: m, at: at, mute: m.only != "" && m.only != status}
	}
	return fields
}

// dataPtr returns the pointer of a document's data.
func (s spec) dataPtr(doc document) string {
	switch {
	case doc.get(extensionPtr+"/data") != nil:
		return extensionPtr + "/data"
	case doc.get(s.data) == nil && doc.get(contentPtr) != nil:
		return contentPtr
	}
	return s.data
}
