package anthropic

import (
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// Config says how a model is asked. Model and MaxTokens are required; the zero value of every other field
// leaves the choice to the API. It is data, but for OnResponse.
type Config struct {
	// Model is the model's name as the API knows it. Its name in a run's ladder is the run's own, and is not
	// sent.
	Model string `json:"model"`
	// MaxTokens bounds the reply, thinking included, in tokens; at least 1. Where it is so large that the SDK
	// sends such a request as a stream only, the reply is streamed, whether anybody listens or not.
	MaxTokens int64 `json:"max_tokens"`
	// Temperature is from 0 to 1; nil for the API's own. Many models refuse another one than 1 while they
	// think, so it must be nil or 1 with Thinking. That of a request ([loop.Request]) counts instead, under
	// the same rules: another one is an error, and nothing is sent.
	Temperature *float64 `json:"temperature,omitempty"`
	// TopP is above 0 and at most 1; nil for the API's own.
	TopP *float64 `json:"top_p,omitempty"`
	// Thinking lets the model think before it answers.
	Thinking Thinking `json:"thinking,omitzero"`
	// ShowThinking asks for what the model thought, or a summary of it, as Reply.Thinking. Only with
	// Thinking: models that think unasked tell what they like.
	ShowThinking bool `json:"show_thinking,omitempty"`
	// Effort is "low", "medium", "high", "xhigh" or "max"; empty for the API's own.
	Effort string `json:"effort,omitempty"`
	// Output is how a structured answer is asked for.
	Output Output `json:"output,omitempty"`
	// Cache marks the stable prefix of a request (tools and system prompt) for prompt caching. Off by
	// default: writing a cache costs more than it saves where it is not read again.
	Cache Cache `json:"cache,omitempty"`
	// UserID names the end user to the provider, for its detection of abuse: an opaque id, never a name or an
	// address.
	UserID string `json:"user_id,omitempty"`
	// OnResponse is told of every good response, before Reply returns, perhaps by several goroutines at once;
	// nil for nobody. Of a failed one the error says the same.
	OnResponse func(Response) `json:"-"`
}

// Response is what a good response says beside its reply. It is the same type in the adapters of all
// providers.
type Response = wire.Response

// Thinking is how a model thinks before it answers. The zero value leaves it to the API.
type Thinking struct {
	// Mode is how it thinks.
	Mode ThinkingMode `json:"mode,omitempty"`
	// BudgetTokens bounds the thoughts in [Budget] mode: at least 1024 and less than MaxTokens. 0 in other
	// modes.
	BudgetTokens int64 `json:"budget_tokens,omitempty"`
}

// ThinkingMode is how a model thinks. The zero value leaves it to the API.
type ThinkingMode string

// The modes of thinking. Which of them a model knows is for the API to say.
const (
	// Adaptive lets the model decide when and how much to think.
	Adaptive ThinkingMode = "adaptive"
	// Budget sets a budget of tokens. A request whose last calls were made without thinking (by another
	// provider, say) is sent without it: the API would refuse it.
	Budget ThinkingMode = "budget"
	// NoThinking switches thinking off.
	NoThinking ThinkingMode = "off"
)

// Output is how a structured answer is asked for.
type Output string

const (
	// OutputNative, the zero value, asks for the answer in the API's own mode (output_config), wherever the
	// schema can be said in the part of JSON Schema that the API takes; else as [OutputInstructions] does.
	OutputNative Output = ""
	// OutputInstructions puts the schema into the system prompt: for models without structured output.
	OutputInstructions Output = "instructions"
)

// Cache is how long the marked prefix is kept.
type Cache string

const (
	// NoCache, the zero value, marks nothing.
	NoCache Cache = ""
	// Cache5m keeps the prefix for five minutes after its last use.
	Cache5m Cache = "5m"
	// Cache1h keeps it for an hour.
	Cache1h Cache = "1h"
)

// minBudget is the least that the API takes as a budget for thinking.
const minBudget = 1024

// Validate reports every field that is out of bounds, joined, each with what would be right.
func (c Config) Validate() error {
	var faults []error
	refuse := func(bad bool, field, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(field+": "+format, args...))
		}
	}
	refuse(strings.TrimSpace(c.Model) == "", "Model", "is empty; name a model of the API")
	refuse(c.MaxTokens < 1, "MaxTokens", "must be at least 1, not %d", c.MaxTokens)
	refuse(c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 1), "Temperature", "must be from 0 to 1, or nil")
	refuse(c.TopP != nil && !(*c.TopP > 0 && *c.TopP <= 1), "TopP", "must be above 0 and at most 1, or nil")
	refuse(!wire.OneOf(c.Effort, "", "low", "medium", "high", "xhigh", "max"),
		"Effort", "%q is none of low, medium, high, xhigh, max", c.Effort)
	refuse(!wire.OneOf(c.Output, OutputNative, OutputInstructions), "Output", "%q is neither empty nor %q", c.Output, OutputInstructions)
	refuse(!wire.OneOf(c.Cache, NoCache, Cache5m, Cache1h), "Cache", "%q is none of %q, %q, %q", c.Cache, NoCache, Cache5m, Cache1h)
	return errors.Join(append(faults, c.thinkingFaults()...)...)
}

func (c Config) thinkingFaults() []error {
	var faults []error
	t := c.Thinking
	if !wire.OneOf(t.Mode, "", Adaptive, Budget, NoThinking) {
		faults = append(faults, fmt.Errorf("Thinking.Mode: %q is none of %q, %q, %q", t.Mode, Adaptive, Budget, NoThinking))
	}
	switch {
	case t.Mode != Budget && t.BudgetTokens != 0:
		faults = append(faults, fmt.Errorf("Thinking.BudgetTokens: must be 0 unless Mode is %q, not %d", Budget, t.BudgetTokens))
	case t.Mode == Budget && (t.BudgetTokens < minBudget || t.BudgetTokens >= c.MaxTokens):
		faults = append(faults, fmt.Errorf("Thinking.BudgetTokens: must be at least %d and less than MaxTokens (%d), not %d",
			minBudget, c.MaxTokens, t.BudgetTokens))
	}
	if c.ShowThinking && !wire.OneOf(t.Mode, Adaptive, Budget) {
		faults = append(faults, fmt.Errorf("ShowThinking: is not without thoughts: set Thinking.Mode to %q or %q, or take it out", Adaptive, Budget))
	}
	if wire.OneOf(t.Mode, Adaptive, Budget) && c.Temperature != nil && *c.Temperature != 1 {
		faults = append(faults, fmt.Errorf("%s: must be nil or 1 with Thinking", "Temperature"))
	}
	return faults
}
