package genai

import (
	"github.com/retake-go/retake/adapter/kit"
)

// unusable returns the error of a response that is no reply; nil if it is one.
func (g *received) unusable() error {
	if g.began || g.blocked != "" {
		return kit.Unusable(g.finish, g.finished)
	}
	return kit.NoReply(g.last, &kit.UnreadableError{Got: "no candidate"})
}
