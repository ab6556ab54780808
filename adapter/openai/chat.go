package openai

import (
	"cmp"
	"context"
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// chatModel asks through the Chat Completions API.
type chatModel struct {
	caller
	service sdk.ChatCompletionService
}

// Reply makes one request, a stream where req.Stream is set.
func (m *chatModel) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	if err := kit.CheckMedia(m.cfg.provider(), req.Messages, chatRefuses); err != nil {
		return message.Reply{}, err
	}
	params := m.params(req)
	return m.call(ctx, req, func(opts ...option.RequestOption) error {
		_, err := m.service.New(ctx, params, opts...)
		return err
	}, &chatReply{names: shortened(req.Tools), echo: m.quirks.Echo, takesID: m.takesID, from: m.origin(chatAdapter),
		told: m.cfg.OnResponse != nil})
}

func (m *chatModel) params(req loop.Request) sdk.ChatCompletionNewParams {
	format, words := m.format(req.Output)
	p := sdk.ChatCompletionNewParams{
		Model: m.cfg.Model, Messages: m.messages(req, words),
		Temperature:     opt(cmp.Or(req.Temperature, m.cfg.Temperature)),
		ReasoningEffort: shared.ReasoningEffort(m.cfg.Effort), ResponseFormat: format.chat(),
	}
	if m.cfg.LegacyMaxTokens || m.quirks.LegacyMaxTokens {
		p.MaxTokens = bound(m.cfg.MaxTokens)
	} else {
		p.MaxCompletionTokens = bound(m.cfg.MaxTokens)
	}
	for _, o := range m.offers(req.Tools) {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(m.function(o)))
	}
	if len(p.Tools) > 0 {
		p.ParallelToolCalls, p.ToolChoice = opt(m.cfg.ParallelCalls), chatChoice(req.ToolChoice)
	}
	p.Stop.OfStringArray = req.Stop
	if req.Stream != nil && !m.cfg.NoStreamOptions && !m.quirks.NoStreamOptions {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	return p
}

func chatChoice(c message.ToolChoice) (u sdk.ChatCompletionToolChoiceOptionUnionParam) {
	if name := c.Tool(); name != "" {
		return sdk.ToolChoiceOptionFunctionToolChoice(sdk.ChatCompletionNamedToolChoiceFunctionParam{Name: safeName(name)})
	}
	if c != "" {
		u.OfAuto = param.NewOpt(choices[c])
	}
	return u
}

// choices are the tool choices that name no tool, in the form of both APIs.
var choices = map[message.ToolChoice]string{message.AnyTool: "required", message.NoTool: "none"}

// function converts a tool. Without strict mode it omits the member: false is the default, and not all
// servers know it.
func (m *chatModel) function(o offer) shared.FunctionDefinitionParam {
	f := shared.FunctionDefinitionParam{Name: o.name, Parameters: asMap(o.parameters)}
	if o.description != "" {
		f.Description = param.NewOpt(o.description)
	}
	if o.strict {
		f.Strict = param.NewOpt(true)
	}
	return f
}

func (f format) chat() (u sdk.ChatCompletionNewParamsResponseFormatUnion) {
	switch f.kind {
	case OutputObject:
		u.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	case OutputNative:
		u.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: answerName, Strict: param.NewOpt(f.strict), Schema: f.schema.JSON(),
		}}
	}
	return u
}

func (m *chatModel) messages(req loop.Request, words string) []sdk.ChatCompletionMessageParamUnion {
	var all []sdk.ChatCompletionMessageParamUnion
	if s := system(req, words); s != "" {
		all = append(all, sdk.SystemMessage(s))
	}
	for _, t := range turns(req.Messages, m.rules(chatAdapter, req.Messages)) {
		switch t.Role {
		case message.System:
			all = append(all, sdk.SystemMessage(t.Text))
		case message.Assistant:
			all = append(all, m.assistant(t))
		default:
			all = append(all, userMessage(t))
		}
		for _, c := range t.calls {
			all = append(all, sdk.ToolMessage(answer(c), c.ID))
		}
	}
	return all
}

func userMessage(t turn) sdk.ChatCompletionMessageParamUnion {
	u := sdk.UserMessage(t.Text)
	if len(t.Parts) > 0 {
		u.OfUser.Content.OfString = param.Opt[string]{}
		u.OfUser.SetExtraFields(map[string]any{"content": content(t.Text, t.Parts, chatPart)})
	}
	return u
}

// assistant converts a message of the model, with the members that the server wants back.
func (m *chatModel) assistant(t turn) sdk.ChatCompletionMessageParamUnion {
	kept := m.origin(chatAdapter).readKept(t.Opaque, m.quirks.Echo)
	if len(t.calls) > 0 {
		kept.fill(m.quirks)
	}
	a := sdk.ChatCompletionAssistantMessageParam{}
	if t.Text != "" {
		a.Content.OfString = param.NewOpt(t.Text)
	}
	for n, c := range t.calls {
		f := sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: c.ID,
			Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name,
				Arguments: m.arguments(c.Made.Arguments)},
		}
		f.SetExtraFields(kept.ofCall(n))
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &f})
	}
	if kept.Thinking != "" {
		a.Content.OfString = param.Opt[string]{}
		set(&kept.Message, "content", thoughtful(kept.Thinking, t.Text))
	}
	a.SetExtraFields(asAny(kept.Message))
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}
}

// thoughtful returns content that begins with thoughts, in Mistral's form.
func thoughtful(thinking, text string) json.RawMessage {
	part := func(text string) json.RawMessage {
		return kit.Object{kit.Field("type", kit.Quote("text")),
			kit.Field("text", kit.Quote(text))}.JSON()
	}
	thought := kit.Object{kit.Field("type", kit.Quote("thinking")),
		kit.Field("thinking", kit.List(part(thinking)))}
	if text == "" {
		return kit.List(thought.JSON())
	}
	return kit.List(thought.JSON(), part(text))
}

// arguments returns the arguments of a call that goes back: as the model wrote them, unless the server
// only accepts objects.
func (c *caller) arguments(raw string) string {
	if raw != "" && !c.cfg.WrapArguments {
		return raw
	}
	return string(kit.Arguments(raw))
}

// opt converts an optional field.
func opt[T comparable](p *T) (o param.Opt[T]) {
	if p != nil {
		o = param.NewOpt(*p)
	}
	return o
}

// bound converts an optional bound; 0 is none.
func bound(n int64) (o param.Opt[int64]) {
	if n != 0 {
		o = param.NewOpt(n)
	}
	return o
}
