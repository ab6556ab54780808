package fault

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/retake-go/retake/internal/httphint"
)

// Metadata describes the call that failed (ProviderErrorMetadata of agent errors). All of it is optional.
type Metadata struct {
	// Provider and Model are names as configured: "openai", "gpt-4o".
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// StatusCode is the HTTP status. It is for debugging; no message to users shows it.
	StatusCode int `json:"status_code,omitempty"`
	// RetryAfter is the wait that the server asked for, or 0.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
}

// UserMessage says to a person what went wrong and what to do next, without jargon. It is made of the class
// and the metadata's names alone: nothing a provider wrote is in it. The same arguments always give the same
// text. A class of the user's own gets the text of Unknown.
func UserMessage(c Class, m Metadata) string {
	text, known := userMessages()[c]
	if !known {
		text = userMessages()[Unknown]
	}
	return capitalised(strings.NewReplacer(
		"{provider}", displayProvider(m.Provider), "{model}", displayModel(m.Model), "{wait}",
		displayWait(m.RetryAfter),
	).Replace(text))
}

// userMessages is userTable, read once.
var userMessages = sync.OnceValue(func() map[Class]string {
	all := map[Class]string{}
	for class, text := range rows(strings.ReplaceAll(userTable, "\n  ", " ")) {
		all[Class(class)] = text
	}
	return all
})

// userTable has a text for every built-in class. It goes on in lines that are indented.
const userTable = `
rate_limit: {provider} is receiving too many requests from you right now. {wait}
timeout: {provider} took too long to answer. Try again; if it keeps happening, try a shorter request.
unavailable: {provider} is having problems at the moment. {wait}
overloaded: {provider} is very busy at the moment. {wait}
network: Cannot connect to {provider}. Check your internet connection and try again.
auth: Cannot sign in to {provider}. Check your API key in settings.
permission: Your account with {provider} is not allowed to do this. Check the account's access, or use
  another model.
billing: Your account with {provider} has no credit left, or has reached its spending limit. Check its plan
  and billing.
quota: Your allowance at {provider} is used up for now. Wait until it renews, upgrade your plan, or use
  another model.
model_not_found: {model} is not available at {provider}. Choose another model in settings.
context_length: The conversation is too long for {model}. Shorten it, or start a new one.
invalid_request: {provider} could not work with this request. Change it and try again.
content_filter: The safety filter of {provider} stopped this request. Rephrase it and try again.
invalid_response: {provider} sent an answer that cannot be read. Try again, or use another model.
cancelled: The request was stopped before it finished.
deadline_exceeded: There was not enough time to finish. Allow more time, or ask for less at once.
unknown: Something unexpected went wrong. Try again; if it keeps happening, look at the log.
provider_not_configured: {provider} is not set up yet. Add its API key in settings.
provider_not_supported: {provider} is not supported. Choose another provider in settings.
config: A setting is missing or wrong. Check your settings.
event_timeout: Another system took too long to answer. Try again in a little while.
event_unavailable: Another system cannot be reached at the moment. Try again in a few minutes.
event_rejected: Another system turned the request down. Check what was asked for.
event_invalid_response: Another system sent an answer that makes no sense. Tell whoever looks after it.
invalid_input: The input cannot be used. Check it and try again.
io: A file or connection could not be read or written. Check that it is there and try again.
permission_denied: Access was denied. Check that you are allowed to use this file or service.
not_found: What was asked for could not be found. Check its name and place.
llm_assist_required: This step needs more guidance. Describe in more detail what you want.
tool_execution: One of the steps failed. Try again, or describe the task differently.
max_iterations: The task took more steps than allowed. Split it into smaller ones.
initialization: The assistant could not start. Check your settings and try again.
tool_validation: The assistant made a mistake while preparing a step. Try again, or describe the task
  differently.
structured_output: The assistant's answer did not have the right form. Try again, or describe the task
  differently.
unknown_tool: The assistant tried something that is not possible here. Try again, or describe the task
  differently.
no_output: The assistant gave no answer. Try again.
truncated: The answer was too long and was cut off. Ask for less at once.
refusal: The assistant declined to answer this. Rephrase your request.
reducer: The assistant's answer could not be saved. Try again.
no_progress: The assistant took the same steps again and again. Try again, or describe the task differently.
`

// providerNames are the names people know the providers by, each with that of canonicalProvider.
var providerNames = httphint.Lookup(`
OpenAI: openai
Azure OpenAI: azure
Anthropic: anthropic
Google Gemini: gemini
Amazon Bedrock: bedrock
Groq: groq
Mistral: mistral
Cerebras: cerebras
OpenRouter: openrouter
Cohere: cohere
Ollama: ollama
xAI: xai
DeepSeek: deepseek
Together AI: together
Fireworks AI: fireworks
GitHub Models: github
Perplexity: perplexity
Hugging Face: huggingface
Z.ai: zhipu
MiniMax: minimax
`)

// providerAliases are the other names that systems have for providers, folded.
var providerAliases = httphint.Lookup(`
azure: azure_openai azure.ai.openai azure.ai.inference azureopenai
anthropic: claude
gemini: google google_genai google_ai googleai gcp.gemini gcp.gen_ai gcp.vertex_ai vertex vertexai vertex_ai
bedrock: aws aws.bedrock aws_bedrock amazon_bedrock amazon
mistral: mistralai mistral_ai
xai: x_ai x.ai grok
together: together_ai
fireworks: fireworks_ai
github: github_models
huggingface: hugging_face
zhipu: zai z_ai z.ai zhipuai bigmodel
`)

// canonicalProvider returns the name of a provider in the tables.
func canonicalProvider(name string) string {
	folded := strings.ReplaceAll(foldName(name), " ", "_")
	return cmp.Or(providerAliases(folded), folded)
}

func displayProvider(name string) string {
	if known := providerNames(canonicalProvider(name)); known != "" {
		return known
	}
	if strings.ContainsAny(name, "/:") { // an address
		return "the AI service"
	}
	return plainName(name, "the AI service")
}

func displayModel(name string) string { return plainName(name, "this model") }

var looksLikeName = regexp.MustCompile(`^[-\w.:/ ]*$`)

// plainName returns a name for a text to people, or otherwise if it does not look like a name.
func plainName(name, otherwise string) string {
	const longest = 64
	name = strings.TrimSpace(name)
	path := strings.HasPrefix(name, "/") || strings.Contains(name, "//")
	address := strings.Trim(name, "0123456789.:") == ""
	if path || address || len(name) > longest || !looksLikeName.MatchString(name) {
		return otherwise
	}
	return name
}

// waitUnits are the units of a wait in a text, each from the length at which it reads better than the next.
var waitUnits = [...]struct {
	from, size time.Duration
	name       string
}{
	{48 * time.Hour, 24 * time.Hour, "day"}, {2 * time.Hour, time.Hour, "hour"},
	{2 * time.Minute, time.Minute, "minute"}, {0, time.Second, "second"},
}

func displayWait(d time.Duration) string {
	if d <= 0 {
		return "Wait a moment and try again."
	}
	for _, u := range waitUnits {
		if n := (d-1)/u.size + 1; d >= u.from && n > 1 {
			return fmt.Sprintf("Try again in %d %ss.", n, u.name)
		}
	}
	return "Try again in 1 second."
}

// capitalised begins a sentence with a capital letter. A name is not changed.
func capitalised(s string) string {
	if strings.HasPrefix(s, "the AI") || strings.HasPrefix(s, "this model") {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}
