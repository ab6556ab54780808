package ollama

import (
	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// The server would let a model continue its own message.
var rules = kit.Rules{Name: toolName, UserAround: true}

// conversation is a transcript in the API's form.
type conversation struct {
	model    string
	messages []wireMessage
}

// turnsOf converts a transcript. It returns the system messages before the first user or model message
// apart.
func turnsOf(said []message.Message, model string) (turns []wireMessage, system []string) {
	c := conversation{model: model}
	system, exchanges := rules.Exchanges(said)
	for _, e := range exchanges {
		c.assistant(e)
		c.answers(e.Calls)
		for _, m := range e.Then {
			c.user(m)
		}
	}
	return c.messages, system
}

// last returns the role of the last message; empty before the first.
func (c *conversation) last() string {
	if n := len(c.messages); n > 0 {
		return c.messages[n-1].Role
	}
	return ""
}

// user adds user messages, to the last message if it is the user's.
func (c *conversation) user(m message.Message) {
	text, images := withParts(m)
	if c.last() == "user" {
		before := &c.messages[len(c.messages)-1]
		before.Content, before.Images = kit.Join(before.Content, text), append(before.Images, images...)
		return
	}
	c.messages = append(c.messages, wireMessage{Role: "user", Content: text, Images: images})
}

// assistant adds a message of the model, to the last message if it is the model's.
func (c *conversation) assistant(e kit.Exchange) {
	if e.Model.Role == "" {
		return
	}
	w := wireMessage{Role: "assistant", Content: e.Model.Text, Thinking: thoughtsIn(e.Model, c.model)}
	for n, call := range e.Calls {
		f := wireFunction{Index: n, Name: call.Name, Arguments: kit.Arguments(call.Made.Arguments)}
		w.ToolCalls = append(w.ToolCalls, wireCall{call.ID, f})
	}
	if c.last() != "assistant" {
		c.messages = append(c.messages, w)
		return
	}
	before := &c.messages[len(c.messages)-1]
	before.Content = kit.Join(before.Content, w.Content)
	before.Thinking = kit.Join(before.Thinking, w.Thinking)
	before.ToolCalls = w.ToolCalls
}

// answers adds the answers to calls, one message each.
func (c *conversation) answers(calls []kit.Call) {
	for _, call := range calls {
		c.messages = append(c.messages, wireMessage{Role: "tool", Content: call.Text, ToolName: call.Name,
			ToolCallID: call.ID})
	}
}

// toolName returns a name that templates accept; a model may have written anything.
func toolName(name string) string {
	if name == "" {
		return "_"
	}
	return tool.ProviderName(name)
}
