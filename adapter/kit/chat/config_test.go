package chat_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/loop/machine"
)

func TestConfigNamesEveryFault(t *testing.T) {
	require.NoError(t, chat.Config{Model: "m"}.Validate())
	err := chat.Config{
		API: "assistants", MaxTokens: -1, Temperature: new(math.NaN()), Strict: "on", Output: "xml", Echo: []string{"extra", "content", ""},
	}.Validate()
	require.Error(t, err)
	assert.Equal(t, []string{
		"Model: is empty; name a model of the server",
		"MaxTokens: must be 1 to 2147483647, or 0 for the server's own bound, not -1",
		"Temperature: must be from 0 to 2, or nil",
		`API: "assistants" is none of empty, "responses"`,
		`Strict: "on" is none of empty, "off"`,
		`Output: "xml" is none of empty, "json_object", "instructions"`,
		`Echo[1]: "content" is a member that the adapter always sends: remove it`,
		`Echo[2]: "" is a member that the adapter always sends: remove it`,
	}, strings.Split(err.Error(), "\n"))
}

// An empty key is mostly a variable of the environment that is not set.
func TestOpenAIAsksForAKey(t *testing.T) {
	_, err := chat.New(nil, chat.Config{Model: "m"})
	require.EqualError(t, err, "openai: Key: is empty, and https://api.openai.com/v1 asks for one: set it, a client that does, or "+
		"the URL of another server")
	_, err = chat.New(&http.Client{}, chat.Config{Model: "m"})
	require.NoError(t, err)
}

func TestAConfigIsForOneAPI(t *testing.T) {
	_, err := chat.New(nil, chat.Config{Model: "m", Store: true, ShowThinking: true})
	require.EqualError(t, err, "openai: Store: does not apply to this API: remove it, or set API\n"+
		"ShowThinking: does not apply to this API: remove it, or set API")
	_, err = chat.New(nil, chat.Config{API: chat.Responses, Model: "m", Echo: []string{"x"}})
	require.EqualError(t, err, "openai: Echo: does not apply to this API: remove it, or set API")
}

func TestAnAddressAndAKeyAreChecked(t *testing.T) {
	for url, key := range map[string]string{"ftp://server/v1": "", "server": "", "https://server/v1?x=1": "", "https://me@server": "", "": "a\nb",
		"https://server/v1/chat/completions": "", "https://server/v1/chat/completions/": ""} {
		_, err := chat.New(nil, chat.Config{URL: url, Key: key, Model: "m"})
		assert.Error(t, err, url)
	}
	_, err := chat.New(nil, chat.Config{URL: "https://server/v1/responses", API: chat.Responses, Model: "m"})
	require.EqualError(t, err, "openai: URL: ends in /responses, which is added to it: leave that out")
	doc, err := json.Marshal(chat.Config{URL: "http://localhost:8000/v1", Key: "secret", Model: "m"})
	require.NoError(t, err)
	assert.JSONEq(t, `{"url":"http://localhost:8000/v1","model":"m"}`, string(doc), "the key is in no JSON")
}

// A limiter tells servers apart, even if nobody named them.
func TestAModelNamesItsProvider(t *testing.T) {
	for _, c := range []struct{ url, provider, want string }{
		{"", "", "openai"},
		{chat.DefaultURL + "/", "", "openai"},
		{"http://localhost:8000/v1", "", "localhost:8000"},
		{"http://localhost:8001/v1", "", "localhost:8001"},
		{"https://api.groq.com/openai/v1", "groq", "groq"},
		{"https://api.groq.com/openai/v1", "", "groq"},
		{"https://API.DeepSeek.com", "", "deepseek"},
		{"https://mine.openai.azure.com/openai/v1", "", "azure"},
		{"https://generativelanguage.googleapis.com/v1beta/openai", "", "gemini"},
		{"https://openrouter.ai/api/v1", "mine", "mine"},
		{"https://deepseek.com.example/v1", "", "deepseek.com.example"},
		{"https://notz.ai/v1", "", "notz.ai"},
	} {
		for _, api := range []chat.API{chat.Chat, chat.Responses} {
			model, err := chat.New(nil, chat.Config{URL: c.url, Key: "k", API: api, Model: "m", Provider: c.provider, MaxTokens: 5})
			require.NoError(t, err)
			assert.Equal(t, machine.ModelInfo{Name: "m", Provider: c.want, MaxOutputTokens: 5}, model.Describe(), c.url)
		}
	}
}

func TestNoLogHasTheKey(t *testing.T) {
	cfg := chat.Config{URL: "http://localhost:1", Key: "4000-1234", Model: "m"}
	m, err := chat.New(nil, cfg)
	require.NoError(t, err)
	for _, v := range []any{cfg, &cfg, m, *m, map[string]any{"config": cfg}} {
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("it", "is", v)
		for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			fmt.Fprintf(&log, form, v)
		}
		assert.NotContains(t, log.String(), cfg.Key)
	}
	assert.Contains(t, fmt.Sprintf("%+v", cfg), "URL:http://localhost:1 Key:[key left out] ")
	assert.Contains(t, fmt.Sprintf("%#v", chat.Config{}), `Key:""`, "none is told")
}
