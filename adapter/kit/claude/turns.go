package claude

import (
	"encoding/json"
	"regexp"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// Many models refuse to continue their own message.
var rules = kit.Rules{Name: toolName, TakesID: isID, MediaInAnswers: true, UserAround: true}

// conversation is a transcript in the API's form: user and assistant take turns, and each call is answered
// in the turn after it.
type conversation struct {
	model string
	turns []turn
	// container is the container of code that waits for the results of the last calls; empty for none.
	container string
	// replies are the messages of the model.
	replies []prefixed
}

// takesSystem matches the models that take system messages after a turn of the user
// (https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages,
// https://github.com/langchain-ai/langchainjs/pull/11922).
var takesSystem = regexp.MustCompile(`claude-(opus-4-[89]|opus-[5-9]|(sonnet|haiku)-(5-[5-9]|[6-9])|(fable|mythos)-[5-9])`)

// turnsOf converts a transcript. It returns the system messages before the first user or model message apart.
// Later ones become user messages where the model has no place for them.
func turnsOf(said []message.Message, model string) (c conversation, system []string) {
	c.model = model
	rules := rules
	rules.SystemLater = takesSystem.MatchString(model)
	system, exchanges := rules.Exchanges(said)
	for _, e := range exchanges {
		c.assistant(e)
		c.user(e)
	}
	return c, system
}

// say adds blocks to the last turn, or begins a turn if the role changes.
func (c *conversation) say(role string, blocks ...kit.Object) {
	if len(blocks) == 0 {
		return
	}
	if n := len(c.turns); n > 0 && c.turns[n-1].Role == role {
		c.turns[n-1].Content = append(c.turns[n-1].Content, blocks...)
		return
	}
	c.turns = append(c.turns, turn{blocks, role})
}

// assistant adds a message of the model: its kept blocks, text and calls, in their order.
func (c *conversation) assistant(e kit.Exchange) {
	if e.Model.Role == "" {
		return
	}
	o := kept(e.Model, c.model)
	if c.container = ""; len(e.Calls) > 0 {
		c.container = o.Container
	}
	var blocks []kit.Object
	from := 0
	layout := o.layout(e.Model)
	for n, p := range layout {
		switch {
		case len(p.Raw) > 0:
			block, _ := kit.ReadObject(p.Raw)
			blocks = append(blocks, block.Without("cache_control")) // the marks of a request are its own
		case p.Call > 0:
			call := e.Calls[p.Call-1]
			b := kit.Object{kit.TextField("id", call.ID),
				kit.Field("input", kit.Arguments(call.Made.Arguments)), kit.TextField("name", call.Name),
				kit.TextField("type", "tool_use")}
			if isBlock(p.Caller) {
				b = append(b, kit.Field("caller", p.Caller))
			}
			blocks = append(blocks, b)
		default:
			text := e.Model.Text[from : from+p.Text]
			if from += p.Text; kit.Blank(text) {
				if n+1 < len(layout) {
					if next, _ := kit.ReadObject(layout[n+1].Raw); separates(blocks, next) {
						blocks = append(blocks, textBlock(between))
					}
				}
				continue
			}
			b := textBlock(text)
			if kit.Items(p.Citations) != nil {
				b = append(b, kit.Field("citations", citable(p.Citations)))
			}
			blocks = append(blocks, b)
		}
	}
	c.say(assistant, blocks...)
	if n := len(c.turns) - 1; len(blocks) > 0 {
		to := len(c.turns[n].Content)
		c.replies = append(c.replies, prefixed{n, to - len(blocks), to, o.Prefix})
	}
}

// between stands in for a blank text between thoughts. The API writes such texts, refuses to get them back,
// and refuses thoughts of the latest message that are not where they were
// (https://github.com/anomalyco/opencode/pull/21860).
const between = "..."

// separates reports whether a text after some blocks and before another block stands between thoughts.
func separates(before []kit.Object, next kit.Object) bool {
	return len(before) > 0 && isThought(before[len(before)-1]) && isThought(next)
}

func textBlock(text string) kit.Object { return kit.Texts("text", text, "type", "text") }

// user adds the answer to every call, in the order of the calls, then the other messages. System messages
// that end a turn of the user stay what they are; the API has no place for others.
func (c *conversation) user(e kit.Exchange) {
	var all []kit.Object
	for _, call := range e.Calls {
		all = append(all, result(call))
	}
	last := len(e.Then)
	for last > 0 && e.Then[last-1].Role == message.System {
		last--
	}
	if len(all) == 0 && last == 0 { // the turn before is not the user's
		last = len(e.Then)
	}
	for _, m := range e.Then[:last] {
		all = append(all, blocks(m.Text, m.Parts)...)
	}
	c.say(user, all...)
	for _, m := range e.Then[last:] {
		c.say("system", textBlock(m.Text))
	}
}

func result(call kit.Call) kit.Object {
	r := kit.Object{kit.TextField("tool_use_id", call.ID)}
	if call.IsError {
		r = append(r, kit.Field("is_error", json.RawMessage("true")))
	}
	if content := blocks(call.Text, call.Parts); len(content) > 0 {
		raw, _ := kit.Marshal(content) // objects have a JSON form
		r = append(r, kit.Field("content", raw))
	}
	return append(r, kit.TextField("type", "tool_result"))
}

// toolName returns a name that the API accepts; a model may have written anything.
func toolName(name string) string {
	name = tool.ProviderName(name)
	if name == "" {
		return "_"
	}
	return name[:min(len(name), maxName)]
}

// maxName bounds names of tools and ids of calls, in characters.
const maxName = 128

// isID reports whether the API accepts the id of a call.
func isID(id string) bool {
	for n := range len(id) {
		c := id[n]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return id != "" && len(id) <= maxName
}
