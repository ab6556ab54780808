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

// The ways to ask for a structured answer.
const (
	// OutputNative, the zero value, gives the server the JSON Schema.
	OutputNative Output = ""
	// OutputObject asks for any JSON object (JSON mode) and tells the schema in the system prompt.
	OutputObject Output = "json_object"
	// OutputInstructions only tells the schema in the system prompt: for servers that know neither, or not
	// beside tools.
	OutputInstructions Output = "instructions"
)

// API is one of OpenAI's two APIs.
type API string

// The APIs.
const (
	// Chat, the zero value, is Chat Completions, which most other servers speak.
	Chat API = ""
	// Responses is OpenAI's newer API. The conversation is retake's own all the same: every request has all
	// of it.
	Responses API = "responses"
)

// Config says how a model is asked. Only Model is required; of every other field the zero value leaves the
// choice to the server. It is data, but for OnResponse.
type Config struct {
	// API is the one to ask through.
	API API `json:"api,omitempty"`
	// Model is the model's name as the server knows it; at Azure the deployment's. Its name in a run's ladder
	// is the run's own, and is not sent.
	Model string `json:"model"`
	// Provider names the server for classifying errors and reading rate limits: "groq", "openrouter",
	// "azure", …; empty means "openai".
	Provider string `json:"provider,omitempty"`
	// MaxTokens bounds the reply, reasoning included, in tokens; 0 for the server's own bound.
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// LegacyMaxTokens sends MaxTokens as max_tokens instead of max_completion_tokens, for servers that know
	// only that. Chat only.
	LegacyMaxTokens bool `json:"legacy_max_tokens,omitempty"`
	// Temperature is from 0 to 2, or nil. Models that reason refuse it.
	Temperature *float64 `json:"temperature,omitempty"`
	// Effort is how much a model reasons: "low", "high", or what else it knows.
	Effort string `json:"effort,omitempty"`
	// ParallelCalls says whether a reply may make several calls; sent only beside tools.
	ParallelCalls *bool `json:"parallel_calls,omitempty"`
	// Strict says where strict mode is asked for.
	Strict Strict `json:"strict,omitempty"`
	// Output is how a structured answer is asked for.
	Output Output `json:"output,omitempty"`
	// WrapArguments sends arguments that are no JSON object back as an object with the member [RawArguments]
	// that holds them, for servers that parse them (vLLM, gateways to other vendors).
	WrapArguments bool `json:"wrap_arguments,omitempty"`
	// Echo names members of an assistant's message, and of its tool calls, that the server wants back beside
	// those of OpenAI: "reasoning_details" or "reasoning" at OpenRouter, "reasoning_content" at DeepSeek,
	// "extra_content" at Gemini. They go back to the model and provider they came from alone. Chat only.
	Echo []string `json:"echo,omitempty"`
	// NoStreamOptions does not ask for the usage of a stream, for servers that refuse to be asked. Chat only.
	NoStreamOptions bool `json:"no_stream_options,omitempty"`
	// Store lets OpenAI keep the responses; without it they are not stored, and the model's reasoning comes
	// and goes encrypted, in message.Message.Opaque. Responses only.
	Store bool `json:"store,omitempty"`
	// NoReasoning does not ask for reasoning: for models that do not reason, which refuse to be asked.
	// Responses only.
	NoReasoning bool `json:"no_reasoning,omitempty"`
	// ShowThinking asks for what the model thought, or a summary of it, as Reply.Thinking. Responses
	// only: over Chat, servers tell it unasked or by settings of their own.
	ShowThinking bool `json:"show_thinking,omitempty"`
	// OnResponse is told of every good response, before Reply returns, perhaps by several goroutines at once;
	// nil for nobody. Of a failed one the error says the same.
	OnResponse func(Response) `json:"-"`
}

// Response is what a good response says beside its reply. It is the same type in the adapters of all
// providers.
type Response = wire.Response

// Validate reports every field that is out of bounds, or is not for the API, joined, each with what would be
// right.
func (c Config) Validate() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	refuse(!wire.OneOf(c.API, Chat, Responses), "API: %q is neither empty nor %q", c.API, Responses)
	refuse(wire.Blank(c.Model), "Model: is empty; name a model of the server")
	refuse(c.MaxTokens < 0, "MaxTokens: must be at least 1, or 0 for the server's own bound, not %d", c.MaxTokens)
	refuse(c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2), "Temperature: must be from 0 to 2, or nil")
	refuse(!wire.OneOf(c.Strict, StrictAuto, StrictOff), "Strict: %q is neither empty nor %q", c.Strict, StrictOff)
	refuse(!wire.OneOf(c.Output, OutputNative, OutputObject, OutputInstructions),
		"Output: %q is neither empty nor %q nor %q", c.Output, OutputObject, OutputInstructions)
	for n, name := range c.Echo {
		refuse(name == "" || slices.Contains(ownMembers, name), "Echo[%d]: %q is a member that is sent anyway: take it out", n, name)
	}
	const misplaced = "%s: is not for this API: take it out, or set API"
	refuse(c.API == Chat && c.Store, misplaced, "Store")
	refuse(c.API == Chat && c.NoReasoning, misplaced, "NoReasoning")
	refuse(c.API == Chat && c.ShowThinking, misplaced, "ShowThinking")
	refuse(c.API == Responses && c.LegacyMaxTokens, misplaced, "LegacyMaxTokens")
	refuse(c.API == Responses && c.NoStreamOptions, misplaced, "NoStreamOptions")
	refuse(c.API == Responses && len(c.Echo) > 0, misplaced, "Echo")
	return errors.Join(faults...)
}

// ownMembers are the members of messages and calls that the adapter writes itself.
var ownMembers = []string{"role", "content", "tool_calls", "id", "type", "function", "index"}

func (c Config) provider() string {
	if c.Provider == "" {
		return "openai"
	}
	return c.Provider
}
