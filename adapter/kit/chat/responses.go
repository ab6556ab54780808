package chat

import (
	"cmp"
	"encoding/json"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// responsesRequest is the body of a request to the Responses API. Nothing is stored at OpenAI unless
// [Config].Store says so.
type responsesRequest struct {
	Instructions      string            `json:"instructions,omitempty"`
	MaxOutputTokens   int64             `json:"max_output_tokens,omitempty"`
	ParallelToolCalls *bool             `json:"parallel_tool_calls,omitempty"`
	Store             bool              `json:"store"`
	Temperature       *float64          `json:"temperature,omitempty"`
	Include           []string          `json:"include,omitempty"`
	Input             []json.RawMessage `json:"input"`
	Model             string            `json:"model"`
	Reasoning         reasoning         `json:"reasoning,omitzero"`
	Text              responsesText     `json:"text,omitzero"`
	ToolChoice        json.RawMessage   `json:"tool_choice,omitempty"`
	Tools             []responsesTool   `json:"tools,omitempty"`
	Stream            bool              `json:"stream,omitempty"`
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type responsesText struct {
	Format responsesFormat `json:"format"`
}

type responsesFormat struct {
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
	Strict *bool           `json:"strict,omitempty"`
	Type   string          `json:"type"`
}

type responsesTool struct {
	Strict      bool            `json:"strict"`
	Parameters  json.RawMessage `json:"parameters"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Type        string          `json:"type"`
}

func (m *Model) responsesBody(req loop.Request) any {
	format, words := m.format(req.Output)
	r := responsesRequest{
		Model: m.cfg.Model, Instructions: system(req, words),
		MaxOutputTokens: kit.Least(m.cfg.MaxTokens, req.MaxOutputTokens),
		Temperature:     cmp.Or(req.Temperature, m.cfg.Temperature), Store: m.cfg.Store,
		Reasoning: reasoning{Effort: m.cfg.Effort},
		Text:      format.responses(), Input: m.input(req), Stream: req.Stream != nil,
	}
	if m.cfg.ShowThinking {
		r.Reasoning.Summary = "auto"
	}
	if !m.cfg.Store && m.reasons() {
		r.Include = []string{"reasoning.encrypted_content"}
	}
	for _, o := range m.offers(req.Tools) {
		r.Tools = append(r.Tools, responsesTool{o.strict, byName(o.parameters).JSON(), o.name, o.description,
			"function"})
	}
	if len(r.Tools) > 0 {
		r.ParallelToolCalls, r.ToolChoice = m.cfg.ParallelCalls, responsesChoice(req.ToolChoice)
	}
	return r
}

// reasons reports whether the model may reason.
func (m *Model) reasons() bool {
	return !m.quirks.NoReasoning || m.cfg.Effort != "" || m.cfg.ShowThinking
}

func responsesChoice(c message.ToolChoice) json.RawMessage {
	if name := c.Tool(); name != "" {
		return kit.Quoted("name", safeName(name), "type", "function")
	}
	if c == "" {
		return nil
	}
	return kit.Quote(choices[c])
}

func (f format) responses() (t responsesText) {
	switch f.kind {
	case OutputObject:
		t.Format.Type = "json_object"
	case OutputNative:
		t.Format = responsesFormat{answerName, byName(f.schema).JSON(), &f.strict, "json_schema"}
	}
	return t
}

func (m *Model) input(req loop.Request) []json.RawMessage {
	var all []json.RawMessage
	rules := m.rules(req.Messages)
	rules.MediaInAnswers = true
	for _, t := range turns(req.Messages, rules) {
		kept := m.items(t)
		if kept == nil {
			all = append(all, m.turnItems(t)...)
		}
		for _, o := range kept {
			all = append(all, o.raw)
		}
		made := madeIn(kept)
		for _, c := range t.calls {
			output := outputOf(c)
			if made[c.ID].Type == customCall {
				output = output.With("type", kit.Quote(customCall+"_output"))
			}
			if caller := made[c.ID].caller(); caller != nil {
				output = output.With("caller", caller)
			}
			all = append(all, output.JSON())
		}
	}
	return all
}

// outputOf returns the answer to a call.
func outputOf(c kit.Call) kit.Object {
	id, kind := kit.TextField("call_id", c.ID), kit.TextField("type", "function_call_output")
	if len(c.Parts) == 0 {
		return kit.Object{kit.TextField("output", answer(c)), id, kind}
	}
	return kit.Object{id, kind, kit.Field("output", content(answer(c), c.Parts, responsesPart))}
}

// turnItems returns the items of one turn of which none were kept, without the answers to its calls.
func (m *Model) turnItems(t turn) []json.RawMessage {
	var all []json.RawMessage
	if len(t.Parts) > 0 {
		all = append(all, withMedia(t, responsesPart))
	} else if t.Text != "" {
		role := message.User
		if t.Role == message.System || t.Role == message.Assistant {
			role = t.Role
		}
		all = append(all, kit.Quoted("content", t.Text, "role", string(role)))
	}
	for _, c := range t.calls {
		all = append(all, kit.Quoted("arguments", m.arguments(c.Made.Arguments), "call_id", c.ID, "name",
			c.Name, "type", "function_call"))
	}
	return all
}
