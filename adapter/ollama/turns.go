package ollama

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// RawArguments is the one member of the object that stands for a call's arguments where what the model wrote is no strict
// JSON object: the API takes objects only. Its value is the text as it was written.
const RawArguments = "raw_arguments"

// What is said where the wire wants words and the transcript has none.
const (
	// goOn opens a conversation that begins with the model, and closes one that ends with it: the server would let the model
	// continue its own message.
	goOn   = "Continue."
	notRun = "No result: the call was not run."
	failed = "The call failed."
)

// conversation is a transcript on its way to the wire.
type conversation struct {
	model    string
	messages []wireMessage
	ids      map[string]bool
	// open are the calls that wait for their answers, and texts what the user said since.
	open  []openCall
	texts []string
}

type openCall struct {
	call   message.Call
	id     string // on the wire
	answer *message.Message
}

// turnsOf makes the messages of what follows the system messages that a transcript begins with; those it returns apart.
func turnsOf(said message.Transcript, model string) (turns []wireMessage, system []string) {
	c := conversation{model: model, ids: map[string]bool{}}
	opening := true
	for _, m := range said.All() {
		opening = opening && m.Role == message.System
		switch {
		case opening:
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
	if c.last() != "user" && c.last() != "tool" {
		c.user(goOn)
	}
	return c.messages, system
}

// last is the role of the last message; empty before the first.
func (c *conversation) last() string {
	if n := len(c.messages); n > 0 {
		return c.messages[n-1].Role
	}
	return ""
}

// user adds what the user said, to his last message where nobody spoke since.
func (c *conversation) user(text string) {
	if c.last() == "user" {
		before := &c.messages[len(c.messages)-1]
		before.Content = joined(before.Content, text)
		return
	}
	c.messages = append(c.messages, wireMessage{Role: "user", Content: text})
}

// assistant adds what the model said, to its last message where nobody spoke since.
func (c *conversation) assistant(m message.Message) {
	if blank(m.Text) && len(m.Calls) == 0 {
		return
	}
	if len(c.messages) == 0 {
		c.user(goOn)
	}
	w := wireMessage{Role: "assistant", Content: m.Text, Thinking: thoughtsIn(m.Opaque, c.model)}
	for n, call := range m.Calls {
		id := c.claim(call.ID)
		c.open = append(c.open, openCall{call: call, id: id})
		w.ToolCalls = append(w.ToolCalls, wireCall{id, wireFunction{Index: n, Name: toolName(call.Name), Arguments: arguments(call.Arguments)}})
	}
	if c.last() != "assistant" {
		c.messages = append(c.messages, w)
		return
	}
	before := &c.messages[len(c.messages)-1]
	before.Content = joined(before.Content, w.Content)
	before.Thinking = joined(before.Thinking, w.Thinking)
	before.ToolCalls = w.ToolCalls
}

// answer keeps an answer for the end of the turn: that of the call with its id, else of the first open one of its name (ids
// that were derived may differ), else what it says is said as text.
func (c *conversation) answer(m message.Message) {
	at := slices.IndexFunc(c.open, func(o openCall) bool { return o.answer == nil && o.call.ID != "" && o.call.ID == m.CallID })
	if at < 0 {
		at = slices.IndexFunc(c.open, func(o openCall) bool { return o.answer == nil && toolName(o.call.Name) == toolName(m.Name) })
	}
	if at < 0 {
		c.texts = append(c.texts, "Result of "+toolName(m.Name)+": "+m.Text)
		return
	}
	c.open[at].answer = &m
}

// settle ends a turn of the other side: the answer to every open call, in the order of the calls, then what else was said.
func (c *conversation) settle() {
	for _, o := range c.open {
		c.messages = append(c.messages, wireMessage{Role: "tool", Content: o.result(), ToolName: toolName(o.call.Name), ToolCallID: o.id})
	}
	if text := joined(c.texts...); text != "" {
		c.user(text)
	}
	c.open, c.texts = nil, nil
}

func (o openCall) result() string {
	switch {
	case o.answer == nil:
		return notRun
	case o.answer.IsError && blank(o.answer.Text):
		return failed
	}
	return o.answer.Text
}

// claim gives a call its id on the wire: its own, unless it was given before, as happens with derived ones; else the next of
// "call-1", "call-2", … that is free.
func (c *conversation) claim(id string) string {
	for n := 1; id == "" || c.ids[id]; n++ {
		id = "call-" + strconv.Itoa(n)
	}
	c.ids[id] = true
	return id
}

// arguments are a call's arguments as the object that the API wants.
func arguments(raw string) json.RawMessage {
	if blank(raw) {
		return json.RawMessage("{}")
	}
	if _, isObject := readObject([]byte(raw)); isObject && schema.Strict([]byte(raw), schema.DefaultLimits()) == nil {
		return json.RawMessage(raw)
	}
	return object{{RawArguments, quoted(raw)}}.json()
}

// toolName is a tool's name as templates take it; a model may have written anything.
func toolName(name string) string {
	if name == "" {
		return "_"
	}
	return (*tool.Set)(nil).ProviderName(name)
}

// joined puts what is not blank under one another.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, blank), "\n\n")
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
