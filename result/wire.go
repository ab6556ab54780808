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

// The documents, one struct each, of which writers, readers and JSON Schemas are made. The type of a member
// says how it is written (values.go), and its tags the rest:
//
//	json    its name; it may be absent where that says omitzero, and is required in the object that it stands in elsewhere
//	of      the field of a Result that stands there; empty for all of it
//	only    the status whose results alone have it
//	unless  the member that is written in its place where a document had that one alone
//	wire    "null": null is a value; "echo": a second telling of another member, written where a document had it;
//	        "private": what a document had is not kept as it was spelled

// envelope is the form of the result envelope.
type envelope struct {
	Status     Status          `json:"status" of:"Status" jsonschema_description:"How far the result is."`
	Data       json.RawMessage `json:"data,omitzero" of:"Data" only:"success" wire:"null" jsonschema_description:"The outcome of a success."`
	Error      kebabCode       `json:"error,omitzero" of:"Error.Class" jsonschema_description:"What kind of error it was: a standard one or the agent's own."`
	Metadata   json.RawMessage `json:"metadata,omitzero" of:"Metadata" only:"in-progress" jsonschema_description:"How far a conversation is, in the agent's own words."`
	Confidence Opt[float64]    `json:"confidence,omitzero" of:"Confidence" jsonschema_description:"Certainty of the outcome or of the error's kind; of work in progress, how much is done."`
	Warnings   []string        `json:"warnings,omitzero" of:"Warnings" jsonschema_description:"Issues that did not stop the run."`
	Execution  struct {
		DurationMs millis    `json:"durationMs,omitzero" of:"Execution.Duration" jsonschema_description:"Time it took in milliseconds, all attempts together."`
		TokensUsed tokens    `json:"tokensUsed,omitzero" of:"Execution.Usage" jsonschema_description:"Tokens of all calls."`
		Cost       total     `json:"cost,omitzero" of:"Execution.Cost" jsonschema_description:"Estimated cost in US dollars."`
		Model      string    `json:"model,omitzero" of:"Execution.Model" jsonschema_description:"Model identifier."`
		Provider   string    `json:"provider,omitzero" of:"Execution.Provider" jsonschema_description:"Provider identifier."`
		RetryCount Opt[int]  `json:"retryCount,omitzero" of:"Execution.RetryCount" jsonschema_description:"How often the orchestrator tried again; 0 for none."`
		Timestamp  timestamp `json:"timestamp,omitzero" of:"Execution.Timestamp" jsonschema_description:"Start, ISO 8601."`
	} `json:"execution,omitzero"`
}

// agentResult is the form of the agent result.
type agentResult struct {
	Error struct {
		Code       snakeCode  `json:"code" of:"Error.Class" jsonschema_description:"Canonical error code."`
		Type       string     `json:"type,omitzero" of:"Error.Type" jsonschema_description:"Name of the original error's type."`
		Message    string     `json:"message" of:"Error.Message" jsonschema_description:"What happened, for operators."`
		StatusCode httpStatus `json:"status_code,omitzero" of:"Error.StatusCode" jsonschema_description:"HTTP status."`
		Retryable  Opt[bool]  `json:"retryable,omitzero" of:"Error.Retryable" jsonschema_description:"Whether another try might help."`
	} `json:"error,omitzero"`
	Output       object               `json:"output,omitzero" of:"Data" only:"success" jsonschema_description:"Structured output."`
	Content      content              `json:"content,omitzero" of:"" jsonschema_description:"Raw text."`
	Metadata     object               `json:"metadata,omitzero" of:"Metadata" jsonschema_description:"The agent's own."`
	FinishReason message.FinishReason `json:"finish_reason,omitzero" of:"Finish" jsonschema_description:"Why the model stopped."`
	Cost         Cost                 `json:"cost,omitzero" of:"Execution.Cost" jsonschema_description:"Cost in US dollars: a total, or its parts."`
	ProviderData struct {
		Provider   string  `json:"provider,omitzero" of:"Execution.Provider" jsonschema_description:"Provider identifier."`
		Model      string  `json:"model,omitzero" of:"Execution.Model" jsonschema_description:"Model identifier."`
		RequestID  string  `json:"request_id,omitzero" of:"Provider.RequestID" jsonschema_description:"The request's name in the provider's logs."`
		RawHeaders Headers `json:"raw_headers,omitzero" of:"Provider.RawHeaders" wire:"private" jsonschema_description:"Response headers, names in lower case, secrets left out."`
	} `json:"provider_data,omitzero"`
	RateLimit struct {
		Limited    bool               `json:"limited" of:"RateLimit.Limited" jsonschema_description:"Whether any limit is exhausted."`
		RetryAfter ratelimit.Span     `json:"retry_after,omitzero" of:"RateLimit.RetryAfter" jsonschema_description:"Wait in seconds that was asked for outright."`
		Windows    []ratelimit.Window `json:"windows,omitzero" of:"RateLimit.Windows" jsonschema_description:"Each limit."`
	} `json:"rate_limit,omitzero"`
	Usage usage `json:"usage,omitzero"`
}

