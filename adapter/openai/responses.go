package openai

import (
	"context"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// Responses asks a model through the Responses API. Make one with [NewResponses]. It never changes and is safe for concurrent
// use.
//
// The conversation is retake's own: every request has all of it, and nothing is stored at OpenAI unless [Config].Store says so.
type Responses struct {
	caller
	service responses.ResponseService
}

// NewResponses returns a model that is asked through client. The error joins all that is wrong with cfg.
func NewResponses(client sdk.Client, cfg Config) (*Responses, error) {
	c, err := newCaller(cfg, responsesAPI)
	if err != nil {
		return nil, err
	}
	return &Responses{caller: c, service: client.Responses}, nil
}

// Reply makes one request, a stream where req.Stream is set. Every error is an [Error].
func (m *Responses) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	params := m.params(req)
	return m.call(ctx, req, func(opts ...option.RequestOption) error {
		_, err := m.service.New(ctx, params, opts...)
		return err
	}, &responsesReply{names: shortened(req.Tools), from: m.origin()})
}

// origin is whose reasoning this model can read again.
func (m *Responses) origin() origin {
	return origin{Adapter: responsesAdapter, Provider: m.cfg.provider(), Model: m.cfg.Model}
}

func (m *Responses) params(req loop.Request) responses.ResponseNewParams {
	format, words := m.format(req.Output)
	p := responses.ResponseNewParams{
		Model: m.cfg.Model, MaxOutputTokens: opt(m.cfg.MaxTokens), Temperature: opt(m.cfg.Temperature), Store: param.NewOpt(m.cfg.Store),
		Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffort(m.cfg.Effort)},
		Text:      responses.ResponseTextConfigParam{Format: format.responses()},
	}
	if s := system(req, words); s != "" {
		p.Instructions = param.NewOpt(s)
	}
	if !m.cfg.Store && !m.cfg.NoReasoning {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	p.Input.OfInputItemList = m.input(req)
	for _, o := range m.offers(req.Tools) {
		f := responses.FunctionToolParam{Name: o.name, Parameters: asMap(o.parameters), Strict: param.NewOpt(o.strict)}
		if o.description != "" {
			f.Description = param.NewOpt(o.description)
		}
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &f})
	}
	if len(p.Tools) > 0 {
		p.ParallelToolCalls = opt(m.cfg.ParallelCalls)
	}
	return p
}

func (f format) responses() (u responses.ResponseFormatTextConfigUnionParam) {
	switch f.kind {
	case OutputObject:
		u.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	case OutputSchema:
		u.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{
			Name: answerName, Strict: param.NewOpt(f.strict), Schema: asMap(f.schema),
		}
	}
	return u
}

func (m *Responses) input(req loop.Request) responses.ResponseInputParam {
	var all responses.ResponseInputParam
	for _, t := range turns(req.Messages) {
		all = append(all, m.said(t)...)
		for _, c := range t.calls {
			output := responses.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(c.ID)}
			output.Output.OfString = param.NewOpt(answer(c))
			all = append(all, responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &output})
		}
	}
	return all
}

// roles are the roles of messages, by ours.
var roles = map[message.Role]responses.EasyInputMessageRole{
	message.System: responses.EasyInputMessageRoleSystem, message.Assistant: responses.EasyInputMessageRoleAssistant,
}

// said are the items of one turn, without the answers to its calls: the model's own where they were kept.
func (m *Responses) said(t turn) responses.ResponseInputParam {
	var all responses.ResponseInputParam
	if items := m.origin().items(t, m.cfg.Store); items != nil {
		for _, item := range items {
			all = append(all, param.Override[responses.ResponseInputItemUnionParam](item))
		}
		return all
	}
	if t.Text != "" {
		role, known := roles[t.Role]
		if !known {
			role = responses.EasyInputMessageRoleUser
		}
		all = append(all, responses.ResponseInputItemParamOfMessage(t.Text, role))
	}
	for _, c := range t.calls {
		all = append(all, responses.ResponseInputItemUnionParam{OfFunctionCall: &responses.ResponseFunctionToolCallParam{
			CallID: c.ID, Name: c.Name, Arguments: m.arguments(c.Made.Arguments),
		}})
	}
	return all
}
