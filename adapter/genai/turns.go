package genai

import (
	"encoding/json"
	"regexp"
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

// What is said where the API wants words and the transcript has none.
const (
	// goOn opens a conversation that begins with the model, and closes one that ends with it: the API refuses both.
	goOn   = "Continue."
	notRun = "No result: the call was not run."
	failed = "The call failed."
)

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

// turnsOf makes the contents of what follows the system messages that a transcript begins with; those it returns apart.
func turnsOf(said message.Transcript, model string) (turns []content, system []string) {
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
	if c.last() != "user" {
		c.user(goOn)
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

// user adds what the user said, to his last content where nobody spoke since: but not to answers, which stand alone.
func (c *conversation) user(texts ...string) {
	var parts []json.RawMessage
	for _, text := range texts {
		if !blank(text) {
			parts = append(parts, textPart(text, ""))
		}
	}
	if len(parts) == 0 {
		return
	}
	if n := len(c.contents); n > 0 && c.contents[n-1].Role == "user" && !c.contents[n-1].answers {
		c.contents[n-1].Parts = append(c.contents[n-1].Parts, parts...)
		return
	}
	c.contents = append(c.contents, content{Role: "user", Parts: parts})
}

// assistant adds what the model said, to its last content where nobody spoke since.
func (c *conversation) assistant(m message.Message) {
	if blank(m.Text) && len(m.Calls) == 0 {
		return
	}
	if len(c.contents) == 0 {
		c.user(goOn)
	}
	parts := c.parts(m)
	if c.last() != "model" {
		c.contents = append(c.contents, content{Role: "model", Parts: parts})
		return
	}
	before := &c.contents[len(c.contents)-1]
	before.Parts = append(before.Parts, parts...)
}

// parts are a message's, as the model made them.
func (c *conversation) parts(m message.Message) []json.RawMessage {
	var parts []json.RawMessage
	from := 0
	for _, p := range layout(m, c.model) {
		switch {
		case len(p.Raw) > 0:
			parts = append(parts, p.Raw)
		case p.Call > 0:
			parts = append(parts, c.call(m.Calls[p.Call-1], p.Signature))
		default:
			text := m.Text[from : from+p.Text]
			if from += p.Text; !blank(text) || p.Signature != "" {
				parts = append(parts, textPart(text, p.Signature))
			}
		}
	}
	return parts
}

func textPart(text, signature string) json.RawMessage {
	return object{{"text", quoted(text)}}.signed(signature).json()
}

func (o object) signed(signature string) object {
	if signature == "" {
		return o
	}
	return append(o, member{"thoughtSignature", quoted(signature)})
}

func (c *conversation) call(made message.Call, signature string) json.RawMessage {
	id := c.claim(made.ID)
	c.open = append(c.open, openCall{call: made, id: id})
	call := object{{"id", quoted(id)}, {"name", quoted(toolName(made.Name))}, {"args", arguments(made.Arguments)}}
	return object{{"functionCall", call.json()}}.signed(signature).json()
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

// settle ends a turn of the other side: the answers to all open calls in a content of their own, then what else was said.
func (c *conversation) settle() {
	var answers []json.RawMessage
	for _, o := range c.open {
		response := object{{"id", quoted(o.id)}, {"name", quoted(toolName(o.call.Name))}, {"response", o.result()}}
		answers = append(answers, object{{"functionResponse", response.json()}}.json())
	}
	if answers != nil {
		c.contents = append(c.contents, content{Role: "user", Parts: answers, answers: true})
	}
	c.user(c.texts...)
	c.open, c.texts = nil, nil
}

func (o openCall) result() json.RawMessage {
	switch {
	case o.answer == nil:
		return object{{"error", quoted(notRun)}}.json()
	case o.answer.IsError && blank(o.answer.Text):
		return object{{"error", quoted(failed)}}.json()
	case o.answer.IsError:
		return object{{"error", quoted(o.answer.Text)}}.json()
	case strict(o.answer.Text):
		return object{{"output", json.RawMessage(o.answer.Text)}}.json()
	}
	return object{{"output", quoted(o.answer.Text)}}.json()
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
	if _, isObject := readObject([]byte(raw)); isObject && strict(raw) {
		return json.RawMessage(raw)
	}
	return object{{RawArguments, quoted(raw)}}.json()
}

func strict(raw string) bool { return schema.Strict([]byte(raw), schema.DefaultLimits()) == nil }

// maxName is how long a function's name may be.
const maxName = 128

// toolName is a tool's name as the API takes it; a model may have written anything. It begins with a letter or "_".
func toolName(name string) string {
	name = (*tool.Set)(nil).ProviderName(name)
	if name == "" || name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name[:min(len(name), maxName)]
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