// usage is a usage as agent results have it.
type usage struct {
	InputTokens      count `json:"input_tokens,omitzero" of:"Execution.Usage.InputTokens" jsonschema_description:"Tokens of prompts."`
	OutputTokens     count `json:"output_tokens,omitzero" of:"Execution.Usage.OutputTokens" jsonschema_description:"Tokens of replies."`
	TotalTokens      count `json:"total_tokens,omitzero" of:"Execution.Usage.TotalTokens" jsonschema_description:"All tokens."`
	ReasoningTokens  count `json:"reasoning_tokens,omitzero" of:"Execution.Usage.ReasoningTokens" jsonschema_description:"Tokens of replies that the model thought."`
	CacheReadTokens  count `json:"cache_read_tokens,omitzero" of:"Execution.Usage.CacheReadTokens" jsonschema_description:"Tokens read from the prompt cache."`
	CacheWriteTokens count `json:"cache_write_tokens,omitzero" of:"Execution.Usage.CacheWriteTokens" jsonschema_description:"Tokens written to the prompt cache."`
	APICalls         count `json:"api_calls,omitzero" of:"Execution.Usage.APICalls" jsonschema_description:"Model calls."`
}

// agentResponse is the form of agent errors.
type agentResponse struct {
	Success  success         `json:"success" of:"Status" jsonschema_description:"Whether there is a result."`
	Result   json.RawMessage `json:"result,omitzero" of:"Data" only:"success" wire:"null" jsonschema_description:"The outcome of a success."`
	Error    upperCode       `json:"error,omitzero" of:"Error.Class" jsonschema_description:"Error code."`
	Message  said            `json:"message" of:"" jsonschema_description:"What happened, for operators."`
	Metadata struct {
		Provider      string         `json:"provider,omitzero" of:"Execution.Provider" only:"error" jsonschema_description:"Provider identifier."`
		Model         string         `json:"model,omitzero" of:"Execution.Model" only:"error" jsonschema_description:"Model identifier."`
		StatusCode    httpStatus     `json:"statusCode,omitzero" of:"Error.StatusCode" jsonschema_description:"HTTP status."`
		RetryAfter    ratelimit.Span `json:"retryAfter,omitzero" of:"RateLimit.RetryAfter" only:"error" unless:"/retryAfterMs" jsonschema_description:"Seconds until another try is allowed."`
		OriginalError original       `json:"originalError,omitzero" of:"Error.Original" jsonschema_description:"The error as an SDK had it, secrets left out."`
	} `json:"metadata,omitzero"`
	RetryAfterMs waitMillis `json:"retryAfterMs,omitzero" of:"RateLimit.RetryAfter" only:"error" wire:"echo" jsonschema_description:"Milliseconds until another try is allowed."`
}

