package claude_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

func TestSettings(t *testing.T) {
	warm, wide := 0.5, 0.9
	for name, c := range map[string]struct {
		change func(*claude.Config)
		want   string
	}{
		"nothing":     {func(*claude.Config) {}, `{}`},
		"temperature": {func(c *claude.Config) { c.Temperature = &warm }, `{"temperature":0.5}`},
		"cold":        {func(c *claude.Config) { c.Temperature = new(float64) }, `{"temperature":0}`},
		"top p":       {func(c *claude.Config) { c.TopP = &wide }, `{"top_p":0.9}`},
		"effort":      {func(c *claude.Config) { c.Effort = "low" }, `{"output_config":{"effort":"low"}}`},
		"user":        {func(c *claude.Config) { c.UserID = "u-1" }, `{"metadata":{"user_id":"u-1"}}`},
		"adaptive":    {func(c *claude.Config) { c.Thinking.Mode = claude.Adaptive }, `{"thinking":{"type":"adaptive"}}`},
		"shown": {func(c *claude.Config) { c.Thinking.Mode, c.ShowThinking = claude.Adaptive, true },
			`{"thinking":{"type":"adaptive","display":"summarized"}}`},
		"off": {func(c *claude.Config) { c.Thinking.Mode = claude.NoThinking }, `{"thinking":{"type":"disabled"}}`},
		"budget": {func(c *claude.Config) { c.Thinking = claude.Thinking{Mode: claude.Budget, BudgetTokens: 2000} },
			`{"thinking":{"type":"enabled","budget_tokens":2000}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var got map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(params(t, model(t, c.change), loop.Request{})), &got))
			for _, always := range []string{"model", "max_tokens", "messages"} {
				assert.Contains(t, got, always)
				delete(got, always)
			}
			rest, err := json.Marshal(got)
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(rest))
		})
	}
}

func TestTheStablePrefixIsMarkedForTheCache(t *testing.T) {
	req := kittest.Asks()["both"]
	type marked struct {
		CacheControl json.RawMessage `json:"cache_control"`
	}
	for cache, want := range map[claude.Cache]string{
		claude.NoCache: "", claude.Cache5m: `{"ttl":"5m","type":"ephemeral"}`, claude.Cache1h: `{"ttl":"1h","type":"ephemeral"}`,
	} {
		sent := params(t, model(t, func(c *claude.Config) { c.Cache, c.Output = cache, claude.OutputInstructions }), req)
		var got struct{ System, Tools []marked }
		require.NoError(t, json.Unmarshal([]byte(sent), &got))
		require.Len(t, got.System, 2)
		require.Len(t, got.Tools, 2)
		assert.Empty(t, string(got.System[0].CacheControl)+string(got.Tools[0].CacheControl))
		for _, last := range []marked{got.System[1], got.Tools[1]} {
			assert.Equal(t, want, string(last.CacheControl))
		}
	}
}

func TestNoCallIsForcedOfAModelThatThinks(t *testing.T) {
	for _, mode := range []claude.Thinking{{Mode: claude.Adaptive}, {Mode: claude.Budget, BudgetTokens: 1024}} {
		m := model(t, func(c *claude.Config) { c.Thinking = mode })
		req := kittest.Asks()["tools"]
		assert.Contains(t, params(t, m, req), `"thinking"`)
		req.ToolChoice = message.AnyTool
		assert.NotContains(t, params(t, m, req), `"thinking"`)
	}
}

// A budget of thoughts is less than the reply may have tokens, whoever bounds it.
func TestABudgetFitsIntoABoundedReply(t *testing.T) {
	m := model(t, func(c *claude.Config) { c.Thinking = claude.Thinking{Mode: claude.Budget, BudgetTokens: 2000} })
	for most, want := range map[int64]string{
		0: `"thinking":{"type":"enabled","budget_tokens":2000}`, 3000: `"thinking":{"type":"enabled","budget_tokens":2000}`,
		1500: `"thinking":{"type":"enabled","budget_tokens":1499}`,
	} {
		var sent, wanted map[string]any
		require.NoError(t, json.Unmarshal([]byte(params(t, m, loop.Request{MaxOutputTokens: most})), &sent))
		require.NoError(t, json.Unmarshal([]byte("{"+want+"}"), &wanted))
		assert.Equal(t, wanted["thinking"], sent["thinking"], most)
	}
	assert.NotContains(t, params(t, m, loop.Request{MaxOutputTokens: 1024}), "thinking")
}

func TestABudgetNeedsCallsThatWereThoughtOf(t *testing.T) {
	m := model(t, func(c *claude.Config) { c.Thinking = claude.Thinking{Mode: claude.Budget, BudgetTokens: 1024} })
	user := message.Message{Role: message.User, Text: "Hi."}
	called := message.Message{Role: message.Assistant, Text: "A.", Calls: []message.Call{{ID: "c1", Name: "f"}}}
	thinking := called
	thinking.Opaque = opaque("m", `{"raw":`+thought+`},{"text":2},{"call":1}`)
	redacted := called
	redacted.Opaque = opaque("m", `{"raw":{"type":"redacted_thinking","data":"x"}},{"text":2},{"call":1}`)
	for name, c := range map[string]struct {
		said []message.Message
		want bool
	}{
		"no call":            {[]message.Message{user, {Role: message.Assistant, Text: "A."}, user}, true},
		"after thinking":     {[]message.Message{user, thinking}, true},
		"redacted":           {[]message.Message{user, redacted}, true},
		"without thinking":   {[]message.Message{user, called}, false},
		"long ago":           {[]message.Message{user, called, user, {Role: message.Assistant, Text: "A."}, user}, true},
		"of another's words": {[]message.Message{user, {Role: message.Assistant, Calls: called.Calls, Opaque: `{"adapter":"other"}`}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got body
			require.NoError(t, json.Unmarshal([]byte(params(t, m, loop.Request{Messages: said(c.said...)})), &got))
			assert.Equal(t, c.want, got.Thinking != nil)
		})
	}
}

func TestInstructionsAskWhereTheAPIDoesNot(t *testing.T) {
	req := kittest.Asks()["output"]
	native := params(t, model(t), req)
	told := params(t, model(t, func(c *claude.Config) { c.Output = claude.OutputInstructions }), req)
	assert.Contains(t, native, "json_schema")
	assert.NotContains(t, native, "JSON Schema")
	assert.NotContains(t, told, "json_schema")
	assert.Contains(t, told, "It must be valid against this JSON Schema")
}

func TestMediaThatTheAPITakesNoneOfAreRefused(t *testing.T) {
	for want, part := range map[string]message.Part{
		"anthropic: invalid_request: messages[1].parts[0]: [audio, audio/wav, 1 bytes]: the API does not accept audio": message.Bytes(message.AudioPart, "audio/wav", []byte("x")),
		"[file, a.zip, application/zip, 1 bytes]: the API accepts the bytes of application/pdf and of texts":           {Kind: message.FilePart, Name: "a.zip", MediaType: "application/zip", Data: "eA=="},
	} {
		req := kittest.Asks()["plain"]
		req.Messages = append(req.Messages, message.Message{Role: message.User, Parts: []message.Part{part}})
		kittest.Refuses(t, adapter(claude.Version2023), req, want)
	}
}

// A temperature that the API would refuse is an error that names it. Nothing is sent.
func TestATemperatureThatTheAPIRefuses(t *testing.T) {
	thinks := func(c *claude.Config) { c.Thinking.Mode = claude.Adaptive }
	for temperature, tt := range map[float64]struct {
		change func(*claude.Config)
		want   string
	}{
		1.5: {func(*claude.Config) {}, "Temperature: 1.5 is too high: the API accepts 0 to 1"},
		0.5: {thinks, "Temperature: must be 1 or unset for a model that thinks (Thinking), not 0.5"},
	} {
		_, err := model(t, tt.change).Reply(t.Context(), loop.Request{Temperature: &temperature})
		assert.ErrorContains(t, err, tt.want)
		assert.Equal(t, fault.InvalidRequest, fault.FailureOf(err).Class)
	}
	assert.Contains(t, params(t, model(t, thinks), loop.Request{Temperature: new(1.0)}), `"temperature":1`)
}
