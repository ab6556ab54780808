package policy_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

func TestEachTokenHasOnePrice(t *testing.T) {
	u := message.Usage{InputTokens: 1_000_000, OutputTokens: 100_000, CacheReadTokens: 400_000, CacheWriteTokens: 200_000, ReasoningTokens: 40_000}
	for _, c := range []struct {
		name  string
		price policy.Price
		want  int64
	}{
		{"nothing", policy.Price{}, 0},
		{"all parts of the input alike", policy.Price{Input: 3_000_000, Output: 15_000_000}, 3_000_000 + 1_500_000},
		{"a cache", policy.Price{Input: 3_000_000, CacheRead: new(int64(300_000)), CacheWrite: new(int64(3_750_000))}, 1_200_000 + 120_000 + 750_000},
		{"a free cache", policy.Price{Input: 3_000_000, CacheRead: new(int64(0))}, 1_200_000 + 600_000},
		{"reasoning alone", policy.Price{Reasoning: new(int64(1_000_000))}, 40_000},
		{"reasoning", policy.Price{Output: 10_000_000, Reasoning: new(int64(20_000_000))}, 600_000 + 800_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := policy.DefaultSet()
			set.Prices = policy.Prices{"m": c.price}
			require.NoError(t, set.Validate())
			assert.Equal(t, c.want, c.price.Cost(u).Micros())
		})
	}
}

func TestACostIsRoundedUpOnce(t *testing.T) {
	p := policy.Price{Input: 1, Output: 1}
	assert.EqualValues(t, 1, p.Cost(message.Usage{InputTokens: 1, OutputTokens: 1}).Micros())
	assert.EqualValues(t, 1, p.Cost(message.Usage{InputTokens: 500_000, OutputTokens: 500_000}).Micros())
	assert.EqualValues(t, 2, p.Cost(message.Usage{InputTokens: 500_000, OutputTokens: 500_001}).Micros())
}

func TestACostNeverOverflows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int64 { return rapid.Int64().Draw(t, name) }
		u := message.Usage{InputTokens: n("in"), OutputTokens: n("out"), CacheReadTokens: n("read"), CacheWriteTokens: n("write"), ReasoningTokens: n("thought")}
		p := policy.Price{Input: n("input"), Output: n("output"), CacheRead: new(n("cache")), Reasoning: new(n("reasoning"))}
		require.GreaterOrEqual(t, p.Cost(u).Micros(), int64(0))
	})
	huge := message.Usage{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64}
	assert.EqualValues(t, int64(math.MaxInt64), policy.Price{Input: 3}.Cost(message.Usage{InputTokens: 1 << 62}).Input, "below 1 << 64")
	assert.EqualValues(t, int64(math.MaxInt64), policy.Price{Input: 4}.Cost(message.Usage{InputTokens: 1 << 62}).Input, "1 << 64")
	assert.EqualValues(t, int64(math.MaxInt64)/1e6+1, policy.Price{Input: math.MaxInt64, Output: 1}.Cost(huge).Micros())
}

func TestAllThatIsWrongWithPricesIsSaid(t *testing.T) {
	set := policy.DefaultSet()
	set.Prices = policy.Prices{"b": {Input: -1, Reasoning: new(int64(-2))}, "a": {Output: 1}}
	require.EqualError(t, set.Validate(), `prices.b.input: -1 is too few; write 0 or more
prices.b.reasoning: -2 is too few; write 0 or more`)
}

func TestAVersionOfAModelHasItsPrice(t *testing.T) {
	prices := policy.Prices{"gpt-4o": {Input: 2}, "gpt-4o-mini": {Input: 1}, "gpt-4": {Input: 3}, "claude-sonnet-4": {Input: 4}, "gemini-2.5-flash": {Input: 5}}
	for model, want := range map[string]int64{
		"gpt-4o": 2, "gpt-4o-2024-08-06": 2, "gpt-4o-mini-2024-07-18": 1, "gpt-4o-mini@1": 1, "gpt-4om": 0, "": 0,
		"gpt-4-0613": 3, "gpt-4-32k": 0, "gpt-4-turbo": 0, "gpt-4o-audio-preview": 0,
		"claude-sonnet-4-latest": 4, "claude-sonnet-4@20250514": 4, "claude-sonnet-4-20250514-v1:0": 4,
		"gemini-2.5-flash-preview-05-20": 5, "gemini-2.5-flash-lite": 0, "gemini-2.5-flash-": 0,
	} {
		price, known := prices.Of(model)
		assert.Equal(t, want, price.Input, model)
		assert.Equal(t, want > 0, known, model)
	}
}

// No provider counts below 0. If one does, that is not added to the counts that it is a part of.
func TestANegativeCountCostsNothing(t *testing.T) {
	p := policy.Price{Input: 1_000_000, Output: 1_000_000}
	u := message.Usage{InputTokens: 10, OutputTokens: 10, CacheReadTokens: -5, CacheWriteTokens: -5, ReasoningTokens: -5}
	assert.EqualValues(t, 20, p.Cost(u).Micros())
	assert.EqualValues(t, 10, p.Cost(message.Usage{InputTokens: 10, OutputTokens: -10}).Micros())
	p.Reasoning = new(int64(5_000_000))
	assert.EqualValues(t, 50, p.Cost(message.Usage{OutputTokens: 10, ReasoningTokens: 99}).Micros(), "more reasoning than output")
}