// modelResponse is the other form of agent errors: the wait stands at the top, and there is no metadata of
// its own.
type modelResponse struct {
	Success  success         `json:"success" of:"Status" jsonschema_description:"Whether there is a result."`
	Result   json.RawMessage `json:"result,omitzero" of:"Data" only:"success" wire:"null" jsonschema_description:"The outcome of a success."`
	Error    upperCode       `json:"error,omitzero" of:"Error.Class" jsonschema_description:"Error code."`
	Message  said            `json:"message" of:"" jsonschema_description:"What happened, for operators."`
	Metadata struct {
		Provider      string         `json:"provider,omitzero" of:"Execution.Provider" only:"error" wire:"echo" jsonschema_description:"Provider identifier."`
		Model         string         `json:"model,omitzero" of:"Execution.Model" only:"error" wire:"echo" jsonschema_description:"Model identifier."`
		StatusCode    httpStatus     `json:"statusCode,omitzero" of:"Error.StatusCode" wire:"echo" jsonschema_description:"HTTP status."`
		RetryAfter    ratelimit.Span `json:"retryAfter,omitzero" of:"RateLimit.RetryAfter" only:"error" wire:"echo" jsonschema_description:"Seconds until another try is allowed."`
		OriginalError original       `json:"originalError,omitzero" of:"Error.Original" wire:"echo" jsonschema_description:"The error as an SDK had it, secrets left out."`
	} `json:"metadata,omitzero"`
	RetryAfterMs waitMillis `json:"retryAfterMs,omitzero" of:"RateLimit.RetryAfter" only:"error" unless:"/metadata/retryAfter" jsonschema_description:"Milliseconds until another try is allowed."`
}

// extension is the member "retake" of every form: what the form has no member of its own for.
type extension struct {
	Status Status          `json:"status,omitzero" of:"Status" jsonschema_description:"The status, where the form cannot say it."`
	Data   json.RawMessage `json:"data,omitzero" of:"Data" wire:"null" jsonschema_description:"The data, where it does not fit the form."`
	Error  struct {
		Class      fault.Class `json:"class,omitzero" of:"Error.Class" jsonschema_description:"The canonical class, where the form's code is coarser."`
		Type       string      `json:"type,omitzero" of:"Error.Type" jsonschema_description:"Name of the original error's type."`
		Message    string      `json:"message,omitzero" of:"Error.Message" jsonschema_description:"What happened, for operators."`
		StatusCode httpStatus  `json:"status_code,omitzero" of:"Error.StatusCode" jsonschema_description:"HTTP status."`
		Retryable  Opt[bool]   `json:"retryable,omitzero" of:"Error.Retryable" jsonschema_description:"Whether another try might help; null where nobody said so."`
		Original   original    `json:"original,omitzero" of:"Error.Original" jsonschema_description:"The error as an SDK had it."`
	} `json:"error,omitzero"`
	Message    string       `json:"message,omitzero" of:"Message" jsonschema_description:"A line about the result."`
	Content    string       `json:"content,omitzero" of:"Content" jsonschema_description:"Raw text."`
	Confidence Opt[float64] `json:"confidence,omitzero" of:"Confidence" jsonschema_description:"Certainty."`
	Warnings   []string     `json:"warnings,omitzero" of:"Warnings" jsonschema_description:"Issues that did not stop the run."`
	Execution  struct {
		DurationMs millis    `json:"duration_ms,omitzero" of:"Execution.Duration" jsonschema_description:"Time it took."`
		Model      string    `json:"model,omitzero" of:"Execution.Model" jsonschema_description:"Model identifier."`
		Provider   string    `json:"provider,omitzero" of:"Execution.Provider" jsonschema_description:"Provider identifier."`
		RetryCount Opt[int]  `json:"retry_count,omitzero" of:"Execution.RetryCount" jsonschema_description:"How often the orchestrator tried again."`
		Timestamp  timestamp `json:"timestamp,omitzero" of:"Execution.Timestamp" jsonschema_description:"Start, ISO 8601."`
	} `json:"execution,omitzero"`
	Cost         Cost                 `json:"cost,omitzero" of:"Execution.Cost" jsonschema_description:"Cost in US dollars."`
	FinishReason message.FinishReason `json:"finish_reason,omitzero" of:"Finish" jsonschema_description:"Why the model stopped."`
	RequestID    string               `json:"request_id,omitzero" of:"Provider.RequestID" jsonschema_description:"The request's name in the provider's logs."`
	RawHeaders   Headers              `json:"raw_headers,omitzero" of:"Provider.RawHeaders" wire:"private" jsonschema_description:"Response headers."`
	RateLimit    struct {
		Limited    bool                `json:"limited,omitzero" of:"RateLimit.Limited" jsonschema_description:"Whether any limit is exhausted."`
		RetryAfter ratelimit.Span      `json:"retry_after,omitzero" of:"RateLimit.RetryAfter" jsonschema_description:"Wait in seconds that was asked for outright."`
		Wait       ratelimit.Span      `json:"wait,omitzero" of:"RateLimit.Wait" jsonschema_description:"Wait in seconds that follows from exhausted windows."`
		Windows    []ratelimit.Window  `json:"windows,omitzero" of:"RateLimit.Windows" jsonschema_description:"Each limit."`
		Ignored    []ratelimit.Ignored `json:"ignored,omitzero" of:"RateLimit.Ignored" jsonschema_description:"What of the headers was not used."`
	} `json:"rate_limit,omitzero"`
	Metadata json.RawMessage `json:"metadata,omitzero" of:"Metadata" jsonschema_description:"The agent's own."`
	Extra    elsewhere       `json:"extra,omitzero" of:"Extra" jsonschema_description:"Members of other forms' documents, by form and pointer."`
	Usage    usage           `json:"usage,omitzero"`
}

