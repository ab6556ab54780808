package openai

import (
	"cmp"
	"context"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// responsesModel asks through the Responses API. Nothing is stored at OpenAI unless [Config].Store says so.
type responsesModel struct {
	caller
	service responses.ResponseService
}

// Reply makes one request, a stream where req.Stream is set.
func (m *responsesModel) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	if len(req.Stop) > 0 {
		return message.Reply{}, kit.Unasked(m.cfg.provider(), "Stop: the Responses API has no stop sequences: use Chat, or remove them")
	}
	if err := kit.CheckMedia(m.cfg.provider(), req.Messages, responsesRefuses); err != nil {
		return message.Reply{}, err
	}
	params := m.params(req)
	return m.call(ctx, req, func(opts ...option.RequestOption) error {
		_, err := m.service.New(ctx, params, opts...)
		return err
	}, &responsesReply{names: shortened(req.Tools), from: m.origin(responsesAdapter)})
}

func (m *responsesModel) params(req loop.Request) responses.ResponseNewParams {
	format, words := m.format(req.Output)
	p := responses.ResponseNewParams{
		Model: m.cfg.Model, MaxOutputTokens: bound(m.cfg.MaxTokens),
		Temperature: opt(cmp.Or(req.Temperature, m.cfg.Temperature)),
		Store:       param.NewOpt(m.cfg.Store),
		Reasoning:   shared.ReasoningParam{Effort: shared.ReasoningEffort(m.cfg.Effort)},
		Text:        responses.ResponseTextConfigParam{Format: format.responses()},
	}
	if m.cfg.ShowThinking {
		p.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
	if s := system(req, words); s != "" {
		p.Instructions = param.NewOpt(s)
	}
	if !m.cfg.Store && m.reasons() {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	p.Input.OfInputItemList = m.input(req)
	for _, o := range m.offers(req.Tools) {
		f := responses.FunctionToolParam{Name: o.name, Parameters: asMap(o.parameters),
			Strict: param.NewOpt(o.strict)}
		if o.description != "" {
			f.Description = param.NewOpt(o.description)
		}
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &f})
	}
	if len(p.Tools) > 0 {
		p.ParallelToolCalls, p.ToolChoice = opt(m.cfg.ParallelCalls), responsesChoice(req.ToolChoice)
	}
	return p
}

// reasons reports whether the model may reason.
func (m *responsesModel) reasons() bool {
	return !m.cfg.NoReasoning && (!m.quirks.NoReasoning || m.cfg.Effort != "" || m.cfg.ShowThinking)
}

func responsesChoice(c message.ToolChoice) (u responses.ResponseNewParamsToolChoiceUnion) {
	if name := c.Tool(); name != "" {
		u.OfFunctionTool = &responses.ToolChoiceFunctionParam{Name: safeName(name)}
	} else if c != "" {
		u.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptions(choices[c]))
	}
	return u
}

func (f format) responses() (u responses.ResponseFormatTextConfigUnionParam) {
	switch f.kind {
	case OutputObject:
		u.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	case OutputNative:
		u.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{
			Name: answerName, Strict: param.NewOpt(f.strict), Schema: asMap(f.schema),
		}
	}
	return u
}

func (m *responsesModel) input(req loop.Request) responses.ResponseInputParam {
	var all responses.ResponseInputParam
	rules := m.rules(responsesAdapter, req.Messages)
	rules.MediaInAnswers = true
	for _, t := range turns(req.Messages, rules) {
		all = append(all, m.turnItems(t)...)
		for _, c := range t.calls {
			output := responses.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(c.ID)}
			if len(c.Parts) > 0 {
				output.SetExtraFields(map[string]any{"output": content(answer(c), c.Parts, responsesPart)})
			} else {
				output.Output.OfString = param.NewOpt(answer(c))
			}
			all = append(all, responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &output})
		}
	}
	return all
}

// roles maps roles of messages.
var roles = map[message.Role]responses.EasyInputMessageRole{
	message.System:    responses.EasyInputMessageRoleSystem,
	message.Assistant: responses.EasyInputMessageRoleAssistant,
}

// turnItems returns the items of one turn without the answers to its calls: the model's own, if they were
// kept.
func (m *responsesModel) turnItems(t turn) responses.ResponseInputParam {
	var all responses.ResponseInputParam
	if items := m.origin(responsesAdapter).items(t, m.cfg.Store); items != nil {
		for _, item := range items {
			all = append(all, param.Override[responses.ResponseInputItemUnionParam](item))
		}
		return all
	}
	if len(t.Parts) > 0 {
		user := kit.Object{kit.Field("role", kit.Quote("user")),
			kit.Field("content", content(t.Text, t.Parts, responsesPart))}
		all = append(all, param.Override[responses.ResponseInputItemUnionParam](user.JSON()))
	} else if t.Text != "" {
		role, known := roles[t.Role]
		if !known {
			role = responses.EasyInputMessageRoleUser
		}
		all = append(all, responses.ResponseInputItemParamOfMessage(t.Text, role))
	}
	for _, c := range t.calls {
		all = append(all,
			responses.ResponseInputItemUnionParam{OfFunctionCall: &responses.ResponseFunctionToolCallParam{
				CallID: c.ID, Name: c.Name, Arguments: m.arguments(c.Made.Arguments),
			}})
	}
	return all
}
