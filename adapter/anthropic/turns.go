package anthropic

import (
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// RawArguments is the one member of the object that stands for a call's arguments where what the model wrote is no strict
// JSON object: the API takes objects only. Its value is the text as it was written.
const RawArguments = "raw_arguments"

// What is said where the API wants words and the transcript has none.
const (
	// goOn opens a conversation that begins with the model, and closes one that ends with it: many models refuse to continue
	// their own message.
	goOn = "Continue."
	// notRun answers a call that nobody answered.
	notRun = "No result: the call was not run."
	// failed is feedback without a word, which the API refuses.
	failed = "The call failed."
)

// conversation is a transcript on its way to the wire: turns of user and assistant, one after the other, each call
// answered in the turn after it.
type conversation struct {
	model string
	turns []sdk.MessageParam
	// ids are the ids of calls on the wire so far: the API wants each once.
	ids map[string]bool
	// open are the calls of the last turn, and texts what the user said since.
	open  []openCall
	texts []string
}

// openCall is a call that waits for its answer.
type openCall struct {
	call   message.Call
	id     string // on the wire
	answer *message.Message
}

// turnsOf makes the turns of a transcript. The system messages before the first of user or model it returns apart; the
// API has no place for later ones, which become the user's.
func turnsOf(said message.Transcript, model string) (turns []sdk.MessageParam, system []string) {
	c := conversation{model: model, ids: map[string]bool{}}
	opening := true
	for _, m := range said.All() {
		opening = opening && oneOf(m.Role, message.System, message.Tool)
		switch {
		case opening && m.Role == message.System:
			system = append(system, m.Text)
		case m.Role == message.Assistant:
			c.settle()
			c.assistant(m)
		case m.Role == message.Tool:
			c.answer(m)
		default:
			c.texts = append(c.texts, m.Text)
		}
	}
	c.settle()
	if n := len(c.turns); n == 0 || c.turns[n-1].Role == sdk.MessageParamRoleAssistant {
		c.say(sdk.MessageParamRoleUser, sdk.NewTextBlock(goOn))
	}
	return c.turns, system
}

// say adds blocks to the last turn, or to a new one where another speaks.
func (c *conversation) say(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
	if len(blocks) == 0 {
		return
	}
	if len(c.turns) == 0 && role == sdk.MessageParamRoleAssistant {
		c.say(sdk.MessageParamRoleUser, sdk.NewTextBlock(goOn))
	}
	if n := len(c.turns); n > 0 && c.turns[n-1].Role == role {
		c.turns[n-1].Content = append(c.turns[n-1].Content, blocks...)
		return
	}
	c.turns = append(c.turns, sdk.MessageParam{Role: role, Content: blocks})
}

// assistant adds what the model said: what it keeps for the API, text and calls, in the order they came.
func (c *conversation) assistant(m message.Message) {
	var blocks []sdk.ContentBlockParamUnion
	from, spoken := 0, false
	for _, p := range layout(m, c.model) {
		switch {
		case len(p.Raw) > 0:
			blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](p.Raw))
			continue
		case p.Call > 0:
			blocks = append(blocks, c.call(m.Calls[p.Call-1]))
			spoken = true
			continue
		}
		text := m.Text[from : from+p.Text]
		if from += p.Text; !blank(text) {
			blocks = append(blocks, sdk.NewTextBlock(text))
			spoken = true
		}
	}
	if spoken {
		c.say(sdk.MessageParamRoleAssistant, blocks...)
	}
}

func (c *conversation) call(made message.Call) sdk.ContentBlockParamUnion {
	id := c.claim(made.ID)
	c.open = append(c.open, openCall{call: made, id: id})
	return sdk.NewToolUseBlock(id, input(made.Arguments), toolName(made.Name))
}

// answer keeps an answer for the turn's end: that of the call with its id, else of the first open one of its name (ids that
// were derived may differ), else what it says is said as text.
func (c *conversation) answer(m message.Message) {
	at := slices.IndexFunc(c.open, func(o openCall) bool { return o.answer == nil && o.call.ID != "" && o.call.ID == m.CallID })
	if at < 0 {
		at = slices.IndexFunc(c.open, func(o openCall) bool {
			return o.answer == nil && (o.call.Name == m.Name || toolName(o.call.Name) == toolName(m.Name))
		})
	}
	if at < 0 {
		c.texts = append(c.texts, "Result of "+toolName(m.Name)+": "+m.Text)
		return
	}
	c.open[at].answer = &m
}

// settle ends the user's turn: first the answer to every open call, in the order of the calls, then what else was said.
func (c *conversation) settle() {
	var blocks []sdk.ContentBlockParamUnion
	for _, o := range c.open {
		blocks = append(blocks, o.result())
	}
	for _, text := range c.texts {
		if !blank(text) {
			blocks = append(blocks, sdk.NewTextBlock(text))
		}
	}
	c.say(sdk.MessageParamRoleUser, blocks...)
	c.open, c.texts = nil, nil
}

func (o openCall) result() sdk.ContentBlockParamUnion {
	r := sdk.ToolResultBlockParam{ToolUseID: o.id}
	text, isError := notRun, true
	if o.answer != nil {
		text, isError = o.answer.Text, o.answer.IsError
	}
	if isError {
		r.IsError = sdk.Bool(true)
		text = firstWord(text, failed)
	}
	if !blank(text) {
		r.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: text}}}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &r}
}

// claim gives a call its id on the wire: its own, unless the API would refuse it or it was given before, as happens with
// derived ones; else the next of "call-1", "call-2", … that is free.
func (c *conversation) claim(id string) string {
	for n := 1; !isID(id) || c.ids[id]; n++ {
		id = derivedID(n)
	}
	c.ids[id] = true
	return id
}

// input is a call's arguments as the object that the API wants.
func input(arguments string) json.RawMessage {
	if blank(arguments) {
		return json.RawMessage("{}")
	}
	if raw := []byte(arguments); schema.Strict(raw, schema.DefaultLimits()) == nil && isObject(raw) {
		return raw
	}
	return object(member{RawArguments, quoted(arguments)})
}

// toolName is a tool's name as the API takes it; a model may have written anything.
func toolName(name string) string {
	name = (*tool.Set)(nil).ProviderName(name)
	if name == "" {
		return "_"
	}
	return name[:min(len(name), maxName)]
}
