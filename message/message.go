package message

import (
	"math"
	"slices"
)

// Role says who speaks. The zero value is invalid.
type Role string

// The roles of a transcript. A tool message answers exactly one call, named by its CallID.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Call is one tool call as the model proposed it. Arguments is the raw text the model wrote, unchecked: it
// may be no JSON at all.
type Call struct {
	// ID names the call within its reply; the provider's own where it gives one, else derived ("call-1").
	ID string `json:"id,omitempty"`
	// Name is the tool's name as the model wrote it.
	Name string `json:"name"`
	// Arguments is the raw argument text.
	Arguments string `json:"arguments"`
}

// ToolChoice says what a model is to call: the name of the one tool it must call, or one of the constants.
// The zero value leaves it to the model. No tool has a name with a space.
type ToolChoice string

// The choices that are no tool's name.
const (
	// AnyTool makes the model call a tool of its choice.
	AnyTool ToolChoice = "any tool"
	// NoTool keeps the model from calling tools.
	NoTool ToolChoice = "no tool"
)

// Tool is the name of the tool that must be called; empty where the choice names none.
func (c ToolChoice) Tool() string {
	if c == AnyTool || c == NoTool {
		return ""
	}
	return string(c)
}

// Message is one entry of a transcript. It is a value: treat Calls as read-only once the message has been
// handed over.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// Parts are the media of a user or of a tool's result, after Text: read-only, as Calls are.
	Parts []Part `json:"parts,omitempty"`
	// Calls are an assistant's tool calls, in the order of its reply.
	Calls []Call `json:"calls,omitempty"`
	// CallID and Name are those of the call that a tool message answers.
	CallID string `json:"call_id,omitempty"`
	Name   string `json:"name,omitempty"`
	// IsError marks a tool message that is feedback or a failure and not a result.
	IsError bool `json:"is_error,omitempty"`
	// Opaque is what a provider wants back unchanged with an assistant's message: signatures, thinking
	// blocks. One adapter writes and reads it, in a form of its own; nothing else looks at it, and an adapter
	// ignores another's.
	Opaque string `json:"opaque,omitempty"`
}

// Equal reports whether both messages say the same.
func (m Message) Equal(o Message) bool {
	return m.Role == o.Role && m.Text == o.Text && slices.Equal(m.Parts, o.Parts) && slices.Equal(m.Calls, o.Calls) && m.CallID == o.CallID && m.Name == o.Name &&
		m.IsError == o.IsError && m.Opaque == o.Opaque
}

// FinishReason says why a model stopped, in one vocabulary for all providers. The zero value means "not
// said".
type FinishReason string

// The known finish reasons.
const (
	// Stop: the model was done.
	Stop FinishReason = "stop"
	// Length: the reply was cut off by the token limit.
	Length FinishReason = "length"
	// ToolUse: the model waits for the results of its calls.
	ToolUse FinishReason = "tool_use"
	// Error: the provider failed half-way.
	Error FinishReason = "error"
	// ContentFilter: the model or a safety filter declined to go on.
	ContentFilter FinishReason = "content_filter"
	// Aborted: the reply was broken off from outside.
	Aborted FinishReason = "aborted"
)

// Usage counts what one or more model calls consumed. Counts are never negative; zero means none
// or unknown.
type Usage struct {
	// InputTokens counts all of the prompt, what was read from a cache and what was written to one included,
	// also where a provider counts those apart.
	InputTokens int64 `json:"input_tokens,omitempty"`
	// OutputTokens counts all that the model wrote, its thoughts included.
	OutputTokens int64 `json:"output_tokens,omitempty"`
	// CacheReadTokens and CacheWriteTokens are parts of InputTokens.
	CacheReadTokens  int64 `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty"`
	// ReasoningTokens is the part of OutputTokens that the model thought, where the provider counts it.
	ReasoningTokens int64 `json:"reasoning_tokens,omitempty"`
	// APICalls counts the model calls that the other counts sum up.
	APICalls int64 `json:"api_calls,omitempty"`
}

// Add returns the sum of both. Sums stop at the largest value that fits.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      capped(u.InputTokens, v.InputTokens),
		OutputTokens:     capped(u.OutputTokens, v.OutputTokens),
		CacheReadTokens:  capped(u.CacheReadTokens, v.CacheReadTokens),
		CacheWriteTokens: capped(u.CacheWriteTokens, v.CacheWriteTokens),
		ReasoningTokens:  capped(u.ReasoningTokens, v.ReasoningTokens),
		APICalls:         capped(u.APICalls, v.APICalls),
	}
}

// Total is the sum of input and output tokens, as [Usage.Add] sums.
func (u Usage) Total() int64 { return capped(u.InputTokens, u.OutputTokens) }

// capped adds two counts. A provider may say anything: no sum turns negative.
func capped(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Reply is what a model answered, whole: text, native tool calls, or both.
type Reply struct {
	Text string `json:"text,omitempty"`
	// Thinking is what the model thought before it answered, where the provider tells: for whoever asks. It
	// goes into no prompt; what a provider wants back of it stands in Opaque.
	Thinking string `json:"thinking,omitempty"`
	// Calls goes into the transcript as it is: whoever returned it must not write to it any more.
	Calls []Call `json:"calls,omitempty"`
	// Refusal is the model's own words where it declined; empty where it did not.
	Refusal string       `json:"refusal,omitempty"`
	Finish  FinishReason `json:"finish_reason,omitempty"`
	Usage   Usage        `json:"usage,omitzero"`
	// Model names the model that answered, where the provider says so.
	Model string `json:"model,omitempty"`
	// Opaque goes with the reply into the transcript: see [Message].
	Opaque string `json:"opaque,omitempty"`
}
