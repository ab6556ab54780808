package genai

import (
	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// unusable returns the error of a response that is no reply; nil if it is one.
func (g *received) unusable() error {
	if finish, _ := kit.Finish(g.finish, g.calls); g.open != nil && finish == message.ToolUse {
		return errPieces
	}
	if g.began || g.blocked != "" {
		return kit.Unusable(g.finish, g.finished)
	}
	return kit.NoReply(g.last, &kit.UnreadableError{Got: "no candidate"})
}
