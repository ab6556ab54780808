package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
)

var errOriginal = errors.New("original")

// Each typed error has provider, status code, model, original error and message. errors.As finds it by its
// type and by its base.
func TestTheHierarchyOfTypedErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		class  fault.Class
		target any
	}{
		"api":              {fault.Unavailable, new(*fault.APIError)},
		"auth":             {fault.Auth, new(*fault.AuthError)},
		"permission":       {fault.Permission, new(*fault.AuthError)},
		"billing":          {fault.Billing, new(*fault.AuthError)},
		"deadline":         {fault.DeadlineExceeded, new(*fault.TimeoutError)},
		"not_supported":    {fault.ProviderNotSupported, new(*fault.ConfigError)},
		"initialization":   {fault.Initialization, new(*fault.ConfigError)},
		"rate_limit":       {fault.RateLimit, new(*fault.RateLimitError)},
		"quota":            {fault.Quota, new(*fault.RateLimitError)},
		"model_not_found":  {fault.ModelNotFound, new(*fault.ModelNotFoundError)},
		"timeout":          {fault.Timeout, new(*fault.TimeoutError)},
		"config":           {fault.Config, new(*fault.ConfigError)},
		"not_configured":   {fault.ProviderNotConfigured, new(*fault.ConfigError)},
		"of_the_users_own": {"low_confidence", new(*fault.APIError)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := fmt.Errorf("agent: %w", fmt.Errorf("model: %w", fault.Typed(fault.ProviderError{
				Class: c.class, Provider: "openai", Model: "gpt-4o", StatusCode: 503, RetryAfter: time.Minute, Message: "m", Cause: errOriginal,
			})))
			assert.True(t, errors.As(err, c.target))
			var base *fault.ProviderError
			require.True(t, errors.As(err, &base))
			assert.Equal(t, fault.ProviderError{Class: c.class, Provider: "openai", Model: "gpt-4o", StatusCode: 503,
				RetryAfter: time.Minute, Message: "m", Cause: errOriginal}, *base)
			assert.ErrorIs(t, err, errOriginal)
			assert.Equal(t, fault.Failure{Plane: fault.Transport, Class: c.class, Message: "m", RetryAfter: time.Minute}, base.Failure())
		})
	}
}

func TestAsErrorKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	err := fault.AsError(fault.Response{
		Provider: "anthropic", Model: "claude", Status: 429, Headers: map[string][]string{"Retry-After": {"27"}, "Request-Id": {"req_1"}},
		Body: []byte(`{"type":"error","error":{"type":"rate_limit_error","message":"slow\ndown"}}`), Err: errOriginal,
	})
	var limit *fault.RateLimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, fault.ProviderError{Class: fault.RateLimit, Provider: "anthropic", Model: "claude", StatusCode: 429,
		RetryAfter: 27 * time.Second, RequestID: "req_1", Message: "slow down", Cause: errOriginal}, limit.ProviderError)
	assert.Equal(t, "rate_limit from anthropic: slow down", err.Error())
	assert.NoError(t, fault.AsError(fault.Response{Status: 200}))
	within := fault.AsError(fault.Response{Status: 200, Body: []byte(`{"response":{"error":{"code":"rate_limit_exceeded"}}}`)})
	require.ErrorAs(t, within, new(*fault.RateLimitError))
	limit.RetryAfter = -time.Second
	assert.Zero(t, limit.Failure().RetryAfter, "it is never negative")
}

// Edge cases: empty messages, missing metadata.
func TestErrorTextOfNearlyNothing(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "unknown", (&fault.ProviderError{Class: fault.Unknown}).Error())
	assert.Equal(t, "unknown: original", (&fault.ProviderError{Class: fault.Unknown, Cause: errOriginal}).Error())
}

// jargon lists words that no message to users may contain.
var jargon = []string{"HTTP", "429", "500", "ECONN", "API error", "JSON", "token", "schema", "exception", "null", "status", "{", "}", "\n", "  "}

func TestUserMessages(t *testing.T) {
	t.Parallel()
	metas := []fault.Metadata{{}, {Provider: "openai", Model: "gpt-4o", StatusCode: 429, RetryAfter: 90 * time.Second}, {Provider: "my-proxy", Model: "org/model:free"}}
	for _, class := range builtIn() {
		for _, m := range metas {
			text := fault.UserMessage(class, m)
			for _, word := range jargon {
				assert.NotContains(t, text, word, class)
			}
			assert.True(t, strings.HasSuffix(text, "."), text)
			if m.Provider == "" { // a name is not capitalised
				assert.Equal(t, strings.ToUpper(text[:1]), text[:1], text)
			}
			assert.Less(t, len(text), 160, text)
		}
	}
}

func TestUserMessageSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		class fault.Class
		meta  fault.Metadata
		want  string
	}{
		"key":           {fault.Auth, fault.Metadata{Provider: "openai"}, "Cannot sign in to OpenAI. Check your API key in settings."},
		"alias":         {fault.Overloaded, fault.Metadata{Provider: "aws.bedrock"}, "Amazon Bedrock is very busy at the moment. Wait a moment and try again."},
		"seconds":       {fault.RateLimit, fault.Metadata{Provider: "groq", RetryAfter: 5200 * time.Millisecond}, "Groq is receiving too many requests from you right now. Try again in 6 seconds."},
		"one_second":    {fault.RateLimit, fault.Metadata{Provider: "groq", RetryAfter: 1}, "Groq is receiving too many requests from you right now. Try again in 1 second."},
		"minutes":       {fault.Unavailable, fault.Metadata{RetryAfter: 2*time.Minute + 1}, "The AI service is having problems at the moment. Try again in 3 minutes."},
		"hours":         {fault.Unavailable, fault.Metadata{RetryAfter: 48*time.Hour - 1}, "The AI service is having problems at the moment. Try again in 48 hours."},
		"two_days":      {fault.Unavailable, fault.Metadata{RetryAfter: 48 * time.Hour}, "The AI service is having problems at the moment. Try again in 2 days."},
		"days":          {fault.Unavailable, fault.Metadata{RetryAfter: 72 * time.Hour}, "The AI service is having problems at the moment. Try again in 3 days."},
		"model":         {fault.ModelNotFound, fault.Metadata{Provider: "Mistral", Model: "x"}, "x is not available at Mistral. Choose another model in settings."},
		"no_model":      {fault.ModelNotFound, fault.Metadata{}, "This model is not available at the AI service. Choose another model in settings."},
		"odd_provider":  {fault.Network, fault.Metadata{Provider: "<script>\n"}, "Cannot connect to the AI service. Check your internet connection and try again."},
		"address":       {fault.Network, fault.Metadata{Provider: "https://10.0.0.1:443/v1"}, "Cannot connect to the AI service. Check your internet connection and try again."},
		"bare_address":  {fault.Auth, fault.Metadata{Provider: "127.0.0.1:8080"}, "Cannot sign in to the AI service. Check your API key in settings."},
		"path":          {fault.ModelNotFound, fault.Metadata{Provider: "ollama", Model: "/srv/models/x.gguf"}, "This model is not available at Ollama. Choose another model in settings."},
		"own_class":     {"low_confidence", fault.Metadata{}, "Something unexpected went wrong. Try again; if it keeps happening, look at the log."},
		"braces_inside": {fault.Network, fault.Metadata{Provider: "{model}", Model: "m"}, "Cannot connect to the AI service. Check your internet connection and try again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, fault.UserMessage(c.class, c.meta))
		})
	}
}
