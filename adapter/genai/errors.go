package genai

import (
	"github.com/retake-go/retake/adapter/kit"
)

// Error is a failed request. Its text is safe to log. Its chain has the typed error of package fault
// ([fault.RateLimitError] and so on) and the SDK's error: an sdk.APIError, by value, if the API answered
// in its form. All provider adapters share the type.
type Error = kit.Error

// unusable returns the error of a response that is no reply; nil if it is one.
func (g *received) unusable() error {
	if g.began || g.blocked != "" {
		return kit.Unusable(g.finish, g.finished)
	}
	return kit.NoReply(g.last, &kit.UnreadableError{Got: "no candidate"})
}
