package chat

import (
	"cmp"
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

// DefaultURL is the address of OpenAI's own server.
const DefaultURL = "https://api.openai.com/v1"

// Config configures a [Model]. Only Model is required. The zero value of every other field uses the
// server's default. All of it is data except OnResponse.
type Config struct {
	// URL is the address of the API with its version, http or https; empty means [DefaultURL].
	URL string `json:"url,omitempty"`
	// Key is sent as a bearer token; empty for none. It is in no error, in no JSON form and in nothing that
	// package fmt prints.
	Key string `json:"-"`
	// API selects the API.
	API API `json:"api,omitempty"`
	// Model is the name of the model at the server; at Azure that of the deployment. The name of a model
	// in a policy or a ladder is not sent.
	Model string `json:"model"`
	// Provider identifies the server ("groq", "openrouter", "azure", …), for the classification of errors and
	// the parsing of rate limits, and for what it wants otherwise than OpenAI ([QuirksOf]); empty means the
	// one whose own server URL names, else "openai".
	Provider string `json:"provider,omitempty"`
	// MaxTokens bounds the reply, reasoning included, in tokens; 0 uses the server's default. Under a budget
	// of tokens or money set it to at most what the model can write: what is left is asked for otherwise, and
	// servers refuse a bound above the model's own.
	MaxTokens int64 `json:"max_tokens,omitempty"`
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
	// [kit.RawArguments], for servers that parse them (gateways to other vendors) where [Quirks] do not say
	// so.
	WrapArguments bool `json:"wrap_arguments,omitempty"`
	// Echo lists extra members of the assistant's messages and tool calls that the server wants back, such
	// as "reasoning_content". They only go back to the model and provider that sent them. nil means those
	// that Provider is known to want ([QuirksOf]); an empty list means none. Chat only.
	Echo []string `json:"echo,omitzero"`
	// Quirks replaces what else is known of how the provider and the model differ ([QuirksOf]).
	Quirks *Quirks `json:"quirks,omitempty"`
	// Store lets OpenAI keep the responses. Without it they are not stored, and the model's reasoning
	// travels encrypted in message.Message.Opaque. Responses only.
	Store bool `json:"store,omitempty"`
	// ShowThinking returns what the model thought, or a summary of it, as Reply.Thinking. Responses only:
	// over Chat, servers have settings of their own.
	ShowThinking bool `json:"show_thinking,omitempty"`
	// OnResponse is called with every successful response, before Reply returns. It may be called
	// concurrently; nil calls nothing. The error of a failed response has the same data.
	OnResponse func(kit.Response) `json:"-"`
}

// Format implements [fmt.Formatter]: no log has the key.
func (c Config) Format(to fmt.State, verb rune) {
	type shown Config
	if c.Key != "" {
		c.Key = "[key left out]"
	}
	fmt.Fprintf(to, fmt.FormatString(to, verb), shown(c))
}

// Validate returns an error that joins one for each field that is out of bounds or does not apply to the
// API, each with the valid values.
func (c Config) Validate() error {
	var f kit.Faults
	f.Address(cmp.Or(c.URL, DefaultURL), c.Key, apis[c.API].path)
	f.Model(c.Model)
	f.Tokens("MaxTokens", c.MaxTokens)
	f.Range("Temperature", c.Temperature, 0, 2)
	kit.OneOf(&f, "API", c.API, Chat, Responses)
	kit.OneOf(&f, "Strict", c.Strict, StrictAuto, StrictOff)
	kit.OneOf(&f, "Output", c.Output, OutputNative, OutputObject, OutputInstructions)
	for n, name := range c.Echo {
		f.Refuse(isOwn(name), ownMember, fmt.Sprintf("Echo[%d]", n), name)
	}
	if c.Quirks != nil {
		c.Quirks.check(&f)
	}
	isChat := c.API != Responses
	for _, one := range []struct {
		field     string
		misplaced bool
	}{
		{"Store", isChat && c.Store}, {"ShowThinking", isChat && c.ShowThinking},
		{"Echo", !isChat && len(c.Echo) > 0},
	} {
		f.Refuse(one.misplaced, "%s: does not apply to this API: remove it, or set API", one.field)
	}
	return f.Err()
}

func (c Config) provider() string { return cmp.Or(c.Provider, "openai") }
