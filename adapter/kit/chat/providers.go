package chat

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
)

// Quirks are where a server or a model differs from OpenAI's APIs, which it speaks. The zero value differs in
// nothing.
type Quirks struct {
	// FillMessage are members that a message with calls must have: what the server gets if there are none
	// to echo. FillCall are those of the first call of such a message, if none of its calls has any.
	FillMessage map[string]json.RawMessage `json:"fill_message,omitempty"`
	FillCall    map[string]json.RawMessage `json:"fill_call,omitempty"`
	// MaxID bounds the id of a call, in bytes; 0 is no bound. ExactID is the number of letters and digits
	// of which every id must be; 0 is no such rule. The ids that a server gave itself always go back.
	MaxID   int `json:"max_id,omitempty"`
	ExactID int `json:"exact_id,omitempty"`
	// LegacyMaxTokens says that it takes max_tokens and refuses or ignores max_completion_tokens,
	// NoStreamOptions that it refuses stream_options.
	LegacyMaxTokens bool `json:"legacy_max_tokens,omitempty"`
	NoStreamOptions bool `json:"no_stream_options,omitempty"`
	// ParsesArguments says that it parses the arguments of calls that come back, and refuses the request if
	// they are no JSON object: they go back as by WrapArguments of a [Config].
	ParsesArguments bool `json:"parses_arguments,omitempty"`
	// OneStrict says that all tools of a request must be in strict mode, or none.
	OneStrict bool `json:"one_strict,omitempty"`
	// TypedSchemas says that it refuses a request with a schema without a type, or with rules beside a
	// reference or anyOf, as Moonshot does: such schemas are sent in other words.
	TypedSchemas bool `json:"typed_schemas,omitempty"`
	// NoReasoning says that the model does not reason and refuses the request for encrypted reasoning. Effort
	// and ShowThinking of a [Config] say that it does.
	NoReasoning bool `json:"no_reasoning,omitempty"`
	// Source is where all this is documented.
	Source string `json:"source,omitempty"`
}

// providerQuirks are the quirks of a provider, its names with spaces between them, and what it wants back:
// see [Config].Echo.
type providerQuirks struct {
	names  string
	echo   []string
	quirks Quirks
}

