package fault

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
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
	text, known := userMessages[c]
	if !known {
		text = userMessages[Unknown]
	}
	return capitalised(strings.NewReplacer(
		"{provider}", displayProvider(m.Provider), "{model}", displayModel(m.Model), "{wait}",
		displayWait(m.RetryAfter),
	).Replace(text))
}

// userMessages is a text for every built-in class.
var userMessages = map[Class]string{
	RateLimit:   "{provider} is receiving too many requests from you right now. {wait}",
	Timeout:     "{provider} took too long to answer. Try again; if it keeps happening, try a shorter request.",
	Unavailable: "{provider} is having problems at the moment. {wait}",
	Overloaded:  "{provider} is very busy at the moment. {wait}",
	Network:     "Cannot connect to {provider}. Check your internet connection and try again.",
	Auth:        "Cannot sign in to {provider}. Check your API key in settings.",
	Permission: "Your account with {provider} is not allowed to do this. Check the account's access, or " +
		"use another model.",
	Billing: "Your account with {provider} has no credit left, or has reached its spending limit. " +
		"Check its plan and billing.",
	Quota: "Your allowance at {provider} is used up for now. Wait until it renews, upgrade your " +
		"plan, or use another model.",
	ModelNotFound:    "{model} is not available at {provider}. Choose another model in settings.",
	ContextLength:    "The conversation is too long for {model}. Shorten it, or start a new one.",
	InvalidRequest:   "{provider} could not work with this request. Change it and try again.",
	ContentFilter:    "The safety filter of {provider} stopped this request. Rephrase it and try again.",
	InvalidResponse:  "{provider} sent an answer that cannot be read. Try again, or use another model.",
	Cancelled:        "The request was stopped before it finished.",
	DeadlineExceeded: "There was not enough time to finish. Allow more time, or ask for less at once.",
	Unknown:          "Something unexpected went wrong. Try again; if it keeps happening, look at the log.",

	ProviderNotConfigured: "{provider} is not set up yet. Add its API key in settings.",
	ProviderNotSupported:  "{provider} is not supported. Choose another provider in settings.",
	Config:                "A setting is missing or wrong. Check your settings.",

	EventTimeout:         "Another system took too long to answer. Try again in a little while.",
	EventUnavailable:     "Another system cannot be reached at the moment. Try again in a few minutes.",
	EventRejected:        "Another system turned the request down. Check what was asked for.",
	EventInvalidResponse: "Another system sent an answer that makes no sense. Tell whoever looks after it.",
	InvalidInput:         "The input cannot be used. Check it and try again.",
	IO:                   "A file or connection could not be read or written. Check that it is there and try again.",
	PermissionDenied:     "Access was denied. Check that you are allowed to use this file or service.",
	NotFound:             "What was asked for could not be found. Check its name and place.",
	LLMAssistRequired:    "This step needs more guidance. Describe in more detail what you want.",
	ToolExecution:        "One of the steps failed. Try again, or describe the task differently.",
	MaxIterations:        "The task took more steps than allowed. Split it into smaller ones.",
	Initialization:       "The assistant could not start. Check your settings and try again.",

	ToolValidation: "The assistant made a mistake while preparing a step. Try again, or describe the task " +
		"differently.",
	StructuredOutput: "The assistant's answer did not have the right form. Try again, or describe the task " +
		"differently.",
	UnknownTool: "The assistant tried something that is not possible here. Try again, or describe the " +
		"task differently.",
	NoOutput:  "The assistant gave no answer. Try again.",
	Truncated: "The answer was too long and was cut off. Ask for less at once.",
	Refusal:   "The assistant declined to answer this. Rephrase your request.",
	Reducer:   "The assistant's answer could not be saved. Try again.",
	NoProgress: "The assistant took the same steps again and again. Try again, or describe the task " +
		"differently.",
}

// providerNames are the names people know the providers by, keyed by canonicalProvider.
var providerNames = map[string]string{
	"openai": "OpenAI", "azure": "Azure OpenAI", "anthropic": "Anthropic", "gemini": "Google Gemini",
	"bedrock": "Amazon Bedrock",
	"groq":    "Groq", "mistral": "Mistral", "cerebras": "Cerebras", "openrouter": "OpenRouter",
	"cohere": "Cohere",
	"ollama": "Ollama", "xai": "xAI", "deepseek": "DeepSeek", "together": "Together AI",
	"fireworks": "Fireworks AI",
	"github":    "GitHub Models", "perplexity": "Perplexity", "huggingface": "Hugging Face",
	"zhipu": "Z.ai", "minimax": "MiniMax",
}

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
	if known := providerNames[canonicalProvider(name)]; known != "" {
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
	one, many  string
}{
	{48 * time.Hour, 24 * time.Hour, "day", "days"}, {2 * time.Hour, time.Hour, "hour", "hours"},
	{2 * time.Minute, time.Minute, "minute", "minutes"}, {0, time.Second, "second", "seconds"},
}

func displayWait(d time.Duration) string {
	if d <= 0 {
		return "Wait a moment and try again."
	}
	for _, u := range waitUnits {
		if d < u.from {
			continue
		}
		n := (d-1)/u.size + 1
		word := u.many
		if n == 1 {
			word = u.one
		}
		return fmt.Sprintf("Try again in %d %s.", n, word)
	}
	return ""
}

// capitalised begins a sentence with a capital letter. A name is not changed.
func capitalised(s string) string {
	if strings.HasPrefix(s, "the AI") || strings.HasPrefix(s, "this model") {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}