const (
	// failurePtr is the member for errors.
	failurePtr = "/error"
	// extensionPtr is the member for what a form has no member of its own for.
	extensionPtr = "/retake"
	// unsaidPtr is null where nobody said whether another try may help, and the form's code would.
	unsaidPtr = extensionPtr + "/error/retryable"
)

// spec is one wire form.
type spec struct {
	form   Form
	layout func() *layout
	// status and data are where the outcome stands, beside failurePtr; status is empty in a form that has no
	// such member.
	status, data string
	// implied: the code alone says whether another try may help.
	implied bool
}

var specs = [...]spec{
	{ResultEnvelope, formOf[envelope](), "/status", "/data", true},
	{AgentResult, formOf[agentResult](), "", "/output", false},
	{AgentResponse, formOf[agentResponse](), "/success", "/result", true},
	{ModelResponse, formOf[modelResponse](), "/success", "/result", true},
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

// member is what the struct of a document says of one member.
type member struct {
	ptr  string
	only Status
	// required, unless and the like are what the tags say.
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
			all = append(all, membersOf(f.Type, of, at+"/"+name)...)
			continue
		}
		kind := f.Tag.Get("wire")
		m := member{
			ptr: at + "/" + name, only: Status(f.Tag.Get("only")), unless: f.Tag.Get("unless"),
			as:       reflect.PointerTo(f.Type),
			required: absent == "", nullable: kind == "null", private: kind == "private", echo: kind == "echo",
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

// pointersOf are the pointers of members, true, and those of the objects that they stand in, false.
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
	// at points at what is read and written.
	at any
	// mute members are not written, as the result has another status than they are for.
	mute bool
}

// fields are the form's own members.
func (s spec) fields(c *core) []field { return fieldsOf(s.layout().members, c, c.Status) }

// extension has every field of a Result.
func (c *core) extension() []field { return fieldsOf(extended(), c, c.Status) }

// fieldsOf are the members with the fields of a struct, which of points at.
func fieldsOf(members []member, of any, status Status) []field {
	fields := make([]field, len(members))
	for i, m := range members {
		at := reflect.ValueOf(of).Elem().FieldByIndex(m.of).Addr().Convert(m.as).Interface()
		fields[i] = field{member: m, at: at, mute: m.only != "" && m.only != status}
	}
	return fields
}

// dataPtr is where the data of a document stands.
func (s spec) dataPtr(doc document) string {
	switch {
	case doc.get(extensionPtr+"/data") != nil:
		return extensionPtr + "/data"
	case doc.get(s.data) == nil && doc.get("/content") != nil:
		return "/content"
	}
	return s.data
}
