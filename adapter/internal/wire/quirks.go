package wire

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Quirks are where a server differs from OpenAI's Chat Completions API, which it speaks. The zero value
// differs in nothing.
type Quirks struct {
	// Echo lists extra members of the assistant's messages and of its calls that the server wants back.
	Echo []string `json:"echo,omitempty"`
	// FillMessage are members that a message with calls must have: what the server gets if there are none
	// to echo. FillCall are those of the first call of such a message, if none of its calls has any.
	FillMessage map[string]json.RawMessage `json:"fill_message,omitempty"`
	FillCall    map[string]json.RawMessage `json:"fill_call,omitempty"`
	// MaxID bounds the id of a call, in bytes; 0 is no bound. ExactID is the number of letters and digits
	// of which every id must be; 0 is no such rule. The ids that a server gave itself always go back.
	MaxID   int `json:"max_id,omitempty"`
	ExactID int `json:"exact_id,omitempty"`
	// Source is where all this is documented.
	Source string `json:"source,omitempty"`
}

// quirks are the known servers by their names. Each row has its source.
var quirks = []struct {
	names  []string
	quirks Quirks
}{
	{[]string{"openai", "azure", "azureopenai"}, Quirks{
		MaxID: 40, Source: "https://github.com/vercel/ai/issues/5171 (string_above_max_length)",
	}},
	{[]string{"deepseek"}, Quirks{
		Echo: []string{"reasoning_content"}, FillMessage: noReasoning,
		Source: "https://api-docs.deepseek.com/guides/thinking_mode#tool-calls; empty reasoning: https://github.com/deepseek-ai/deepseek-harness/discussions/739",
	}},
	{[]string{"moonshot", "moonshotai", "kimi"}, Quirks{
		Echo: []string{"reasoning_content"}, FillMessage: noReasoning,
		Source: "https://github.com/bytedance/deer-flow/issues/3043; empty reasoning: https://github.com/Lapis0x0/obsidian-yolo/pull/243",
	}},
	{[]string{"zai", "zhipu", "zhipuai", "bigmodel"}, Quirks{
		Echo: []string{"reasoning_content"}, Source: "https://docs.z.ai/guides/capabilities/thinking-mode",
	}},
	{[]string{"openrouter"}, Quirks{
		Echo: []string{"reasoning_details"}, MaxID: 40,
		Source: "https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks; ids: https://github.com/openclaw/openclaw/pull/875",
	}},
	{[]string{"novita"}, Quirks{
		Echo: []string{"reasoning_details"}, Source: "https://novita.ai/docs/guides/llm-interleaved-thinking",
	}},
	{[]string{"gemini", "google", "googleai", "googlegenai", "vertex", "vertexai", "gcpgemini", "gcpvertexai"}, Quirks{
		Echo: []string{"extra_content"}, FillCall: map[string]json.RawMessage{
			"extra_content": json.RawMessage(`{"google":{"thought_signature":"` + UncheckedSignature + `"}}`),
		},
		Source: "https://ai.google.dev/gemini-api/docs/thought-signatures#openai",
	}},
	{[]string{"litellm", "litellmproxy"}, Quirks{
		Echo: []string{"thinking_blocks"}, Source: "https://docs.litellm.ai/docs/reasoning_content",
	}},
	{[]string{"localai"}, Quirks{
		Echo: []string{"reasoning"}, Source: "https://localai.io/features/interleaved-thinking/",
	}},
	{[]string{"mistral", "mistralai"}, Quirks{
		ExactID: 9, Source: "ids: https://github.com/anomalyco/opencode/issues/1680",
	}},
}

// noReasoning stands for the reasoning of a message that has none, or of another model.
var noReasoning = map[string]json.RawMessage{"reasoning_content": json.RawMessage(`""`)}

// UncheckedSignature is Google's value in place of the signature of a call that another model made.
const UncheckedSignature = "skip_thought_signature_validator"

// unsigned matches the models of Google that require no signatures.
var unsigned = regexp.MustCompile(`gemini-[12]([.-]|$)|gemma`)

// NeedsSignature reports whether a model of Google requires that calls have signatures.
func NeedsSignature(model string) bool { return !unsigned.MatchString(model) }

// QuirksOf returns the quirks of a provider by its name, in any case and with any punctuation; the zero
// value for an unknown one. The result is a copy.
func QuirksOf(provider, model string) Quirks {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(provider))
	for _, row := range quirks {
		if slices.Contains(row.names, name) {
			q := row.quirks.Clone()
			if !NeedsSignature(model) {
				q.FillCall = nil
			}
			return q
		}
	}
	return Quirks{}
}

// Clone returns a copy that shares nothing with q.
func (q Quirks) Clone() Quirks {
	q.Echo = slices.Clone(q.Echo)
	q.FillMessage, q.FillCall = cloneMembers(q.FillMessage), cloneMembers(q.FillCall)
	return q
}

func cloneMembers(m map[string]json.RawMessage) map[string]json.RawMessage {
	if m == nil {
		return nil
	}
	own := make(map[string]json.RawMessage, len(m))
	for name, v := range m {
		own[name] = slices.Clone(v)
	}
	return own
}
