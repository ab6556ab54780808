package chat

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// The names of the counts, in the usage and its details: those of both APIs, then those of Moonshot, Mistral,
// DeepSeek, and gateways to Anthropic; of OpenRouter, and of LiteLLM, Qwen and gateways.
var (
	inputs     = []string{"prompt_tokens", "input_tokens"}
	outputs    = []string{"completion_tokens", "output_tokens"}
	cacheReads = []string{"cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens",
		"cache_read_input_tokens"}
	cacheWrites = []string{"cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens"}
	reasonings  = []string{"reasoning_tokens"}
)

// usageOf converts the counts of both APIs. Input includes the cached tokens, and output the reasoning: xAI
// counts that apart, so that only the total has it. Of Gemini nothing else tells it. Gateways leave either
// out of the total, too: then only a part that is larger than the whole shows that it is none.
func usageOf(raw json.RawMessage, model string) message.Usage {
	u, _ := kit.ReadObject(raw)
	in := []kit.Object{u.Object("prompt_tokens_details"), u.Object("input_tokens_details"),
		u.Object("prompt_token_details"), u} // the third is Mistral's
	out := []kit.Object{u.Object("completion_tokens_details"), u.Object("output_tokens_details"), u}
	usage := message.Usage{
		InputTokens: counted(inputs, u), OutputTokens: counted(outputs, u),
		CacheReadTokens: counted(cacheReads, in...), CacheWriteTokens: counted(cacheWrites, in...),
		ReasoningTokens: counted(reasonings, out...),
	}
	total := u.Count("total_tokens")
	if usage.ReasoningTokens == 0 && strings.Contains(model, "gemini") {
		usage.ReasoningTokens = max(total-usage.Total(), 0)
	}
	thought, cached := usage.ReasoningTokens, usage.CacheReadTokens+usage.CacheWriteTokens
	if total == usage.Total()+thought || thought > usage.OutputTokens && tells(u, outputs) {
		usage = usage.Add(message.Usage{OutputTokens: thought})
	}
	if cached > usage.InputTokens && tells(u, inputs) {
		usage = usage.Add(message.Usage{InputTokens: cached})
	}
	return usage
}

// tells reports whether one of some counts is told.
func tells(u kit.Object, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return u.Get(name) != nil })
}

// promptOf returns the length of the last prompt of a reply, where xAI tells it; 0 if it is all of the input.
func promptOf(raw json.RawMessage, input int64) int64 {
	u, _ := kit.ReadObject(raw)
	if prompt := u.Object("context_details").Count("input_tokens"); prompt < input {
		return prompt
	}
	return 0
}

// latest returns the counts that are told last. Some servers tell zeros for what they do not know.
func latest(now, before message.Usage) message.Usage {
	return message.Usage{
		InputTokens:      cmp.Or(now.InputTokens, before.InputTokens),
		OutputTokens:     cmp.Or(now.OutputTokens, before.OutputTokens),
		CacheReadTokens:  cmp.Or(now.CacheReadTokens, before.CacheReadTokens),
		CacheWriteTokens: cmp.Or(now.CacheWriteTokens, before.CacheWriteTokens),
		ReasoningTokens:  cmp.Or(now.ReasoningTokens, before.ReasoningTokens),
	}
}

// counted returns the first count of some names that is not 0.
func counted(names []string, in ...kit.Object) int64 {
	for _, o := range in {
		for _, name := range names {
			if n := o.Count(name); n > 0 {
				return n
			}
		}
	}
	return 0
}

// streamUsage returns the usage in an event of a stream; nil for none. Groq puts it elsewhere, and Moonshot
// into the choice.
func streamUsage(chunk kit.Object, choices []kit.Object) json.RawMessage {
	groq := chunk.Object("x_groq")
	places := []json.RawMessage{chunk.Get("usage"), groq.Get("usage")}
	for _, choice := range choices {
		places = append(places, choice.Get("usage"))
	}
	for _, usage := range places {
		if len(usage) > 0 && string(usage) != "null" {
			return usage
		}
	}
	return nil
}
