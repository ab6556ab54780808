package genai

import (
	"context"
	"errors"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/fault"
)

// Error is a request that brought no reply: what its text names is safe to log. Its chain has the typed error
// of package fault ([fault.RateLimitError] and its kin) and what the SDK returned: an sdk.APIError, by value,
// where the API answered in its form. It is the same type in the adapters of all providers.
type Error = wire.Error

// garbled are the finish reasons of a call that the API could not read, or would not take, and what would be
// right. There is no call to answer: the model is told in words.
var garbled = map[string]fault.Issue{
	"MALFORMED_FUNCTION_CALL": {Rule: fault.RuleSyntax, Expected: "a function call that can be read", Source: fault.FromReply},
	"MALFORMED_RESPONSE":      {Rule: fault.RuleSyntax, Expected: "a reply that can be read", Source: fault.FromReply},
	"UNEXPECTED_TOOL_CALL":    {Rule: fault.RuleUnknownTool, Expected: "a call of a function that is on offer", Source: fault.FromReply},
	"TOO_MANY_TOOL_CALLS":     {Rule: "too_many_calls", Expected: "fewer function calls", Source: fault.FromReply},
}

// garbledError is such a reply.
type garbledError struct{ reason, sentence string }

func (e *garbledError) Error() string { return e.reason + ": " + e.sentence }

// unusable is what keeps a response from being a reply; nil where nothing does.
func (g *received) unusable() error {
	if _, isGarbled := garbled[g.finish]; isGarbled {
		return &garbledError{g.finish, g.finished}
	}
	if !g.began && g.blocked == "" {
		return &wire.UnreadableError{Got: "no candidate"}
	}
	return nil
}

// failed makes an error of what went wrong with the exchange.
func (x *exchange) failed(ctx context.Context, cause error) error {
	t := wire.Trouble{Cause: cause, Refusal: x.refusal}
	if g, isGarbled := errors.AsType[*garbledError](cause); isGarbled {
		t.Issue, t.Code, t.Sentence = new(garbled[g.reason]), g.reason, g.sentence
	}
	return x.Fail(ctx, t)
}
