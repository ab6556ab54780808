package anthropic_test

import (
	"math"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/anthropic"
)

func TestAConfigThatIsWrongIsRefusedWithEveryFault(t *testing.T) {
	half, two, nan := 0.5, 2.0, math.NaN()
	good := anthropic.Config{Model: "m", MaxTokens: 4096}
	with := func(change func(*anthropic.Config)) anthropic.Config {
		c := good
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		cfg    anthropic.Config
		faults []string
	}{
		"good":           {good, nil},
		"zero":           {anthropic.Config{}, []string{"Model: is empty", "MaxTokens: must be at least 1, not 0"}},
		"temperature":    {with(func(c *anthropic.Config) { c.Temperature = &two }), []string{"Temperature: must be from 0 to 1"}},
		"not a number":   {with(func(c *anthropic.Config) { c.Temperature, c.TopP = &nan, &nan }), []string{"Temperature", "TopP"}},
		"effort":         {with(func(c *anthropic.Config) { c.Effort = "huge" }), []string{`Effort: "huge" is none of empty, "low"`}},
		"output":         {with(func(c *anthropic.Config) { c.Output = "tool" }), []string{`Output: "tool" is none of empty`}},
		"cache":          {with(func(c *anthropic.Config) { c.Cache = "1d" }), []string{`Cache: "1d" is none of`}},
		"thinking":       {with(func(c *anthropic.Config) { c.Thinking.Mode = "deep" }), []string{`Thinking.Mode: "deep" is none of`}},
		"idle thoughts":  {with(func(c *anthropic.Config) { c.ShowThinking = true }), []string{"ShowThinking: needs thinking"}},
		"idle budget":    {with(func(c *anthropic.Config) { c.Thinking.BudgetTokens = 5000 }), []string{"Thinking.BudgetTokens: must be 0 unless"}},
		"small budget":   {with(func(c *anthropic.Config) { c.Thinking = anthropic.Thinking{Mode: anthropic.Budget} }), []string{"at least 1024"}},
		"large budget":   {with(func(c *anthropic.Config) { c.Thinking = anthropic.Thinking{anthropic.Budget, 4096} }), []string{"less than MaxTokens (4096)"}},
		"cold thoughts":  {with(func(c *anthropic.Config) { c.Thinking.Mode, c.Temperature = anthropic.Adaptive, &half }), []string{"must be nil or 1 with Thinking"}},
		"fitting budget": {with(func(c *anthropic.Config) { c.Thinking = anthropic.Thinking{anthropic.Budget, 1024} }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := anthropic.New(sdk.NewClient(), c.cfg)
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

func TestAClientThatNobodyMadeIsNamed(t *testing.T) {
	_, err := anthropic.New(sdk.Client{}, anthropic.Config{Model: "m", MaxTokens: 1})
	require.EqualError(t, err, "anthropic: the client is empty: make one with NewClient of the SDK")
}
