package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	claudesdk "github.com/anthropics/anthropic-sdk-go/v2"
	claudeoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	gpt "github.com/openai/openai-go/v3"
	gptoption "github.com/openai/openai-go/v3/option"
	gemini "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/anthropicv2"
	"github.com/retake-go/retake/adapter/genai"
	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/adapter/ollama"
	"github.com/retake-go/retake/adapter/openai"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/ratelimit"
)

// settings are the settings of a provider's model.
type settings struct {
	model, baseURL, key string
	// told is called with the rate limits of good responses.
	told func(ratelimit.State)
}

// provider is a provider whose model may be asked.
type provider struct {
	// keys are the environment variables with its key, the usual one first; none if it needs no key.
	keys []string
	// fallback is the model if none is named.
	fallback string
	model    func(settings) (loop.Model, error)
}

var providers = map[string]provider{
	"scripted":  {fallback: "script", model: scripted},
	"openai":    {keys: []string{"OPENAI_API_KEY"}, fallback: "gpt-4.1", model: newOpenAI},
	"anthropic": {keys: []string{"ANTHROPIC_API_KEY"}, fallback: "claude-sonnet-5-5", model: newAnthropic},
	"gemini":    {keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, fallback: "gemini-3-pro", model: newGemini},
	"ollama":    {fallback: "qwen3:8b", model: newOllama},
}

func names() string { return strings.Join(slices.Sorted(maps.Keys(providers)), ", ") }

// complete fills in what is missing, and returns an error if a key is missing.
func (p provider) complete(s *settings, env func(string) string) error {
	s.model = cmp.Or(s.model, p.fallback)
	for _, name := range p.keys {
		s.key = cmp.Or(s.key, env(name))
	}
	if len(p.keys) > 0 && s.key == "" {
		return fmt.Errorf("there is no key: set the environment variable %s", strings.Join(p.keys, " or "))
	}
	return nil
}

func scripted(settings) (loop.Model, error) { return looptest.NewModel(script()...), nil }

func newOpenAI(s settings) (loop.Model, error) {
	opts := []gptoption.RequestOption{gptoption.WithAPIKey(s.key)}
	if s.baseURL != "" {
		opts = append(opts, gptoption.WithBaseURL(s.baseURL))
	}
	return openai.New(gpt.NewClient(opts...), chat.Config{
		Model: s.model, OnResponse: func(r kit.Response) { s.told(r.RateLimit) },
	})
}

func newAnthropic(s settings) (loop.Model, error) {
	opts := []claudeoption.RequestOption{claudeoption.WithAPIKey(s.key)}
	if s.baseURL != "" {
		opts = append(opts, claudeoption.WithBaseURL(s.baseURL))
	}
	return anthropicv2.New(claudesdk.NewClient(opts...), claude.Config{
		Model: s.model, MaxTokens: 4096, OnResponse: func(r kit.Response) { s.told(r.RateLimit) },
	})
}

func newGemini(s settings) (loop.Model, error) {
	client, err := gemini.NewClient(context.Background(), &gemini.ClientConfig{
		APIKey: s.key, Backend: gemini.BackendGeminiAPI, HTTPOptions: gemini.HTTPOptions{BaseURL: s.baseURL},
	})
	if err != nil {
		return nil, errors.New("the Gemini client cannot be made: check -base-url")
	}
	return genai.New(client, genai.Config{Model: s.model, OnResponse: func(r kit.Response) { s.told(r.RateLimit) }})
}

// newOllama uses a server on this machine, which needs no key.
func newOllama(s settings) (loop.Model, error) {
	return ollama.New(http.DefaultClient, ollama.Config{
		URL: s.baseURL, Model: s.model, OnResponse: func(r kit.Response) { s.told(r.RateLimit) },
	})
}
