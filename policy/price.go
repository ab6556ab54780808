package policy

import (
	"math"
	"math/bits"
	"regexp"
	"strings"

	"github.com/retake-go/retake/message"
)

// Price is what a million tokens of a model cost, in millionths of a unit of money: 3 dollars are 3_000_000.
// The zero value is free.
type Price struct {
	// Input (input) is for the tokens of prompts, Output (output) for those that the model wrote; at least 0.
	Input  int64 `json:"input" policy:"input,millionths"`
	Output int64 `json:"output" policy:"output,millionths"`
	// CacheRead (cache_read) and CacheWrite (cache_write) are for the tokens of prompts that were read from
	// or written to a cache; nil means Input. Reasoning (reasoning) is for the tokens of reasoning in what
	// the model wrote; nil means Output.
	CacheRead  *int64 `json:"cache_read,omitempty" policy:"cache_read,millionths"`
	CacheWrite *int64 `json:"cache_write,omitempty" policy:"cache_write,millionths"`
	Reasoning  *int64 `json:"reasoning,omitempty" policy:"reasoning,millionths"`
	// ContextWindow (context_window) is the most tokens of a prompt with its reply; nil means unknown. At
	// least 1. See [Context].
	ContextWindow *int64 `json:"context_window,omitempty" policy:"context_window,least=1"`
}

// Cost returns the cost of usage. Each token has one price, and a negative count costs nothing.
func (p Price) Cost(u message.Usage) Cost {
	or := func(own *int64, otherwise int64) int64 {
		if own != nil {
			return *own
		}
		return otherwise
	}
	thought := max(min(u.ReasoningTokens, u.OutputTokens), 0)
	cached := plus(u.CacheReadTokens, u.CacheWriteTokens)
	return Cost{
		Input:      times(u.InputTokens-cached, p.Input),
		CacheRead:  times(u.CacheReadTokens, or(p.CacheRead, p.Input)),
		CacheWrite: times(u.CacheWriteTokens, or(p.CacheWrite, p.Input)),
		Output:     plus(times(u.OutputTokens-thought, p.Output), times(thought, or(p.Reasoning, p.Output))),
	}
}

// Cost is the cost of tokens by its parts. Each part is in millionths of the unit of a [Price], so that it is
// exact; it saturates at the largest int64. Output includes reasoning.
type Cost struct{ Input, Output, CacheRead, CacheWrite int64 }

// Micros returns the whole cost in the unit of a [Price], rounded up.
func (c Cost) Micros() int64 {
	all := plus(plus(c.Input, c.Output), plus(c.CacheRead, c.CacheWrite))
	if all%1e6 > 0 {
		return all/1e6 + 1
	}
	return all / 1e6
}

// times returns the product of two counts, at most the largest int64.
func times(n, price int64) int64 {
	if n <= 0 || price <= 0 {
		return 0
	}
	over, product := bits.Mul64(uint64(n), uint64(price))
	if over > 0 || product > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(product)
}

// plus returns the sum of two counts, at most the largest int64. A count below 0 is none.
func plus(a, b int64) int64 {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Prices maps models to prices. A name that is not in the table has the price of the longest name there that
// it extends by a version: "gpt-4o-2024-08-06" has that of "gpt-4o", and "gpt-4o-mini" has none. Nil means
// that costs are unknown.
type Prices map[string]Price

// Of returns the price of a model, or false if the table has none.
func (p Prices) Of(model string) (Price, bool) {
	for end := len(model); end >= 0; end = strings.LastIndexAny(model[:end], "-@") {
		if price, there := p[model[:end]]; there && isVersion.MatchString(model[end:]) {
			return price, true
		}
	}
	return Price{}, false
}

// isVersion matches what follows the name of a model in that of one of its versions: dates and numbers, and
// words for a version that has no number yet. Other words and sizes, such as mini and 32k, make another
// model.
var isVersion = regexp.MustCompile(`^([-@:](v?[0-9.]+|latest|preview|exp))*$`)
