package genai_test

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/genai"
	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop/machine"
)

func TestEveryFaultOfAConfigIsNamedAtOnce(t *testing.T) {
	_, err := genai.New(nil, genai.Config{
		MaxTokens: -1, Seed: new(int64(1) << 40), Temperature: new(math.NaN()), TopP: new(0.0), Thinking: genai.Thinking{Level: "hard", Budget: new(int32(-2))}, Output: "yaml",
	})
	require.Error(t, err)
	assert.Equal(t, []string{
		"genai: Model: is empty; name a model of the server",
		"MaxTokens: must be 1 to 2147483647, or 0 for the server's own bound, not -1",
		"Temperature: must be from 0 to 2, or nil",
		"TopP: must be above 0 and at most 1, or nil",
		"Seed: must fit into 32 bits, or be nil",
		`Thinking.Level: "hard" is none of empty, "minimal", "low", "medium", "high"`,
		"Thinking.Budget: must be -1 or more, or nil",
		"Thinking: has a level and a budget; set only one of them",
		`Output: "yaml" is none of empty, "beside_tools", "instructions"`,
	}, strings.Split(err.Error(), "\n"))

	_, err = genai.New(nil, genai.Config{Model: "m"})
	require.EqualError(t, err, "genai: the client is nil; make one with the SDK's NewClient")
}

func TestAConfigIsData(t *testing.T) {
	cfg := genai.Config{
		Model: "m", MaxTokens: 1, Temperature: new(0.5), TopP: new(1.0), Seed: new(int64(3)), Thinking: genai.Thinking{Budget: new(int32(-1))},
		Output: genai.OutputBesideTools,
	}
	require.NoError(t, cfg.Validate())
	doc, err := json.Marshal(cfg)
	require.NoError(t, err)
	var back genai.Config
	require.NoError(t, json.Unmarshal(doc, &back))
	assert.Equal(t, cfg, back)
}

func TestTheClientIsLeftAsItIs(t *testing.T) {
	given := &http.Client{}
	client, err := gemini("http://localhost", given)
	require.NoError(t, err)
	_, err = genai.New(client, genai.Config{Model: "m"})
	require.NoError(t, err)
	assert.Nil(t, given.Transport)
	assert.Same(t, given, client.ClientConfig().HTTPClient)
}

const done = `{"candidates":[{"content":{"parts":[{"text":"Hello."}]},"finishReason":"STOP"}],"modelVersion":"m-1","responseId":"r-1"}`

func TestAllOfAClientAndAConfigIsSent(t *testing.T) {
	s := kittest.Serve(t, "200 OK\nContent-Type: application/json\nRateLimit: \"day\";r=3;t=60\n\n"+done)
	client, err := sdk.NewClient(t.Context(), &sdk.ClientConfig{
		Backend: sdk.BackendVertexAI, APIKey: kittest.Key, HTTPClient: s.Client,
		HTTPOptions: sdk.HTTPOptions{
			BaseURL: s.URL, Headers: http.Header{"X-Own": {"1"}}, ExtraBody: map[string]any{"tools": []any{map[string]any{"googleSearch": map[string]any{}}}},
			ExtrasRequestProvider: func(body map[string]any) map[string]any { body["labels"] = map[string]any{"run": "a"}; return body },
		},
	})
	require.NoError(t, err)
	var told []kit.Response
	m, err := genai.New(client, genai.Config{
		Model: "m", Thinking: genai.Thinking{Budget: new(int32(0))}, ShowThinking: true, Output: genai.OutputBesideTools, OnResponse: func(r kit.Response) { told = append(told, r) },
	})
	require.NoError(t, err)
	req := kittest.Asks()["both"]
	req.Model = "backup" // in the ladder
	reply, err := m.Reply(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "m-1", reply.Model)
	require.Len(t, told, 1)
	assert.Equal(t, "r-1", told[0].RequestID)
	assert.Equal(t, int64(3), told[0].RateLimit.Windows[0].Remaining.N)

	head, body, _ := strings.Cut(s.Requests()[0], "\n\n")
	assert.Contains(t, head, "POST /v1beta1/publishers/google/models/m:generateContent\n")
	assert.Contains(t, head, "x-own: 1")
	var sent struct {
		Labels           map[string]string
		Tools            []map[string]any
		GenerationConfig map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(body), &sent))
	assert.Equal(t, map[string]string{"run": "a"}, sent.Labels)
	require.Len(t, sent.Tools, 2)
	assert.Contains(t, sent.Tools[0], "googleSearch")
	assert.Len(t, sent.Tools[1]["functionDeclarations"], 2)
	assert.Contains(t, sent.GenerationConfig, "responseJsonSchema")
	assert.Equal(t, map[string]any{"thinkingBudget": 0.0, "includeThoughts": true}, sent.GenerationConfig["thinkingConfig"])
}

// A limiter tells servers apart. The name is that of errors.
func TestAModelNamesItsProvider(t *testing.T) {
	for url, want := range map[string]string{"": "gemini", "https://us-central1-aiplatform.googleapis.com": "us-central1-aiplatform.googleapis.com"} {
		client, err := gemini(url, nil)
		require.NoError(t, err)
		model, err := genai.New(client, genai.Config{Model: "m", MaxTokens: 5})
		require.NoError(t, err)
		assert.Equal(t, machine.ModelInfo{Name: "m", Provider: want, MaxOutputTokens: 5}, model.Describe(), url)
	}
}