// known are the known providers. Each row has its source.
var known = []providerQuirks{
	{"openai azure azureopenai", nil, Quirks{
		MaxID: 40, Source: "https://github.com/vercel/ai/issues/5171 (string_above_max_length)",
	}},
	{"deepseek", []string{reasoningContent}, Quirks{
		FillMessage: noReasoning, LegacyMaxTokens: true,
		Source: "https://api-docs.deepseek.com/guides/thinking_mode#tool-calls; empty reasoning: " +
			"https://github.com/deepseek-ai/deepseek-harness/discussions/739; max_tokens: " +
			"https://github.com/earendil-works/pi/issues/8018",
	}},
	{"moonshot moonshotai kimi", []string{reasoningContent}, Quirks{
		FillMessage: noReasoning, TypedSchemas: true,
		Source: "https://github.com/bytedance/deer-flow/issues/3043; empty reasoning: " +
			"https://github.com/Lapis0x0/obsidian-yolo/pull/243; schemas: " + flavoredSource,
	}},
	{"zai zhipu zhipuai bigmodel", []string{reasoningContent}, Quirks{
		LegacyMaxTokens: true,
		Source: "https://docs.z.ai/guides/capabilities/thinking-mode; max_tokens: " +
			"https://docs.z.ai/api-reference/llm/chat-completion",
	}},
	{"openrouter", []string{"reasoning_details"}, Quirks{
		MaxID: 40, ParsesArguments: true,
		Source: "https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks; ids: " +
			"https://github.com/openclaw/openclaw/pull/875; arguments: " +
			"https://github.com/NorthlandPositronics/Cogtrix/issues/2289",
	}},
	{"novita", []string{"reasoning_details"}, Quirks{
		Source: "https://novita.ai/docs/guides/llm-interleaved-thinking",
	}},
	{"gemini google googleai googlegenai vertex vertexai gcpgemini gcpvertexai", []string{"extra_content"}, Quirks{
		FillCall: members{
			"extra_content": json.RawMessage(`{"google":{"thought_signature":"` + kit.UncheckedSignature +
				`"}}`),
		},
		Source: "https://ai.google.dev/gemini-api/docs/thought-signatures#openai",
	}},
	{"vercel vercelaigateway", []string{"reasoning_details"}, Quirks{
		Source: "https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions/advanced; " +
			"https://community.vercel.com/t/36443",
	}},
	{"minimax", []string{"reasoning_details"}, Quirks{
		Source: "https://platform.minimax.io/docs/api-reference/text-openai-api",
	}},
	{"copilot githubcopilot", []string{"reasoning_text", "reasoning_opaque"}, Quirks{
		Source: "https://github.com/anomalyco/opencode/issues/4468",
	}},
	{"litellm litellmproxy", []string{"thinking_blocks"}, Quirks{
		ParsesArguments: true,
		Source: "https://docs.litellm.ai/docs/reasoning_content; arguments: " +
			"https://github.com/openai/openai-agents-python/issues/2061",
	}},
	{"localai", []string{"reasoning"}, Quirks{
		Source: "https://localai.io/features/interleaved-thinking/",
	}},
	{"mistral mistralai", nil, Quirks{
		ExactID: 9, LegacyMaxTokens: true, NoStreamOptions: true,
		Source: "ids: https://github.com/anomalyco/opencode/issues/1680; max_tokens: " +
			"https://github.com/editor-code-assistant/eca/issues/231; " +
			"stream_options: https://github.com/BerriAI/litellm/issues/8978, " +
			"https://github.com/neuron-core/neuron-ai/issues/212",
	}},
	{"cerebras", nil, Quirks{
		OneStrict: true, Source: "https://github.com/mpfaffenberger/code_puppy/pull/368",
	}},
	{"vllm hostedvllm", []string{"reasoning"}, Quirks{
		ParsesArguments: true, Source: "https://docs.vllm.ai/en/latest/features/interleaved_thinking; " +
			"arguments: https://github.com/vllm-project/vllm/issues/43995",
	}},
	{"sglang", nil, Quirks{
		ParsesArguments: true, Source: "https://github.com/sgl-project/sglang/pull/28035",
	}},
	{"llamacpp llamaserver", nil, Quirks{
		ParsesArguments: true, Source: "https://github.com/ggml-org/llama.cpp/pull/25583",
	}},
	{"ollama", nil, Quirks{
		ParsesArguments: true, LegacyMaxTokens: true,
		Source: "https://github.com/ollama/ollama/blob/main/openai/openai.go; max_tokens: " +
			"https://github.com/ollama/ollama/issues/7125",
	}},
	{"together togetherai", nil, Quirks{
		LegacyMaxTokens: true,
		Source:          "https://docs.together.ai/reference/chat-completions-1",
	}},
	{"qwen dashscope alibaba bailian modelstudio", nil, Quirks{
		ParsesArguments: true, Source: "https://github.com/HKUDS/nanobot/issues/1487",
	}},
	{"cloudflare workersai cloudflareworkersai", nil, Quirks{
		ParsesArguments: true, Source: "https://github.com/sinameraji/kimiflare/pull/52",
	}},
	{"huggingface hf", nil, Quirks{
		ParsesArguments: true, LegacyMaxTokens: true,
		Source: "https://github.com/huggingface/physics-intern/pull/6; max_tokens: " +
			"https://huggingface.co/docs/inference-providers/tasks/chat-completion",
	}},
}

