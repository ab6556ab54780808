package genai

import (
	"context"
	"errors"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/fault"
)

// Error is a failed request. Its text is safe to log. Its chain has the typed error of package fault
// ([fault.RateLimitError] and so on) and the SDK's error: an sdk.APIError, by value, if the API answered
// in its form. All provider adapters share the type.
type Error = kit.Error

// garbled maps the finish reasons of calls that the API could not parse or refused to the issue that the
// model is shown. There is no call to answer, so that the feedback is a user message.
var garbled = map[string]fault.Issue{
	"MALFORMED_FUNCTION_CALL": {Rule: fault.RuleSyntax, Expected: "a function call that can be read",
		Source: fault.FromReply},
	"MALFORMED_RESPONSE": {Rule: fault.RuleSyntax, Expected: "a reply that can be read",
		Source: fault.FromReply},
	"UNEXPECTED_TOOL_CALL": {Rule: fault.RuleUnknownTool,
		Expected: "a call of a function that is on offer", Source: fault.FromReply},
	"TOO_MANY_TOOL_CALLS": {Rule: "too_many_calls", Expected: "fewer function calls",
		Source: fault.FromReply},
}

// garbledError is the error of such a reply.
type garbledError struct{ reason, sentence string }

func (e *garbledError) Error() string { return e.reason + ": " + e.sentence }

// unusable returns the error of a response that is no reply; nil if it is one.
func (g *received) unusable() error {
	if _, isGarbled := garbled[g.finish]; isGarbled {
		return &garbledError{g.finish, g.finished}
	}
	if !g.began && g.blocked == "" {
		return &kit.UnreadableError{Got: "no candidate"}
	}
	return nil
}

// failed returns the error of an exchange.
func (x *exchange) failed(ctx context.Context, cause error) error {
	t := kit.Trouble{Cause: cause}
	if g, isGarbled := errors.AsType[*garbledError](cause); isGarbled {
		t.Issue, t.Code, t.Sentence = new(garbled[g.reason]), g.reason, g.sentence
	}
	return x.Fail(ctx, t)
}
