package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// request is the body of a request.
type request struct {
	MaxTokens     int64        `json:"max_tokens"`
	Messages      []turn       `json:"messages"`
	Model         string       `json:"model"`
	Temperature   *float64     `json:"temperature,omitempty"`
	TopP          *float64     `json:"top_p,omitempty"`
	Container     string       `json:"container,omitempty"`
	Metadata      kit.Object   `json:"metadata,omitempty"`
	OutputConfig  kit.Object   `json:"output_config,omitempty"`
	StopSequences []string     `json:"stop_sequences,omitempty"`
	System        []kit.Object `json:"system,omitempty"`
	Thinking      kit.Object   `json:"thinking,omitempty"`
	ToolChoice    kit.Object   `json:"tool_choice,omitempty"`
	Tools         []kit.Object `json:"tools,omitempty"`
	Stream        bool         `json:"stream,omitempty"`
}

// turn is a message of a request, with its blocks.
type turn struct {
	Content []kit.Object `json:"content"`
	Role    string       `json:"role"`
}

// The roles of turns. Some models take system messages, too.
const user, assistant = "user", "assistant"

// maxWhole is the longest reply that is asked for whole, in tokens: a longer one could take more than ten
// minutes, and connections without traffic may not live that long.
const maxWhole = 21_333

// answerWith introduces the schema in the system prompt if the API's own structured output is not used.
const answerWith = "When you give your final answer, give one JSON value and nothing else. " +
	"It must be valid against this JSON Schema: "

// checkTemperature returns an error if the API would refuse the temperature of a request.
func (c Config) checkTemperature(t *float64) error {
	switch {
	case t == nil:
	case c.Version != Version2023:
		return kit.Unasked(name, "Temperature: "+noSampling)
	case *t > 1:
		return kit.Unasked(name, fmt.Sprintf("Temperature: %v is too high: the API accepts 0 to 1", *t))
	case *t != 1 && c.Thinking.on():
		return kit.Unasked(name,
			fmt.Sprintf("Temperature: must be 1 or unset for a model that thinks (Thinking), not %v", *t))
	}
	return nil
}

// request converts a request. prefix is what thoughts of the reply are bound to.
func (m *Model) request(req loop.Request) (r request, prefix string) {
	c, opening := turnsOf(req.Messages, m.cfg.Model)
	r = request{Model: m.cfg.Model, Messages: c.turns, Container: c.container,
		MaxTokens:   kit.Least(m.cfg.MaxTokens, req.MaxOutputTokens),
		Temperature: cmp.Or(req.Temperature, m.cfg.Temperature), TopP: m.cfg.TopP,
		Metadata:      kit.Texts("user_id", m.cfg.UserID),
		OutputConfig:  kit.Texts("effort", m.cfg.Effort),
		StopSequences: req.Stop,
	}
	r.Stream = req.Stream != nil || r.MaxTokens > maxWhole
	r.Tools, r.ToolChoice = offered(req.Tools, c.turns)
	if len(req.Tools) > 0 {
		r.ToolChoice = choice(req.ToolChoice)
	}
	instructions := m.cfg.output(&r, req.Output)
	for _, text := range append([]string{req.System}, append(opening, instructions)...) {
		if !kit.Blank(text) {
			r.System = append(r.System, textBlock(text))
		}
	}
	prefix = c.bind(&r)
	if kind := r.ToolChoice.Text("type"); kind != "any" && kind != "tool" { // the API refuses both
		r.Thinking = m.cfg.thinking(r.Messages, r.MaxTokens)
	}
	m.cfg.mark(&r)
	return r, prefix
}

// output sets the API's own structured output, or returns the instructions that replace it.
func (c Config) output(r *request, s *schema.Schema) (instructions string) {
	if s == nil {
		return ""
	}
	raw := s.JSON()
	if c.Output == OutputNative {
		if sent, ok := outputSchema(raw); ok {
			format := kit.Object{kit.TextField("type", "json_schema"), kit.Field("schema", sent)}
			r.OutputConfig = append(r.OutputConfig, kit.Field("format", format.JSON()))
			return ""
		}
	}
	return answerWith + string(raw)
}

