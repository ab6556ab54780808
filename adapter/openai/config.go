package openai

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/adapter/kit"
)

// Strict selects when strict mode is used.
type Strict string

// The ways to use strict mode. Auto is the zero value.
const (
	// StrictAuto uses it for every schema that fits.
	StrictAuto Strict = ""
	// StrictOff never uses it, for fine-tuned models and servers without it.
	StrictOff Strict = "off"
)

// Output selects how to ask for a structured answer.
type Output string

// The ways to ask for a structured answer.
const (
	// OutputNative, the zero value, sends the JSON Schema.
	OutputNative Output = ""
	// OutputObject asks for any JSON object (JSON mode) and puts the schema into the system prompt.
	OutputObject Output = "json_object"
	// OutputInstructions only puts the schema into the system prompt, for servers that support neither, or
	// not beside tools.
	OutputInstructions Output = "instructions"
)

// API is one of OpenAI's two APIs.
type API string

// The APIs.
const (
	// Chat, the zero value, is Chat Completions, which most other servers speak.
	Chat API = ""
	// Responses is OpenAI's newer API. retake still keeps the conversation itself, and every request has
	// all of it.
	Responses API = "responses"
)

// Config configures a [Model]. Only Model is required. The zero value of every other field uses the
// server's default. All of it is data except OnResponse.
type Config struct {
	// API selects the API.
	API API `json:"api,omitempty"`
	// Model is the name of the model at the server; at Azure that of the deployment. The name of a model
	// in a policy or a ladder is not sent.
	Model string `json:"model"`
	// Provider identifies the server ("groq", "openrouter", "azure", …), for the classification of errors
	// and the parsing of rate limits; empty means "openai".
	Provider string `json:"provider,omitempty"`
	// MaxTokens bounds the reply, reasoning included, in tokens; 0 uses the server's default.
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// LegacyMaxTokens sends MaxTokens as max_tokens instead of max_completion_tokens, for servers that are
	// not known to want it. Chat only.
	LegacyMaxTokens bool `json:"legacy_max_tokens,omitempty"`
	// Temperature is from 0 to 2; nil uses the server's default. Models that reason refuse it.
	Temperature *float64 `json:"temperature,omitempty"`
	// Effort is how much the model reasons: "low", "high", or another value that it supports.
	Effort string `json:"effort,omitempty"`
	// ParallelCalls is whether a reply may make several calls. It is only sent with tools.
	ParallelCalls *bool `json:"parallel_calls,omitempty"`
	// Strict selects when strict mode is used.
	Strict Strict `json:"strict,omitempty"`
	// Output selects how to ask for a structured answer.
	Output Output `json:"output,omitempty"`
	// WrapArguments wraps arguments that are not a JSON object in an object with the member
	// [RawArguments], for servers that parse them (vLLM, gateways to other vendors).
	WrapArguments bool `json:"wrap_arguments,omitempty"`
	// Echo lists extra members of the assistant's messages and tool calls that the server wants back, such
	// as "reasoning_content". They only go back to the model and provider that sent them. nil means those
	// that Provider is known to want ([QuirksOf]); an empty list means none. Chat only.
	Echo []string `json:"echo,omitzero"`
	// Quirks replaces what is known of how the provider and the model differ ([QuirksOf]).
	Quirks *Quirks `json:"quirks,omitempty"`
	// NoStreamOptions omits the request for the usage of a stream, for servers that are not known to refuse
	// it. Chat only.
	NoStreamOptions bool `json:"no_stream_options,omitempty"`
	// Store lets OpenAI keep the responses. Without it they are not stored, and the model's reasoning
	// travels encrypted in message.Message.Opaque. Responses only.
	Store bool `json:"store,omitempty"`
	// NoReasoning omits the request for encrypted reasoning, for models that are not known to have none and
	// refuse it. Effort and ShowThinking say that a model reasons. Responses only.
	NoReasoning bool `json:"no_reasoning,omitempty"`
	// ShowThinking returns what the model thought, or a summary of it, as Reply.Thinking. Responses only:
	// over Chat, servers have settings of their own.
	ShowThinking bool `json:"show_thinking,omitempty"`
	// OnResponse is called with every successful response, before Reply returns. It may be called
	// concurrently; nil calls nothing. The error of a failed response has the same data.
	OnResponse func(Response) `json:"-"`
}

// Response is the data of a successful response beside the reply. All provider adapters share the type.
type Response = kit.Response

// Validate returns an error that joins one for each field that is out of bounds or does not apply to the
// API, each with the valid values.
func (c Config) Validate() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	refuse(!kit.OneOf(c.API, Chat, Responses), "API: %q is neither empty nor %q", c.API, Responses)
	refuse(kit.Blank(c.Model), "Model: is empty; name a model of the server")
	refuse(c.MaxTokens < 0, "MaxTokens: must be at least 1, or 0 for the server's own bound, not %d", c.MaxTokens)
	refuse(c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2), "Temperature: must be from 0 to 2, or nil")
	refuse(!kit.OneOf(c.Strict, StrictAuto, StrictOff), "Strict: %q is neither empty nor %q", c.Strict,
		StrictOff)
	refuse(!kit.OneOf(c.Output, OutputNative, OutputObject, OutputInstructions),
		"Output: %q is neither empty nor %q nor %q", c.Output, OutputObject, OutputInstructions)
	for n, name := range c.Echo {
		refuse(isOwn(name), ownMember, fmt.Sprintf("Echo[%d]", n), name)
	}
	if c.Quirks != nil {
		faults = append(faults, quirkFaults(*c.Quirks)...)
	}
	const misplaced = "%s: does not apply to this API: remove it, or set API"
	refuse(c.API == Chat && c.Store, misplaced, "Store")
	refuse(c.API == Chat && c.NoReasoning, misplaced, "NoReasoning")
	refuse(c.API == Chat && c.ShowThinking, misplaced, "ShowThinking")
	refuse(c.API == Responses && c.LegacyMaxTokens, misplaced, "LegacyMaxTokens")
	refuse(c.API == Responses && c.NoStreamOptions, misplaced, "NoStreamOptions")
	refuse(c.API == Responses && len(c.Echo) > 0, misplaced, "Echo")
	return errors.Join(faults...)
}

func (c Config) provider() string {
	if c.Provider == "" {
		return "openai"
	}
	return c.Provider
}
