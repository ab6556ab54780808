package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/fault"
)

// Error is a failed request. Its text is safe to log. Its chain has the typed error of package fault
// ([fault.RateLimitError] and so on; [fault.ToolValidationError] if the server could not parse the model's
// call) and the error of net/http. All provider adapters share the type.
type Error = kit.Error

// refusedError is a response with a status other than 200.
type refusedError struct{ status int }

func (e *refusedError) Error() string { return fmt.Sprintf("the server answered %d", e.status) }

// failed returns the error of an exchange.
func (x *exchange) failed(ctx context.Context, cause error) error {
	body := x.Refusal
	if reported, ok := errors.AsType[*kit.ReportedError](cause); ok {
		body = reported.Body
	}
	t := kit.Trouble{Cause: cause, Issue: garbledCall(kit.ReadError(body).Sentence)}
	// An error in a stream has no status. The server's own for anything unnamed is 500.
	t.Otherwise = http.StatusInternalServerError
	return x.Fail(ctx, t)
}

// garbled are the server's messages about a call whose arguments it could not parse.
var garbled = []string{"error parsing tool call:", "llama-server returned invalid tool call arguments",
	"invalid tool call:"}

// garbledCall returns such a call as an issue for the model, because the same request would fail the same
// way. It is nil for any other message.
func garbledCall(sentence string) *fault.Issue {
	for _, start := range garbled {
		if strings.HasPrefix(sentence, start) {
			return &fault.Issue{Rule: fault.RuleSyntax,
				Expected: "a tool call whose arguments are one JSON object", Source: fault.FromReply}
		}
	}
	return nil
}
