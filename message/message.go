package message

import (
	"math"
	"slices"
)

// Role is the author of a message. The zero value is invalid.
type Role string

// The roles of a transcript. A tool message answers exactly one call, by its CallID.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Call is one tool call as the model proposed it. Like those of [Message] and [Part], its fields stand in the
// order of their names in JSON, so that plain JSON is canonical: prompts are digested without sorting.
type Call struct {
	// Arguments is the text of the arguments as the model wrote it. It is unchecked and may be invalid JSON.
	Arguments string `json:"arguments" redact:"text"`
	// ID identifies the call within its reply. It is the provider's id, or derived ("call-1") if there is
	// none.
	ID string `json:"id,omitempty" redact:"keep"`
	// Name is the tool's name as the model wrote it.
	Name string `json:"name" redact:"name"`
}

// ToolChoice says which tool a model must call: the name of a tool, or one of the constants. The zero value
// leaves the choice to the model. Tool names have no spaces.
type ToolChoice string

// The choices other than a tool's name.
const (
	// AnyTool makes the model call some tool.
	AnyTool ToolChoice = "any tool"
	// NoTool forbids tool calls.
	NoTool ToolChoice = "no tool"
)

// Tool returns the name of the tool that must be called, or "".
func (c ToolChoice) Tool() string {
	if c == AnyTool || c == NoTool {
		return ""
	}
	return string(c)
}

// Required reports whether the model must call a tool.
func (c ToolChoice) Required() bool { return c != "" && c != NoTool }

// Message is one entry of a transcript. Treat its slices as read-only after passing it on.
type Message struct {
	// CallID identifies the call that a tool message answers.
	CallID string `json:"call_id,omitempty" redact:"keep"`
	// Calls are the tool calls of an assistant message, in the order of its reply.
	Calls []Call `json:"calls,omitempty"`
	// IsError marks a tool message with feedback or a failure instead of a result.
	IsError bool `json:"is_error,omitempty"`
	// Name is the name of that call's tool.
	Name string `json:"name,omitempty" redact:"name"`
	// Opaque is what a provider wants back unchanged with an assistant message: signatures, thinking blocks.
	// Only the adapter that wrote it reads it; other adapters ignore it.
	Opaque string `json:"opaque,omitempty" redact:"text"`
	// Parts are the media of a user message or a tool's result, after Text.
	Parts []Part `json:"parts,omitempty"`
	Role  Role   `json:"role"`
	Text  string `json:"text,omitempty" redact:"text"`
}

// Clone returns a deep copy of the messages.
func Clone(said []Message) []Message {
	own := slices.Clone(said)
	for n := range own {
		own[n].Parts, own[n].Calls = slices.Clone(own[n].Parts), slices.Clone(own[n].Calls)
	}
	return own
}

// FinishReason is why a model stopped, in one vocabulary for all providers. The zero value means "unknown".
type FinishReason string

// The known finish reasons.
const (
	// Stop: the model finished.
	Stop FinishReason = "stop"
	// Length: the token limit cut off the reply.
	Length FinishReason = "length"
	// ToolUse: the model waits for the results of its calls.
	ToolUse FinishReason = "tool_use"
	// Error: the provider failed during the reply.
	Error FinishReason = "error"
	// ContentFilter: the model or a safety filter declined to continue.
	ContentFilter FinishReason = "content_filter"
	// Aborted: something else ended the reply early.
	Aborted FinishReason = "aborted"
)

// Usage counts what one or more model calls consumed. Counts are never negative; zero means none or unknown.
type Usage struct {
	// InputTokens counts the whole prompt, including tokens read from or written to a cache, even if a
	// provider counts those separately.
	InputTokens int64 `json:"input_tokens,omitempty"`
	// OutputTokens counts everything the model wrote, including its reasoning.
	OutputTokens int64 `json:"output_tokens,omitempty"`
	// CacheReadTokens and CacheWriteTokens are parts of InputTokens.
	CacheReadTokens  int64 `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty"`
	// ReasoningTokens is the part of OutputTokens for reasoning, if the provider counts it.
	ReasoningTokens int64 `json:"reasoning_tokens,omitempty"`
	// APICalls counts the model calls that are summed up here.
	APICalls int64 `json:"api_calls,omitempty"`
}

// Add returns the sum of both. A count below 0 counts as 0, and sums saturate at the largest int64.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      counted(u.InputTokens, v.InputTokens),
		OutputTokens:     counted(u.OutputTokens, v.OutputTokens),
		CacheReadTokens:  counted(u.CacheReadTokens, v.CacheReadTokens),
		CacheWriteTokens: counted(u.CacheWriteTokens, v.CacheWriteTokens),
		ReasoningTokens:  counted(u.ReasoningTokens, v.ReasoningTokens),
		APICalls:         counted(u.APICalls, v.APICalls),
	}
}

// Total returns the sum of input and output tokens, at most the largest int64.
func (u Usage) Total() int64 { return capped(u.InputTokens, u.OutputTokens) }

// counted adds two counts. Providers may report any number: one below 0 counts as 0.
func counted(a, b int64) int64 { return capped(max(a, 0), max(b, 0)) }

// capped returns a sum that saturates at the largest int64.
func capped(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Reply is a model's complete answer: text, native tool calls, or both.
type Reply struct {
	Text string `json:"text,omitempty" redact:"text"`
	// Thinking is the model's reasoning, if the provider returns it. It is not added to any prompt; what a
	// provider wants back is in Opaque.
	Thinking string `json:"thinking,omitempty" redact:"text"`
	// Calls goes into the transcript as it is. The model must not write to it after returning it.
	Calls []Call `json:"calls,omitempty"`
	// Refusal is the model's text if it declined; empty if it did not.
	Refusal string       `json:"refusal,omitempty" redact:"text"`
	Finish  FinishReason `json:"finish_reason,omitempty"`
	Usage   Usage        `json:"usage,omitzero"`
	// PromptTokens is the length of the last prompt if Usage sums up several: of a reply that took more than
	// one request, or for which a provider asked a model on its own. 0 means Usage.InputTokens.
	PromptTokens int64 `json:"prompt_tokens,omitempty"`
	// Model is the name of the model that answered, if the provider reports it.
	Model string `json:"model,omitempty" redact:"keep"`
	// Opaque goes into the transcript with the reply; see [Message].
	Opaque string `json:"opaque,omitempty" redact:"text"`
	// Source is where the reply came from, for observers. No run depends on it, and it is not recorded.
	Source Source `json:"-"`
}

// Source is where a reply came from, in the provider's own terms. Unknown members are zero.
type Source struct {
	// ID is the provider's id of the reply, and Finish its own word for the [FinishReason].
	ID, Finish string
	// Host and Port are the address of the server.
	Host string
	Port int
}