// hosts are the providers whose own servers have a host of a domain.
var hosts = map[string]string{
	"deepseek.com": "deepseek", "moonshot.ai": "moonshot", "moonshot.cn": "moonshot", "kimi.com": "moonshot", "z.ai": "zai",
	"bigmodel.cn": "zai", "openrouter.ai": "openrouter",
	"novita.ai": "novita", "googleapis.com": "gemini", "mistral.ai": "mistral", "cerebras.ai": "cerebras",
	"groq.com": "groq", "x.ai": "xai", "azure.com": "azure", "githubcopilot.com": "copilot",
	"minimax.io": "minimax", "minimaxi.com": "minimax", "dashscope.aliyuncs.com": "qwen",
	"dashscope-intl.aliyuncs.com": "qwen", "huggingface.co": "huggingface",
	"ai-gateway.vercel.sh": "vercel", "together.ai": "together", "together.xyz": "together",
}

// providerAt returns the provider whose own server has an address; empty for any other.
func providerAt(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(at.Hostname())
	for {
		if name := hosts[host]; name != "" {
			return name
		}
		_, above, ok := strings.Cut(host, ".")
		if !ok {
			return ""
		}
		host = above
	}
}

// reasoningContent is DeepSeek's member for what a model thought, which many servers have.
const reasoningContent = "reasoning_content"

// noReasoning stands for the reasoning of a message that has none, or of another model.
var noReasoning = members{reasoningContent: json.RawMessage(`""`)}

// wantsReasoning matches the models that refuse a call of theirs without its reasoning, whichever server they
// run behind: https://github.com/bytedance/deer-flow/issues/2990,
// https://github.com/esengine/DeepSeek-Reasonix/issues/6173,
// https://github.com/smallmain/vscode-unify-chat-provider/issues/286. DeepSeek R1 must not get it:
// https://github.com/vercel/ai/pull/14739.
var wantsReasoning = regexp.MustCompile(`(?i)(^|/)(deepseek-[^r/]|kimi-|mimo-)[^/]*$`)

// kimi matches Moonshot's models: gateways pass on the schemas that its servers refuse.
var kimi = regexp.MustCompile(`(?i)(^|[/.])kimi-`)

const flavoredSource = "https://github.com/MoonshotAI/walle/blob/main/docs/walle.md, " +
	"https://github.com/MoonshotAI/kimi-cli/issues/1595, https://github.com/anomalyco/opencode/issues/37496"

// noReasoners matches the models of OpenAI that do not reason.
var noReasoners = regexp.MustCompile(`^(openai/)?(gpt-3\.5|gpt-4|chatgpt-4o|gpt-5[.0-9]*-chat)`)

const noReasonersSource = "encrypted reasoning: https://github.com/pydantic/pydantic-ai/issues/2865, " +
	"https://github.com/pydantic/pydantic-ai/issues/3326, " +
	"https://github.com/miquido/draive/issues/399"

// knownOf returns what is known of a provider by its name.
func knownOf(provider string) providerQuirks {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(provider))
	is := func(row providerQuirks) bool { return slices.Contains(strings.Fields(row.names), name) }
	if n := slices.IndexFunc(known, is); n >= 0 {
		return known[n]
	}
	return providerQuirks{}
}

// QuirksOf returns the quirks of a provider by its name, in any case and with any punctuation; the zero
// value for an unknown one. The result is a copy.
func QuirksOf(provider, model string) Quirks {
	q := knownOf(provider).quirks.clone()
	if !kit.NeedsSignature(model) {
		q.FillCall = nil
	}
	if kimi.MatchString(model) && !q.TypedSchemas {
		q.TypedSchemas, q.Source = true, strings.TrimPrefix(q.Source+"; schemas: "+flavoredSource, "; ")
	}
	if noReasoners.MatchString(model) {
		q.NoReasoning, q.Source = true, strings.TrimPrefix(q.Source+"; "+noReasonersSource, "; ")
	}
	return q
}

// clone returns a copy that shares nothing with q.
func (q Quirks) clone() Quirks {
	q.FillMessage, q.FillCall = cloneMembers(q.FillMessage), cloneMembers(q.FillCall)
	return q
}

func cloneMembers(m members) members {
	if m == nil {
		return nil
	}
	own := make(members, len(m))
	for name, v := range m {
		own[name] = slices.Clone(v)
	}
	return own
}
