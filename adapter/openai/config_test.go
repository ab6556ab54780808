package openai_test

import (
	"math"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/openai"
)

func TestConfigNamesEveryFault(t *testing.T) {
	require.NoError(t, openai.Config{Model: "m"}.Validate())
	err := openai.Config{
		MaxTokens: new(int64(0)), Temperature: new(math.NaN()), Strict: "on", Output: "xml", Echo: []string{"extra", "content", ""},
	}.Validate()
	require.Error(t, err)
	for _, want := range []string{
		"model: is empty", "max_tokens: must be at least 1, is 0", "temperature: must be from 0 to 2, is NaN", `strict: must be empty or "off", is "on"`,
		`output: must be empty, "json_object" or "text", is "xml"`, `echo[1]: "content"`, `echo[2]: ""`,
	} {
		assert.ErrorContains(t, err, want)
	}
}

func TestAConfigIsForOneAPI(t *testing.T) {
	_, err := openai.NewChat(sdk.Client{}, openai.Config{Model: "m", Store: true, NoReasoning: true})
	assert.ErrorContains(t, err, "store: is not for the chat API")
	assert.ErrorContains(t, err, "no_reasoning: is not for the chat API")
	_, err = openai.NewResponses(sdk.Client{}, openai.Config{LegacyMaxTokens: true, Echo: []string{"x"}})
	assert.ErrorContains(t, err, "model: is empty")
	assert.ErrorContains(t, err, "legacy_max_tokens: is not for the responses API")
	assert.ErrorContains(t, err, "echo: is not for the responses API")
}
