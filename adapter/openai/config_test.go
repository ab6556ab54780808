package openai_test

import (
	"math"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/openai"
)

func TestConfigNamesEveryFault(t *testing.T) {
	require.NoError(t, openai.Config{Model: "m"}.Validate())
	err := openai.Config{
		API: "assistants", MaxTokens: -1, Temperature: new(math.NaN()), Strict: "on", Output: "xml", Echo: []string{"extra", "content", ""},
	}.Validate()
	require.Error(t, err)
	assert.Equal(t, []string{
		`API: "assistants" is neither empty nor "responses"`,
		"Model: is empty; name a model of the server",
		"MaxTokens: must be at least 1, or 0 for the server's own bound, not -1",
		"Temperature: must be from 0 to 2, or nil",
		`Strict: "on" is neither empty nor "off"`,
		`Output: "xml" is neither empty nor "json_object" nor "instructions"`,
		`Echo[1]: "content" is a member that the adapter always sends: remove it`,
		`Echo[2]: "" is a member that the adapter always sends: remove it`,
	}, strings.Split(err.Error(), "\n"))
}

func TestAConfigIsForOneAPI(t *testing.T) {
	_, err := openai.New(sdk.Client{}, openai.Config{Model: "m", Store: true, NoReasoning: true, ShowThinking: true})
	require.EqualError(t, err, "openai: Store: does not apply to this API: remove it, or set API\nNoReasoning: does not apply to this API: remove it, or set API\n"+
		"ShowThinking: does not apply to this API: remove it, or set API")
	_, err = openai.New(sdk.Client{}, openai.Config{API: openai.Responses, Model: "m", LegacyMaxTokens: true, Echo: []string{"x"}})
	require.EqualError(t, err, "openai: LegacyMaxTokens: does not apply to this API: remove it, or set API\nEcho: does not apply to this API: remove it, or set API")
}
