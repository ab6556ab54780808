package kit

import (
	"regexp"
	"strconv"
)

// longest are the refusals of a reply that may be longer than the model can write, with the most that it can.
// less is what that number is too much.
var longest = []struct {
	says *regexp.Regexp
	less int64
}{
	// OpenAI
	{regexp.MustCompile(`(?i)supports at most (\d+) completion tokens`), 0},
	// OpenAI and Doubao
	{regexp.MustCompile(`(?is)max_\w*tokens\b.*integer above maximum value[.,] expected a value <= (\d+)`), 0},
	// DeepSeek and Qwen
	{regexp.MustCompile(`(?i)range of max_tokens (?:is|should be) \[1,\s*(\d+)\]`), 0},
	// Groq and Cohere
	{regexp.MustCompile(`(?i)max[_ ]tokens\W* must be less than or equal to \W?(\d+)`), 0},
	// Amazon Bedrock
	{regexp.MustCompile(`(?i)maximum tokens you requested exceeds the model limit of (\d+)`), 0},
	// Databricks
	{regexp.MustCompile(`(?i)max_tokens \(\d+\) cannot exceed (\d+)`), 0},
	// Anthropic
	{regexp.MustCompile(`(?i)max_tokens: \d+ > (\d+), which is the maximum`), 0},
	// Vertex AI
	{regexp.MustCompile(`(?i)maxOutputTokens value of \d+ but the supported range is from 1 ` +
		`\(inclusive\) to (\d+) \(exclusive\)`), 1},
}

// longestAdvice goes with such a refusal. A budget asks for replies as long as what is left of it, unless a
// config says how long they can be.
const longestAdvice = "set Config.MaxTokens to the most that the model can write"

// longestReply returns the most tokens of a reply that a model can write, if its refusal says so; else 0.
func longestReply(refusal []byte) int64 {
	for _, r := range longest {
		if found := r.says.FindSubmatch(refusal); found != nil {
			n, err := strconv.ParseInt(string(found[1]), 10, 64)
			if err == nil {
				return n - r.less
			}
		}
	}
	return 0
}
