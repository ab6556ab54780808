package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/fault"
)

// Error is a request that brought no reply: what its text names is safe to log. Its chain has the typed error
// of package fault ([fault.RateLimitError] and its kin; [fault.ToolValidationError] where the server could
// not read the model's call) and what net/http returned. It is the same type in the adapters of all
// providers.
type Error = wire.Error

// refusedError is a response of another status than 200.
type refusedError struct{ status int }

func (e *refusedError) Error() string { return fmt.Sprintf("the server answered %d", e.status) }

// failed makes an error of what went wrong with the exchange.
func (x *exchange) failed(ctx context.Context, cause error) error {
	body := x.refusal
	if told, ok := errors.AsType[*wire.ToldError](cause); ok {
		body = told.Body
	}
	t := wire.Trouble{Cause: cause, Refusal: x.refusal, Issue: garbledCall(wire.ReadError(body).Sentence)}
	// An error in a stream has no status any more. The server's own for what it does not name is 500.
	t.Otherwise = http.StatusInternalServerError
	return x.Fail(ctx, t)
}

// garbled are the sentences by which the server says that it could not read the arguments of a call that the
// model made.
var garbled = []string{"error parsing tool call:", "llama-server returned invalid tool call arguments", "invalid tool call:"}

// garbledCall is such a call as an issue: the model is told, for the same request again would bring the same.
// Nil where it is none.
func garbledCall(sentence string) *fault.Issue {
	for _, start := range garbled {
		if strings.HasPrefix(sentence, start) {
			return &fault.Issue{Rule: fault.RuleSyntax, Expected: "a tool call whose arguments are one JSON object", Source: fault.FromReply}
		}
	}
	return nil
}
