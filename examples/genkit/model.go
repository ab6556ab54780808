package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/firebase/genkit/go/ai"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// modelOf makes a model of Genkit a model of retake. Switch off the retries of its plugin.
type modelOf struct{ ai.Model }

// Describe names the model for prices.
func (m modelOf) Describe() machine.ModelInfo { return machine.ModelInfo{Name: m.Name()} }

// Reply refuses what a request of Genkit has no place for: nothing is dropped in silence.
func (m modelOf) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	asked := &ai.ModelRequest{Messages: messages(req), Config: config(req)}
	for _, said := range req.Messages {
		if len(said.Parts) > 0 {
			return message.Reply{}, errors.New("genkit: this example sends texts only")
		}
	}
	switch req.ToolChoice {
	case "", message.NoTool:
		asked.ToolChoice = map[message.ToolChoice]ai.ToolChoice{message.NoTool: ai.ToolChoiceNone}[req.ToolChoice]
	case message.AnyTool:
		asked.ToolChoice = ai.ToolChoiceRequired
	default:
		return message.Reply{}, errors.New("genkit: a choice of one tool is not supported")
	}
	for _, t := range req.Tools {
		schema, err := object(t.Parameters())
		if err != nil {
			return message.Reply{}, err
		}
		asked.Tools = append(asked.Tools, &ai.ToolDefinition{Name: t.Name(), Description: t.Description(), InputSchema: schema})
	}
	if req.Output != nil {
		schema, err := object(req.Output.JSON())
		if err != nil {
			return message.Reply{}, err
		}
		asked.Output = &ai.ModelOutputConfig{Format: "json", ContentType: "application/json", Schema: schema, Constrained: true}
	}
	got, err := m.Generate(ctx, asked, stream(req))
	if err != nil {
		return message.Reply{}, err // its type, status and words say whether another try may help
	}
	return reply(got)
}

func stream(req loop.Request) ai.ModelStreamCallback {
	if req.Stream == nil {
		return nil
	}
	return func(_ context.Context, chunk *ai.ModelResponseChunk) error {
		req.Stream(loop.Delta{Call: -1, Text: chunk.Text()})
		return nil
	}
}

// config is nil where the model's own settings hold.
func config(req loop.Request) any {
	if req.Temperature == nil && req.MaxOutputTokens == 0 && len(req.Stop) == 0 {
		return nil
	}
	set := map[string]any{"stopSequences": req.Stop}
	if req.Temperature != nil { // a map, because GenerationCommonConfig leaves out a temperature of 0
		set["temperature"] = *req.Temperature
	}
	if req.MaxOutputTokens > 0 {
		set["maxOutputTokens"] = req.MaxOutputTokens
	}
	return set
}

func messages(req loop.Request) (all []*ai.Message) {
	if req.System != "" {
		all = append(all, ai.NewSystemTextMessage(req.System))
	}
	for _, said := range req.Messages {
		switch said.Role {
		case message.System:
			all = append(all, ai.NewSystemTextMessage(said.Text))
		case message.User:
			all = append(all, ai.NewUserTextMessage(said.Text))
		case message.Tool:
			all = append(all, ai.NewMessage(ai.RoleTool, nil, ai.NewToolResponsePart(
				&ai.ToolResponse{Ref: said.CallID, Name: said.Name, Output: said.Text})))
		case message.Assistant:
			var parts []*ai.Part
			if said.Text != "" {
				parts = append(parts, ai.NewTextPart(said.Text))
			}
			for _, c := range said.Calls {
				in, err := object([]byte(c.Arguments))
				if err != nil { // what the model wrote was no object, and it is told so by the answer
					in = map[string]any{"raw_arguments": c.Arguments}
				}
				parts = append(parts, ai.NewToolRequestPart(&ai.ToolRequest{Ref: c.ID, Name: c.Name, Input: in}))
			}
			all = append(all, ai.NewModelMessage(parts...))
		}
	}
	return all
}

var finishes = map[ai.FinishReason]message.FinishReason{
	ai.FinishReasonStop: message.Stop, ai.FinishReasonLength: message.Length, ai.FinishReasonBlocked: message.ContentFilter,
}

func reply(got *ai.ModelResponse) (message.Reply, error) {
	said := message.Reply{Text: got.Text(), Thinking: got.Reasoning(), Finish: finishes[got.FinishReason]}
	for _, r := range got.ToolRequests() {
		arguments, err := json.Marshal(r.Input)
		if err != nil {
			return message.Reply{}, err
		}
		said.Calls = append(said.Calls, message.Call{ID: r.Ref, Name: r.Name, Arguments: string(arguments)})
	}
	if u := got.Usage; u != nil {
		said.Usage = message.Usage{InputTokens: int64(u.InputTokens), OutputTokens: int64(u.OutputTokens), APICalls: 1}
	}
	return said, nil
}

// toolOf makes a tool of Genkit a tool of retake, which checks the arguments before it runs.
func toolOf(t ai.Tool, opts ...tool.Option) (*tool.Tool, error) {
	d := t.Definition()
	schema, err := json.Marshal(d.InputSchema)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
		in, err := object(arguments)
		if err != nil {
			return nil, err
		}
		out, err := t.RunRaw(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
	return tool.Raw(d.Name, d.Description, schema, run, opts...)
}

func object(text []byte) (members map[string]any, err error) {
	return members, json.Unmarshal(text, &members)
}
