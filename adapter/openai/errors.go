package openai

import "github.com/retake-go/retake/adapter/internal/wire"

// Error is a request that brought no reply: what its text names is safe to log. In its chain are the typed
// error of package fault (a *fault.RateLimitError, *fault.AuthError, …; all of them a fault.ProviderError),
// and the SDK's *openai.Error where the server answered in its form. Where a response came it stands within a
// ratelimit.LimitedError. It is the same type in the adapters of all providers.
type Error = wire.Error

// invalid is a reply that is not what the API promises.
func invalid(got string) error { return &wire.UnreadableError{Got: got} }

// told is a reply that tells of an error.
func told(body []byte) error { return &wire.ToldError{Body: body} }

// unfinished is a reply that the server itself did not finish, by the code that it stands for.
func unfinished(code, say string) error {
	return &wire.ToldError{Code: code, Say: "the server did not finish the reply: " + say}
}
