package genai

import (
	"encoding/json"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// The API refuses a conversation that begins or ends with the model.
var rules = kit.Rules{Name: toolName, UserAround: true}

// content is one turn.
type content struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
	// answers is set if the parts are answers to calls.
	answers bool
}

// conversation is a transcript in the API's form.
type conversation struct {
	model    string
	contents []content
}

// turnsOf converts a transcript. It returns the system messages before the first user or model message
// apart.
func turnsOf(said []message.Message, model string) (turns []content, system []string) {
	c := conversation{model: model}
	system, exchanges := rules.Exchanges(said)
	for _, e := range exchanges {
		c.assistant(e)
		c.answers(e.Calls)
		c.user(e.Then...)
	}
	return c.contents, system
}

// user adds user messages, to the last content if it is the user's. Answers to calls stand alone.
func (c *conversation) user(said ...message.Message) {
	if len(said) == 0 {
		return
	}
	var parts []json.RawMessage
	for _, m := range said {
		if !kit.Blank(m.Text) {
			parts = append(parts, textPart(m.Text, ""))
		}
		for _, p := range m.Parts {
			parts = append(parts, mediaPart(p))
		}
	}
	if n := len(c.contents); n > 0 && c.contents[n-1].Role == "user" && !c.contents[n-1].answers {
		c.contents[n-1].Parts = append(c.contents[n-1].Parts, parts...)
		return
	}
	c.contents = append(c.contents, content{Role: "user", Parts: parts})
}

// assistant adds a message of the model, to the last content if it is the model's.
func (c *conversation) assistant(e kit.Exchange) {
	if e.Model.Role == "" {
		return
	}
	parts := c.parts(e)
	if n := len(c.contents); n > 0 && c.contents[n-1].Role == "model" {
		c.contents[n-1].Parts = append(c.contents[n-1].Parts, parts...)
		return
	}
	c.contents = append(c.contents, content{Role: "model", Parts: parts})
}

// parts returns the parts of a message, as the model made them.
func (c *conversation) parts(e kit.Exchange) []json.RawMessage {
	var parts []json.RawMessage
	from := 0
	for _, p := range layout(e.Model, c.model) {
		switch {
		case len(p.Raw) > 0:
			parts = append(parts, p.Raw)
		case p.Call > 0:
			parts = append(parts, c.callPart(e.Calls[p.Call-1], p.Signature))
		default:
			text := e.Model.Text[from : from+p.Text]
			if from += p.Text; !kit.Blank(text) || p.Signature != "" {
				parts = append(parts, textPart(text, p.Signature))
			}
		}
	}
	return parts
}

func textPart(text, signature string) json.RawMessage {
	return signed(signature, kit.TextField("text", text))
}

func (c *conversation) callPart(call kit.Call, signature string) json.RawMessage {
	o := append(c.named(call), kit.Field("args", kit.Arguments(call.Made.Arguments)))
	return signed(signature, kit.Field("functionCall", o.JSON()))
}

// named returns the members that name a call. Models before Gemini 3 give no ids, and some of their servers
// refuse to get any: there the order tells which answer is of which call.
func (c *conversation) named(call kit.Call) kit.Object {
	name := kit.Object{kit.TextField("name", call.Name)}
	if !kit.NeedsSignature(c.model) {
		return name
	}
	return append(kit.Object{kit.TextField("id", call.ID)}, name...)
}

// signed returns a part with its signature, if it has one.
func signed(signature string, what kit.Member) json.RawMessage {
	o := kit.Object{what}
	if signature != "" {
		o = append(o, kit.TextField("thoughtSignature", signature))
	}
	return o.JSON()
}

// answers adds the answers to calls as a content of their own.
func (c *conversation) answers(calls []kit.Call) {
	if len(calls) == 0 {
		return
	}
	all := content{Role: "user", answers: true}
	for _, call := range calls {
		response := append(c.named(call), kit.Field("response", result(call)))
		all.Parts = append(all.Parts, kit.Object{kit.Field("functionResponse", response.JSON())}.JSON())
	}
	c.contents = append(c.contents, all)
}

// result returns an answer: the tool's JSON, or its text.
func result(c kit.Call) json.RawMessage {
	switch {
	case c.IsError:
		return kit.Quoted("error", c.Text)
	case kit.IsStrict([]byte(c.Text)):
		return kit.Object{kit.Field("output", json.RawMessage(c.Text))}.JSON()
	}
	return kit.Object{kit.TextField("output", c.Text)}.JSON()
}

// maxName bounds the name of a function, in bytes.
const maxName = 128

// toolName returns a name that the API accepts: it begins with a letter or "_". A model may have written
// anything.
func toolName(name string) string {
	name = tool.ProviderName(name)
	if name == "" || name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name[:min(len(name), maxName)]
}
