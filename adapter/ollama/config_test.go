package ollama_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/ollama"
	"github.com/retake-go/retake/loop/machine"
)

func TestEveryFaultOfAConfigIsNamedAtOnce(t *testing.T) {
	_, err := ollama.New(nil, ollama.Config{
		URL: "localhost:11434", Key: "two\nlines", MaxTokens: -1, ContextTokens: -1, Temperature: new(math.NaN()), Think: "hard", Output: "yaml",
		Options: map[string]json.RawMessage{"seed": json.RawMessage("1"), "top_p": json.RawMessage("half")},
	})
	require.Error(t, err)
	assert.Equal(t, []string{
		"ollama: URL: must be one such as http://localhost:8080: http or https with a host, and without user, query and fragment",
		"Key: must be of printable ASCII characters",
		"Model: is empty; name a model of the server",
		"MaxTokens: must be 1 to 2147483647, or 0 for the server's own bound, not -1",
		"ContextTokens: must be 1 to 2147483647, or 0 for the server's own bound, not -1",
		"Temperature: must be 0 or more, or nil",
		`Think: "hard" is none of empty, "on", "off", "low", "medium", "high", "max"`,
		`Output: "yaml" is none of empty, "instructions"`,
		`Options: "seed" is the field Seed: set that`,
		`Options: "top_p" must be JSON`,
	}, strings.Split(err.Error(), "\n"))
}

func TestAddressesAreChecked(t *testing.T) {
	for url, good := range map[string]bool{
		"": true, "http://10.0.0.7:11434": true, "https://ollama.example/base/": true,
		"ftp://x": false, "http://": false, "http://user:secret@x": false, "http://x?key=1": false, "http://x#a": false, "::": false,
		"http://:11434": false, "http://x:99999": false, "http://x:65535": true,
		"http://x/api/chat": false,
	} {
		assert.Equal(t, good, ollama.Config{Model: "m", URL: url}.Validate() == nil, url)
	}
}

func TestAConfigIsDataAndItsJSONHoldsNoKey(t *testing.T) {
	cfg := ollama.Config{
		URL: "http://h", Key: "secret", Model: "m", MaxTokens: 1, ContextTokens: 2, Temperature: new(0.5), Seed: new(int64(3)),
		Options: map[string]json.RawMessage{"top_p": json.RawMessage("0.9")}, Think: "low", KeepAlive: new(time.Minute), Truncate: true,
		Output: ollama.OutputInstructions,
	}
	doc, err := json.Marshal(cfg)
	require.NoError(t, err)
	assert.NotContains(t, string(doc), "secret")
	var back ollama.Config
	require.NoError(t, json.Unmarshal(doc, &back))
	cfg.Key = ""
	assert.Equal(t, cfg, back)
}

// A limiter tells servers apart.
func TestAModelNamesItsProvider(t *testing.T) {
	for url, want := range map[string]string{"": "ollama", ollama.DefaultURL: "ollama", "http://gpu-1:11434": "gpu-1:11434"} {
		model, err := ollama.New(nil, ollama.Config{URL: url, Model: "m", MaxTokens: 5})
		require.NoError(t, err)
		assert.Equal(t, machine.ModelInfo{Name: "m", Provider: want, MaxOutputTokens: 5}, model.Describe(), url)
	}
}

func TestNoLogHasTheKey(t *testing.T) {
	cfg := ollama.Config{URL: "http://localhost:1", Key: "4000-1234", Model: "m"}
	m, err := ollama.New(nil, cfg)
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
	assert.Contains(t, fmt.Sprintf("%#v", ollama.Config{}), `Key:""`, "none is told")
}
