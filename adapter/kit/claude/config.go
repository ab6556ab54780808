package claude

import (
	"cmp"
	"fmt"

	"github.com/retake-go/retake/adapter/kit"
)

// DefaultURL is the address of the API itself.
const DefaultURL = "https://api.anthropic.com"

// The versions of the API.
const (
	// Version2023 takes Temperature and TopP, which the newest models refuse.
	Version2023 = "2023-06-01"
	// Version2026 has neither.
	Version2026 = "2026-10-21"
)

// Config configures a [Model]. Model and MaxTokens are required. The zero value of every other field uses
// the API's default. All of it is data except OnResponse.
type Config struct {
	// URL is the address of the API without its version, http or https; empty means [DefaultURL].
	URL string `json:"url,omitempty"`
	// Key is sent as X-Api-Key; empty for none. It is in no error, in no JSON form and in nothing that
	// package fmt prints.
	Key string `json:"-"`
	// Version is that of the API; empty means [Version2026]. The client of an SDK has a version of its own,
	// which is what empty means there: set it if the client asks for another.
	Version string `json:"version,omitempty"`
	// Model is the name of the model at the API. The name of a model in a policy or a ladder is not sent.
	Model string `json:"model"`
	// MaxTokens bounds the reply, thinking included, in tokens; at least 1. Replies of more than 21,333
	// tokens are streamed even if nobody listens, because they may take very long.
	MaxTokens int64 `json:"max_tokens"`
	// Temperature is from 0 to 1, and only in [Version2023]; nil uses the API's default. Many models accept
	// only 1 while they think, so it must be nil or 1 with Thinking. The temperature of a request
	// ([loop.Request]) takes precedence. If the API would refuse that, Reply returns an error and sends
	// nothing.
	Temperature *float64 `json:"temperature,omitempty"`
	// TopP is above 0 and at most 1, and only in [Version2023]; nil uses the API's default.
	TopP *float64 `json:"top_p,omitempty"`
	// Thinking lets the model think before it answers.
	Thinking Thinking `json:"thinking,omitzero"`
	// ShowThinking returns what the model thought, or a summary of it, as Reply.Thinking. It needs
	// Thinking.
	ShowThinking bool `json:"show_thinking,omitempty"`
	// Effort is "low", "medium", "high", "xhigh" or "max"; empty uses the API's default.
	Effort string `json:"effort,omitempty"`
	// Output selects how to ask for a structured answer.
	Output Output `json:"output,omitempty"`
	// Cache marks what the next request of a run repeats for prompt caching: tools, system prompt, and the
	// user's newest two turns; not the turn of a request without tools that begins a conversation. The system
	// prompt is marked in such a request, too, for other runs to read. It is off by default: writing a cache
	// that is not read again costs more than it saves, so leave it off where each run has a system prompt of
	// its own and asks once.
	Cache Cache `json:"cache,omitempty"`
	// UserID identifies the end user to the provider, which uses it to detect abuse. Use an opaque id, not
	// a name or an address.
	UserID string `json:"user_id,omitempty"`
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

// Thinking configures how a model thinks before it answers. The zero value leaves it to the API.
type Thinking struct {
	// Mode selects how the model thinks.
	Mode ThinkingMode `json:"mode,omitempty"`
	// BudgetTokens bounds the thoughts in [Budget] mode: at least 1024 and less than MaxTokens. It is 0 in
	// other modes.
	BudgetTokens int64 `json:"budget_tokens,omitempty"`
}

// ThinkingMode selects how a model thinks. The zero value leaves it to the API.
type ThinkingMode string

// The modes of thinking. Not every model supports every mode.
const (
	// Adaptive lets the model decide when and how much to think.
	Adaptive ThinkingMode = "adaptive"
	// Budget sets a budget of tokens. If the last calls in the transcript were made without thinking, for
	// example by another provider, the request is sent without a budget, because the API would refuse it. A
	// request that bounds its reply below the budget lowers it; below 1025 tokens the model does not think.
	Budget ThinkingMode = "budget"
	// NoThinking switches thinking off.
	NoThinking ThinkingMode = "off"
)

// Output selects how to ask for a structured answer.
type Output string

const (
	// OutputNative, the zero value, uses the API's own structured output (output_config) if the API
	// supports the schema. Otherwise it works as [OutputInstructions].
	OutputNative Output = ""
	// OutputInstructions puts the schema into the system prompt, for models without structured output.
	OutputInstructions Output = "instructions"
)

// Cache is the time for which the marked prefix is cached.
type Cache string

const (
	// NoCache, the zero value, marks nothing.
	NoCache Cache = ""
	// Cache5m keeps the prefix for five minutes after its last use.
	Cache5m Cache = "5m"
	// Cache1h keeps it for an hour.
	Cache1h Cache = "1h"
)

// noSampling is what is wrong with a setting that newer versions of the API refuse.
const noSampling = "the API has none since version " + Version2026 + ": remove it, or ask for Version " +
	Version2023

// minBudget is the API's smallest thinking budget, in tokens.
const minBudget = 1024

// Validate returns an error that joins one for each field that is out of bounds, each with the valid
// values.
func (c Config) Validate() error {
	var f kit.Faults
	f.Address(cmp.Or(c.URL, DefaultURL), c.Key, path)
	kit.OneOf(&f, "Version", c.Version, "", Version2023, Version2026)
	f.Refuse(c.Version != Version2023 && c.Temperature != nil, "Temperature: "+noSampling)
	f.Refuse(c.Version != Version2023 && c.TopP != nil, "TopP: "+noSampling)
	f.Model(c.Model)
	f.Refuse(c.MaxTokens < 1, "MaxTokens: must be at least 1, not %d", c.MaxTokens)
	f.Range("Temperature", c.Temperature, 0, 1)
	f.Share("TopP", c.TopP)
	kit.OneOf(&f, "Effort", c.Effort, "", "low", "medium", "high", "xhigh", "max")
	kit.OneOf(&f, "Output", c.Output, OutputNative, OutputInstructions)
	kit.OneOf(&f, "Cache", c.Cache, NoCache, Cache5m, Cache1h)
	t := c.Thinking
	kit.OneOf(&f, "Thinking.Mode", t.Mode, "", Adaptive, Budget, NoThinking)
	f.Refuse(t.Mode != Budget && t.BudgetTokens != 0,
		"Thinking.BudgetTokens: must be 0 unless Mode is %q, not %d", Budget, t.BudgetTokens)
	f.Refuse(t.Mode == Budget && (t.BudgetTokens < minBudget || t.BudgetTokens >= c.MaxTokens),
		"Thinking.BudgetTokens: must be at least %d and less than MaxTokens (%d), not %d", minBudget,
		c.MaxTokens, t.BudgetTokens)
	f.Refuse(c.ShowThinking && !t.on(),
		"ShowThinking: needs thinking: set Thinking.Mode to %q or %q, or remove it", Adaptive, Budget)
	f.Refuse(t.on() && c.Temperature != nil && *c.Temperature != 1,
		"Temperature: must be nil or 1 with Thinking")
	return f.Err()
}

// on reports whether the model thinks.
func (t Thinking) on() bool { return t.Mode == Adaptive || t.Mode == Budget }
