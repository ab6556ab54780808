package chat

import "github.com/retake-go/retake/adapter/kit"

// Error is a failed request. Its text is safe to log. Its chain has the typed error of package fault (a
// *fault.RateLimitError, *fault.AuthError, …, each a fault.ProviderError), and the error of the SDK or of
// net/http. If a response came, it stands within a ratelimit.LimitedError. All provider adapters share the
// type.
type Error = kit.Error

// invalid is the error of a reply that does not follow the API.
func invalid(got string) error { return &kit.UnreadableError{Got: got} }

// reportedError is the error of a reply that reports one.
func reportedError(body []byte) error { return &kit.ReportedError{Body: body} }

// unfinished is the error of a reply that the server did not finish. code is the error code that it
// amounts to.
func unfinished(code, say string) error {
	return &kit.ReportedError{Code: code, Say: "the server did not finish the reply: " + say}
}
