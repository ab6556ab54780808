package openai

import (
	"errors"
	"fmt"
	"slices"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// Strict says where strict mode is asked for.
type Strict string

// The ways to use strict mode. Auto is the zero value.
const (
	// StrictAuto asks for it wherever a schema fits.
	StrictAuto Strict = ""
	// StrictOff never does: for fine-tuned models, and for servers that do not know it.
	StrictOff Strict = "off"
)

// Output says how a structured answer is asked for.
type Output string

// The ways to ask for a structured answer. Schema is the zero value.
const (
	// OutputSchema gives the server the JSON Schema.
	OutputSchema Output = ""
	// OutputObject asks for any JSON object (JSON mode) and tells the schema in the system prompt.
	OutputObject Output = "json_object"
	// OutputText only tells the schema in the system prompt: for servers that know neither, or not beside tools.
	OutputText Output = "text"
)

// Config is what a model is asked with. It is data, but for OnResponse, and is copied by [NewChat] and [NewResponses]. Only Model
// is required; what is absent is not sent.
type Config struct {
	// Model is the model's name as the server knows it; at Azure the deployment's. Its name in a run's ladder is the run's own, and
	// is not sent.
	Model string
	// Provider names the server for classifying errors and reading rate limits: "groq", "openrouter", "azure", …; empty
	// means "openai".
	Provider string
	// MaxTokens bounds the reply, reasoning included; at least 1.
	MaxTokens *int64
	// LegacyMaxTokens sends MaxTokens as max_tokens instead of max_completion_tokens, for servers that know only that. Chat only.
	LegacyMaxTokens bool
	// Temperature is from 0 to 2. Models that reason refuse it.
	Temperature *float64
	// Effort is how much a model reasons: "low", "high", or what else it knows.
	Effort string
	// ParallelCalls says whether a reply may make several calls; sent only beside tools.
	ParallelCalls *bool
	// Strict says where strict mode is asked for.
	Strict Strict
	// Output says how a structured answer is asked for.
	Output Output
	// WrapArguments sends arguments that are no JSON object back as an object with the member [RawArguments] that holds
	// them, for servers that parse them (vLLM, gateways to other vendors).
	WrapArguments bool
	// Echo names members of an assistant's message, and of its tool calls, that the server wants back unchanged beside those
	// of OpenAI: "reasoning_details" at OpenRouter, "reasoning_content" at DeepSeek, "extra_content" at Gemini. Chat only.
	Echo []string
	// Store lets OpenAI keep the responses; without it they are not stored, and the model's reasoning comes and goes
	// encrypted, in message.Message.Opaque. Responses only.
	Store bool
	// NoReasoning does not ask for reasoning: for models that do not reason, which refuse to be asked. Responses only.
	NoReasoning bool
	// OnResponse is told of every good response, before Reply returns, perhaps by several goroutines at once; nil for nobody. Of
	// a failed one the error says the same.
	OnResponse func(Response)
}

// Response is what a good response says beside its reply. It is the same type in the adapters of all providers.
type Response = wire.Response

// api is one of the two APIs.
type api string

const (
	chatAPI      api = "chat"
	responsesAPI api = "responses"
)

// Validate reports all that is wrong with the config, whichever API it is for, joined; nil when nothing is.
func (c Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("openai: config: "+format, args...))
		}
	}
	check(c.Model != "", "model: is empty: name a model")
	check(c.MaxTokens == nil || *c.MaxTokens >= 1,
		"max_tokens: must be at least 1, is %d: leave it out for the server's own limit", deref(c.MaxTokens))
	check(c.Temperature == nil || *c.Temperature >= 0 && *c.Temperature <= 2,
		"temperature: must be from 0 to 2, is %v", deref(c.Temperature))
	check(slices.Contains([]Strict{StrictAuto, StrictOff}, c.Strict), "strict: must be empty or %q, is %q", StrictOff, c.Strict)
	check(slices.Contains([]Output{OutputSchema, OutputObject, OutputText}, c.Output),
		"output: must be empty, %q or %q, is %q", OutputObject, OutputText, c.Output)
	for n, name := range c.Echo {
		check(name != "" && !slices.Contains(ownMembers, name), "echo[%d]: %q is a member that is sent anyway: take it out", n, name)
	}
	return errors.Join(faults...)
}

// ownMembers are the members of messages and calls that the adapter writes itself.
var ownMembers = []string{"role", "content", "tool_calls", "id", "type", "function", "index"}

// validateFor is Validate, and that nothing is set which the API does not have.
func (c Config) validateFor(a api) error {
	faults := []error{c.Validate()}
	misplaced := map[api][]struct {
		set  bool
		name string
	}{
		chatAPI:      {{c.Store, "store"}, {c.NoReasoning, "no_reasoning"}},
		responsesAPI: {{c.LegacyMaxTokens, "legacy_max_tokens"}, {len(c.Echo) > 0, "echo"}},
	}
	for _, m := range misplaced[a] {
		if m.set {
			faults = append(faults, fmt.Errorf("openai: config: %s: is not for the %s API: take it out", m.name, a))
		}
	}
	return errors.Join(faults...)
}

func (c Config) provider() string {
	if c.Provider == "" {
		return "openai"
	}
	return c.Provider
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
