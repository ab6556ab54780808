package claude

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"regexp"
	"slices"
)

// bindsThoughts matches the models that bind their thoughts to what came before them: the API refuses a
// request in which that differs (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking).
var bindsThoughts = regexp.MustCompile(
	`claude-((opus|sonnet|haiku)-(5-[5-9]|[6-9])|(fable|mythos)-(5-[1-9]|[6-9]))(\D|$)`)

// prefixed is where the blocks of a message of the model are in a conversation.
type prefixed struct {
	turn, from, to int
	// prefix is that of the request that the message answered; empty if it is not known.
	prefix string
}

// bind leaves out the thoughts that came after another prefix than they have now, and returns the prefix of
// the reply: a digest of the system prompt, the tools and the messages as they are sent, without marks for
// the cache. It is empty for a model that binds no thoughts.
func (c *conversation) bind(r *request) (prefix string) {
	if !bindsThoughts.MatchString(c.model) {
		return ""
	}
	digest := fnv.New64a()
	add := func(part any) {
		raw, _ := json.Marshal(part) // it is marshaled again to be sent, and its error is told then
		digest.Write(append(raw, '\n'))
	}
	sum := func() string { return hex.EncodeToString(digest.Sum(nil)) }
	add(r.System)
	add(r.Tools)
	replies := c.replies
	for n := range r.Messages {
		turn := &r.Messages[n]
		add(turn.Role)
		elsewhere, left := 0, turn.Content[:0:0]
		for at, b := range turn.Content {
			for len(replies) > 0 && replies[0].turn == n && replies[0].from == at {
				if elsewhere = 0; replies[0].prefix != "" && replies[0].prefix != sum() {
					elsewhere = replies[0].to
				}
				replies = replies[1:]
			}
			if at >= elsewhere || !isThought(b) {
				add(b)
				left = append(left, b)
			}
		}
		if len(left) < len(turn.Content) {
			turn.Content = slices.Clip(left)
		}
	}
	add(assistant)
	return sum()
}
