package claude_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/loop"
)

func TestAConfigThatIsWrongIsRefusedWithEveryFault(t *testing.T) {
	half, two, nan := 0.5, 2.0, math.NaN()
	good := claude.Config{Version: claude.Version2023, Key: "k", Model: "m", MaxTokens: 4096}
	with := func(change func(*claude.Config)) claude.Config {
		c := good
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		cfg    claude.Config
		faults []string
	}{
		"good":           {good, nil},
		"zero":           {claude.Config{}, []string{"Model: is empty", "MaxTokens: must be at least 1, not 0"}},
		"temperature":    {with(func(c *claude.Config) { c.Temperature = &two }), []string{"Temperature: must be from 0 to 1"}},
		"not a number":   {with(func(c *claude.Config) { c.Temperature, c.TopP = &nan, &nan }), []string{"Temperature", "TopP"}},
		"effort":         {with(func(c *claude.Config) { c.Effort = "huge" }), []string{`Effort: "huge" is none of empty, "low"`}},
		"output":         {with(func(c *claude.Config) { c.Output = "tool" }), []string{`Output: "tool" is none of empty`}},
		"cache":          {with(func(c *claude.Config) { c.Cache = "1d" }), []string{`Cache: "1d" is none of`}},
		"thinking":       {with(func(c *claude.Config) { c.Thinking.Mode = "deep" }), []string{`Thinking.Mode: "deep" is none of`}},
		"idle thoughts":  {with(func(c *claude.Config) { c.ShowThinking = true }), []string{"ShowThinking: needs thinking"}},
		"idle budget":    {with(func(c *claude.Config) { c.Thinking.BudgetTokens = 5000 }), []string{"Thinking.BudgetTokens: must be 0 unless"}},
		"small budget":   {with(func(c *claude.Config) { c.Thinking = claude.Thinking{Mode: claude.Budget} }), []string{"at least 1024"}},
		"large budget":   {with(func(c *claude.Config) { c.Thinking = claude.Thinking{claude.Budget, 4096} }), []string{"less than MaxTokens (4096)"}},
		"cold thoughts":  {with(func(c *claude.Config) { c.Thinking.Mode, c.Temperature = claude.Adaptive, &half }), []string{"must be nil or 1 with Thinking"}},
		"fitting budget": {with(func(c *claude.Config) { c.Thinking = claude.Thinking{claude.Budget, 1024} }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := claude.New(nil, c.cfg)
			if c.faults == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Equal(t, len(c.faults), len(strings.Split(err.Error(), "\n")), err.Error())
			for _, want := range c.faults {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

// The newest version of the API has no sampling: what would be refused is an error before anything is sent.
func TestANewVersionTakesNoTemperature(t *testing.T) {
	half := 0.5
	_, err := claude.New(nil, claude.Config{Model: "m", MaxTokens: 9, Temperature: &half, TopP: &half})
	const want = "the API has none since version 2026-10-21: remove it, or ask for Version 2023-06-01"
	require.EqualError(t, err, "anthropic: Temperature: "+want+"\nTopP: "+want)
	kittest.Refuses(t, adapter(claude.Version2026), loop.Request{Temperature: &half}, "anthropic: invalid_request: Temperature: "+want)
}

// An empty key is mostly a variable of the environment that is not set.
func TestAnthropicAsksForAKey(t *testing.T) {
	_, err := claude.New(nil, claude.Config{Model: "m", MaxTokens: 1})
	require.ErrorContains(t, err, "anthropic: Key: is empty, and https://api.anthropic.com asks for one: set it")
}

// The address and the key are the client's.
func TestTheClientHasTheAddress(t *testing.T) {
	_, err := claude.Over(nil, "", claude.Config{Model: "m", MaxTokens: 1, Key: "k"})
	require.EqualError(t, err, "anthropic: URL and Key: are those of the client: remove them")
}

func TestNoLogHasTheKey(t *testing.T) {
	cfg := claude.Config{Key: "4000-1234", Model: "m", MaxTokens: 5}
	m, err := claude.New(nil, cfg)
	require.NoError(t, err)
	for _, v := range []any{cfg, &cfg, m, *m} {
		for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			assert.NotContains(t, fmt.Sprintf(form, v), cfg.Key)
		}
	}
	assert.Contains(t, fmt.Sprintf("%+v", cfg), "Key:[key left out] ")
}
