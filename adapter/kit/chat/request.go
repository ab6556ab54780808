package chat

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// chatRequest is the body of a request to the Chat API.
type chatRequest struct {
	Messages            []any           `json:"messages"`
	Model               string          `json:"model"`
	MaxCompletionTokens int64           `json:"max_completion_tokens,omitempty"`
	MaxTokens           int64           `json:"max_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	ParallelToolCalls   *bool           `json:"parallel_tool_calls,omitempty"`
	ReasoningEffort     string          `json:"reasoning_effort,omitempty"`
	Stop                []string        `json:"stop,omitempty"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
	ResponseFormat      json.RawMessage `json:"response_format,omitempty"`
	ToolChoice          json.RawMessage `json:"tool_choice,omitempty"`
	Tools               []chatTool      `json:"tools,omitempty"`
	Stream              bool            `json:"stream,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// chatMessage is a message that is not the model's.
type chatMessage struct {
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	Role       string `json:"role"`
}

type chatTool struct {
	Function chatFunction `json:"function"`
	Type     string       `json:"type"`
}

// chatFunction is a tool. Without strict mode it omits the member: false is the default, and not all servers
// know it.
type chatFunction struct {
	Name        string          `json:"name"`
	Strict      bool            `json:"strict,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (m *Model) chatBody(req loop.Request) any {
	format, words := m.format(req.Output)
	r := chatRequest{
		Model: m.cfg.Model, Messages: m.messages(req, words),
		Temperature:     cmp.Or(req.Temperature, m.cfg.Temperature),
		ReasoningEffort: m.cfg.Effort, ResponseFormat: format.chat(), Stop: req.Stop,
		Stream: req.Stream != nil,
	}
	most := kit.Least(m.cfg.MaxTokens, req.MaxOutputTokens)
	if m.quirks.LegacyMaxTokens {
		r.MaxTokens = most
	} else {
		r.MaxCompletionTokens = most
	}
	for _, o := range m.offers(req.Tools) {
		r.Tools = append(r.Tools, chatTool{chatFunction{o.name, o.strict, o.description,
			byName(o.parameters).JSON()}, "function"})
	}
	if len(r.Tools) > 0 {
		r.ParallelToolCalls, r.ToolChoice = m.cfg.ParallelCalls, chatChoice(req.ToolChoice)
	}
	if r.Stream && !m.quirks.NoStreamOptions {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	return r
}

// choices are the tool choices that name no tool, in the form of both APIs.
var choices = map[message.ToolChoice]string{message.AnyTool: "required", message.NoTool: "none"}

func chatChoice(c message.ToolChoice) json.RawMessage {
	if name := c.Tool(); name != "" {
		return kit.Object{kit.Field("function", kit.Quoted("name", safeName(name))),
			kit.TextField("type", "function")}.JSON()
	}
	if c == "" {
		return nil
	}
	return kit.Quote(choices[c])
}

func (f format) chat() json.RawMessage {
	switch f.kind {
	case OutputObject:
		return kit.Quoted("type", "json_object")
	case OutputNative:
		schema := kit.Object{kit.TextField("name", answerName),
			kit.Field("strict", json.RawMessage(strconv.FormatBool(f.strict))),
			kit.Field("schema", f.schema.JSON())}
		return kit.Object{kit.Field("json_schema", schema.JSON()),
			kit.TextField("type", "json_schema")}.JSON()
	}
	return nil
}

func (m *Model) messages(req loop.Request, words string) []any {
	var all []any
	if s := system(req, words); s != "" {
		all = append(all, chatMessage{Content: s, Role: "system"})
	}
	for _, t := range turns(req.Messages, m.rules(req.Messages)) {
		switch {
		case t.Role == message.System:
			all = append(all, chatMessage{Content: t.Text, Role: "system"})
		case t.Role == message.Assistant:
			all = append(all, m.assistant(t))
		case len(t.Parts) > 0:
			all = append(all, withMedia(t, chatPart))
		default:
			all = append(all, chatMessage{Content: t.Text, Role: "user"})
		}
		for _, c := range t.calls {
			all = append(all, chatMessage{Content: answer(c), ToolCallID: c.ID, Role: "tool"})
		}
	}
	return all
}

// assistant converts a message of the model, with the members that the server wants back.
func (m *Model) assistant(t turn) json.RawMessage {
	k := m.readKept(t.Message)
	if len(t.calls) > 0 {
		k.fill(m.quirks)
	}
	var a kit.Object
	if k.Thinking != "" {
		a = append(a, kit.Field("content", thoughtful(k.Thinking, k.Signature, t.Text)))
	} else if t.Text != "" {
		a = append(a, kit.TextField("content", t.Text))
	}
	var calls []json.RawMessage
	for n, c := range t.calls {
		kind, said := "function", kit.Quoted("arguments", m.arguments(c.Made.Arguments), "name", c.Name)
		if slices.Contains(k.Custom, n) {
			kind, said = "custom", kit.Quoted("input", c.Made.Arguments, "name", c.Name)
		}
		call := kit.Object{kit.TextField("id", c.ID), kit.Field(kind, said), kit.TextField("type", kind)}
		if n < len(k.Calls) {
			call = with(call, k.Calls[n])
		}
		calls = append(calls, call.JSON())
	}
	if calls != nil {
		a = append(a, kit.Field("tool_calls", kit.List(calls...)))
	}
	return with(append(a, kit.TextField("role", "assistant")), k.Message).JSON()
}

// with returns an object with more members, in order of their names.
func with(o kit.Object, more members) kit.Object {
	for _, name := range slices.Sorted(maps.Keys(more)) {
		o = o.With(name, more[name])
	}
	return o
}

// thoughtful returns content that begins with thoughts, in Mistral's form.
func thoughtful(thinking, signature, text string) json.RawMessage {
	part := func(text string) json.RawMessage { return kit.Quoted("type", "text", "text", text) }
	said, _ := kit.ReadObject(kit.Quoted("type", "thinking", "signature", signature))
	thought := said.With("thinking", kit.List(part(thinking))).JSON()
	if text == "" {
		return kit.List(thought)
	}
	return kit.List(thought, part(text))
}

// arguments returns the arguments of a call that goes back: as the model wrote them, unless the server
// only accepts objects.
func (m *Model) arguments(raw string) string {
	if raw != "" && !m.cfg.WrapArguments && !m.quirks.ParsesArguments {
		return raw
	}
	return string(kit.Arguments(raw))
}
