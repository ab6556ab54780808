package fault_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
)

func TestKeysAreLeftOut(t *testing.T) {
	const key = "Zq8xV2mN4bT7rW1pLs0d"
	for _, said := range []string{
		"Incorrect API key provided: " + key + ". You can find your API key at https://platform.openai.com/account/api-keys.",
		"Incorrect API key provided: sk-proj-" + key + "****",
		`{"error":{"message":"invalid x-api-key: ` + key + `","type":"authentication_error"}}`,
		`Get "https://generativelanguage.googleapis.com/v1/models?alt=sse&key=AIza` + key + `&x=1": EOF`,
		`Get "http://localhost/v1?key=` + key + `": connection refused`,
		"header Authorization: Bearer " + key + " is not valid",
		"authorization: Basic " + key,
		`{"api_key": "` + key + `"}`, `{\"api_key\": \"` + key + `\"}`, "token=" + key, "password: " + key,
		"JWT eyJhbGciOiJIUzI1NiJ9." + key + ".sig is expired", "gsk_" + key, "AKIA" + strings.ToUpper(key), "hf_" + key, "xai-" + key,
		"dial https://user:" + key + "@proxy.example:3128: refused",
	} {
		scrubbed := fault.Scrub(said)
		assert.NotContains(t, scrubbed, key[:8], said)
		assert.NotContains(t, scrubbed, strings.ToUpper(key), said)
		assert.Contains(t, scrubbed, "[key left out]", said)
		assert.Equal(t, scrubbed, fault.Scrub(scrubbed), "twice is once")

		e := &fault.ProviderError{Class: fault.Auth, Provider: "openai", Message: said, Cause: errors.New(said)}
		assert.NotContains(t, e.Error(), key[:8])
		assert.NotContains(t, e.Failure().Message, key[:8])
		assert.NotContains(t, fault.Classify(fault.Response{Status: 401, Body: []byte(said)}).Message, key[:8])
		e.Message = ""
		assert.NotContains(t, e.Error(), key[:8])
	}
}

func TestWhatIsNoKeyStays(t *testing.T) {
	for _, said := range []string{
		"rate limit reached for gpt-4o in organization org-abc: limit 30000 tokens per min", "no such key", "429 slow down",
		"max_tokens: 8192 is more than the model's 4096", "the signature of f has changed", "connection reset by peer",
		"unexpected token: '}'",
	} {
		assert.Equal(t, said, fault.Scrub(said))
	}
}

func TestScrubbedTextIsOneSeenLine(t *testing.T) {
	assert.Equal(t, `a b \x1b[2J \u202e \u009b x`, fault.Scrub("a\n\tb \x1b[2J \u202e \u009b x\xff"))
	long := fault.Scrub(strings.Repeat("a", 10<<20))
	assert.Len(t, []byte(long), 1024)
	assert.Equal(t, long, fault.Scrub(long))
}
