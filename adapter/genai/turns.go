package genai

import (
	"encoding/json"
	"regexp"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// RawArguments is the one member of the object that stands for a call's arguments where what the model wrote
// is no strict JSON object: the API takes objects only. Its value is the text as it was written.
const RawArguments = wire.RawArguments

var rules = wire.Rules{Name: toolName}

// unchecked stands for the signature of a call that another model made: the API's own word for it.
const unchecked = "skip_thought_signature_validator"

// earlier are the models that want no signatures.
var earlier = regexp.MustCompile(`gemini-[12]([.-]|$)|gemma`)

// content is one turn of one side.
type content struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
	// answers is set where the parts are the answers to calls.
	answers bool
}

// conversation is a transcript on its way to the wire.
type conversation struct {
	model    string
	contents []content
}

// turnsOf makes the contents of a transcript. The system messages before the first of user or model it
// returns apart. The API refuses a conversation that begins or ends with the model: there the user bids it go
// on.
func turnsOf(said []message.Message, model string) (turns []content, system []string) {
	c := conversation{model: model}
	system, exchanges := rules.Exchanges(said)
	for _, e := range exchanges {
		c.assistant(e)
		c.answers(e.Calls)
		c.user(e.Then...)
	}
	if c.last() != "user" {
		c.user(message.Message{Text: wire.GoOn})
	}
	return c.contents, system
}

// last is the role of the last content; empty before the first.
func (c *conversation) last() string {
	if n := len(c.contents); n > 0 {
		return c.contents[n-1].Role
	}
	return ""
}

// user adds what the user said, to his last content where nobody spoke since: but not to answers, which stand
// alone.
func (c *conversation) user(said ...message.Message) {
	if len(said) == 0 {
		return
	}
	var parts []json.RawMessage
	for _, m := range said {
		if !wire.Blank(m.Text) {
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

// assistant adds what the model said, to its last content where nobody spoke since.
func (c *conversation) assistant(e wire.Exchange) {
	if e.Model.Role == "" {
		return
	}
	if len(c.contents) == 0 {
		c.user(message.Message{Text: wire.GoOn})
	}
	parts := c.parts(e)
	if c.last() != "model" {
		c.contents = append(c.contents, content{Role: "model", Parts: parts})
		return
	}
	before := &c.contents[len(c.contents)-1]
	before.Parts = append(before.Parts, parts...)
}

// parts are a message's, as the model made them.
func (c *conversation) parts(e wire.Exchange) []json.RawMessage {
	var parts []json.RawMessage
	from := 0
	for _, p := range layout(e.Model, c.model) {
		switch {
		case len(p.Raw) > 0:
			parts = append(parts, p.Raw)
		case p.Call > 0:
			parts = append(parts, callPart(e.Calls[p.Call-1], p.Signature))
		default:
			text := e.Model.Text[from : from+p.Text]
			if from += p.Text; !wire.Blank(text) || p.Signature != "" {
				parts = append(parts, textPart(text, p.Signature))
			}
		}
	}
	return parts
}

func textPart(text, signature string) json.RawMessage {
	return signed(signature, wire.Field("text", wire.Quote(text)))
}

func callPart(c wire.Call, signature string) json.RawMessage {
	call := wire.Object{
		wire.Field("id", wire.Quote(c.ID)), wire.Field("name", wire.Quote(c.Name)), wire.Field("args", wire.Arguments(c.Made.Arguments)),
	}
	return signed(signature, wire.Field("functionCall", call.JSON()))
}

// signed is a part with its signature, where it has one.
func signed(signature string, what wire.Member) json.RawMessage {
	o := wire.Object{what}
	if signature != "" {
		o = append(o, wire.Field("thoughtSignature", wire.Quote(signature)))
	}
	return o.JSON()
}

// answers adds the answers to calls, in a content of their own.
func (c *conversation) answers(calls []wire.Call) {
	if len(calls) == 0 {
		return
	}
	all := content{Role: "user", answers: true}
	for _, call := range calls {
		response := wire.Object{
			wire.Field("id", wire.Quote(call.ID)), wire.Field("name", wire.Quote(call.Name)), wire.Field("response", result(call)),
		}
		all.Parts = append(all.Parts, wire.Object{wire.Field("functionResponse", response.JSON())}.JSON())
	}
	c.contents = append(c.contents, all)
}

// result is an answer: what the tool returned where that is JSON, else its text.
func result(c wire.Call) json.RawMessage {
	switch {
	case c.IsError:
		return wire.Object{wire.Field("error", wire.Quote(c.Text))}.JSON()
	case wire.IsStrict([]byte(c.Text)):
		return wire.Object{wire.Field("output", json.RawMessage(c.Text))}.JSON()
	}
	return wire.Object{wire.Field("output", wire.Quote(c.Text))}.JSON()
}

// maxName is how long a function's name may be.
const maxName = 128

// toolName is a tool's name as the API takes it; a model may have written anything. It begins with a letter
// or "_".
func toolName(name string) string {
	name = tool.ProviderName(name)
	if name == "" || name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name[:min(len(name), maxName)]
}