// offered converts the tools of a request. If there are none but the transcript has calls, the API still
// wants the tools of those calls: they are declared, and the choice forbids them.
func offered(tools []*tool.Tool, turns []turn) (list []kit.Object, choice kit.Object) {
	for _, t := range tools {
		list = append(list, offer(t))
	}
	if len(list) > 0 {
		return list, nil
	}
	known := map[string]bool{}
	for _, turn := range turns {
		for _, b := range turn.Content {
			if name := b.Text("name"); isCall(b) && !known[name] {
				known[name] = true
				gone := kit.Object{kit.Field("input_schema", openObject), kit.TextField("name", name)}
				list = append(list, gone)
			}
		}
	}
	if len(list) > 0 {
		choice = kit.Texts("type", "none")
	}
	return list, choice
}

func choice(c message.ToolChoice) kit.Object {
	switch c {
	case "":
		return nil
	case message.AnyTool:
		return kit.Texts("type", "any")
	case message.NoTool:
		return kit.Texts("type", "none")
	}
	return kit.Texts("name", toolName(c.Tool()), "type", "tool")
}

func offer(t *tool.Tool) kit.Object {
	sent, words := toolSchema(t.Parameters())
	about := strings.TrimSpace(t.Description() + "\n" + words)
	return append(kit.Object{kit.Field("input_schema", sent)},
		kit.Texts("name", toolName(t.Name()), "description", about)...)
}

// thinking returns the thinking part of the request. The API refuses a budget if the last calls were made
// without thinking. A budget is less than the reply has tokens.
func (c Config) thinking(turns []turn, most int64) kit.Object {
	show := ""
	if c.ShowThinking {
		show = "summarized"
	}
	switch t := c.Thinking; {
	case t.Mode == Adaptive:
		return kit.Texts("display", show, "type", "adaptive")
	case t.Mode == Budget && most > minBudget && !calledWithoutThinking(turns):
		budget := strconv.FormatInt(min(t.BudgetTokens, most-1), 10)
		return append(kit.Object{kit.Field("budget_tokens", json.RawMessage(budget))},
			kit.Texts("display", show, "type", "enabled")...)
	case t.Mode == NoThinking:
		return kit.Texts("type", "disabled")
	}
	return nil
}

// calledWithoutThinking reports whether the last turn of the model makes calls and does not begin with
// thoughts.
func calledWithoutThinking(turns []turn) bool {
	for _, turn := range slices.Backward(turns) {
		if turn.Role == assistant {
			return slices.ContainsFunc(turn.Content, isCall) && !isThought(turn.Content[0])
		}
	}
	return false
}

// isCall reports whether a block is a call of a tool of ours.
func isCall(b kit.Object) bool { return b.Text("type") == "tool_use" }

// isThought reports whether a block is a thought.
func isThought(b kit.Object) bool {
	kind := b.Text("type")
	return kind == "thinking" || kind == "redacted_thinking"
}

// newest is the number of the user's latest turns that are marked for the cache. The last one is what the
// next request reads; the one before is what this request reads, wherever the API would look otherwise: it
// finds no marks that are more than 20 blocks back. A request without tools that begins a conversation has
// probably no next one: of it none is marked, because writing costs more than plain input.
const newest = 2

// mark sets the cache breakpoints: after the tools and the system prompt, which do not change within a run,
// and after the newest turns of the user, because a transcript only grows. The API allows four.
func (c Config) mark(r *request) {
	if c.Cache == NoCache {
		return
	}
	control := kit.Quoted("ttl", string(c.Cache), "type", "ephemeral")
	mark := func(blocks []kit.Object) {
		if n := len(blocks); n > 0 {
			blocks[n-1] = blocks[n-1].With("cache_control", control)
		}
	}
	mark(r.Tools)
	mark(r.System)
	isAnswer := func(turn turn) bool { return turn.Role == assistant }
	if len(r.Tools) == 0 && !slices.ContainsFunc(r.Messages, isAnswer) {
		return
	}
	left := newest
	for _, turn := range slices.Backward(r.Messages) {
		if turn.Role == user && left > 0 {
			mark(turn.Content)
			left--
		}
	}
}
