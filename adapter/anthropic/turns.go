package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// RawArguments is the one member of the object that stands for a call's arguments where what the model wrote
// is no strict JSON object: the API takes objects only. Its value is the text as it was written.
const RawArguments = wire.RawArguments

var rules = wire.Rules{Name: toolName, TakesID: isID, MediaInAnswers: true}

// conversation is a transcript on its way to the wire: turns of user and assistant, one after the other, each
// call answered in the turn after it.
type conversation struct {
	model string
	turns []sdk.MessageParam
	// container is where code waits for the results of the last calls; empty for none.
	container string
}

// turnsOf makes the turns of a transcript. It returns the system messages before the first of user or model
// apart. The API has no place for later ones, which become the user's. Many models refuse to continue their
// own message: where one is the last, the user bids it go on.
func turnsOf(said []message.Message, model string) (c conversation, system []string) {
	c.model = model
	system, exchanges := rules.Exchanges(said)
	for _, e := range exchanges {
		c.assistant(e)
		c.user(e)
	}
	if n := len(c.turns); n == 0 || c.turns[n-1].Role == sdk.MessageParamRoleAssistant {
		c.say(sdk.MessageParamRoleUser, sdk.NewTextBlock(wire.GoOn))
	}
	return c, system
}

// say adds blocks to the last turn, or to a new one where another speaks.
func (c *conversation) say(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
	if len(blocks) == 0 {
		return
	}
	if len(c.turns) == 0 && role == sdk.MessageParamRoleAssistant {
		c.say(sdk.MessageParamRoleUser, sdk.NewTextBlock(wire.GoOn))
	}
	if n := len(c.turns); n > 0 && c.turns[n-1].Role == role {
		c.turns[n-1].Content = append(c.turns[n-1].Content, blocks...)
		return
	}
	c.turns = append(c.turns, sdk.MessageParam{Role: role, Content: blocks})
}

// assistant adds what the model said: what it keeps for the API, text and calls, in the order they came.
func (c *conversation) assistant(e wire.Exchange) {
	if e.Model.Role == "" {
		return
	}
	o := kept(e.Model, c.model)
	if c.container = ""; len(e.Calls) > 0 {
		c.container = o.Container
	}
	var blocks []sdk.ContentBlockParamUnion
	from := 0
	for _, p := range o.layout(e.Model) {
		switch {
		case len(p.Raw) > 0:
			blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](p.Raw))
		case p.Call > 0:
			call := e.Calls[p.Call-1]
			b := sdk.NewToolUseBlock(call.ID, wire.Arguments(call.Made.Arguments), call.Name)
			if isBlock(p.Caller) {
				b.OfToolUse.SetExtraFields(map[string]any{"caller": p.Caller})
			}
			blocks = append(blocks, b)
		default:
			text := e.Model.Text[from : from+p.Text]
			if from += p.Text; wire.Blank(text) {
				continue
			}
			b := sdk.NewTextBlock(text)
			if wire.Items(p.Citations) != nil {
				b.OfText.SetExtraFields(map[string]any{"citations": p.Citations})
			}
			blocks = append(blocks, b)
		}
	}
	c.say(sdk.MessageParamRoleAssistant, blocks...)
}

// user adds the answer to every call, in the order of the calls, then what else was said.
func (c *conversation) user(e wire.Exchange) {
	var all []sdk.ContentBlockParamUnion
	for _, call := range e.Calls {
		all = append(all, result(call))
	}
	for _, m := range e.Then {
		all = append(all, blocks(m.Text, m.Parts)...)
	}
	c.say(sdk.MessageParamRoleUser, all...)
}

func result(call wire.Call) sdk.ContentBlockParamUnion {
	r := sdk.ToolResultBlockParam{ToolUseID: call.ID}
	if call.IsError {
		r.IsError = sdk.Bool(true)
	}
	if !wire.Blank(call.Text) {
		r.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: call.Text}}}
	}
	for _, p := range call.Parts {
		r.Content = append(r.Content, param.Override[sdk.ToolResultBlockParamContentUnion](block(p)))
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &r}
}

// toolName is a tool's name as the API takes it; a model may have written anything.
func toolName(name string) string {
	name = tool.ProviderName(name)
	if name == "" {
		return "_"
	}
	return name[:min(len(name), maxName)]
}
