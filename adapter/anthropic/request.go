package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// answerWith introduces the schema in the system prompt if the API's own structured output is not used.
const answerWith = "When you give your final answer, give one JSON value and nothing else. " +
	"It must be valid against this JSON Schema: "

// checkTemperature returns an error if the API would refuse the temperature of a request.
func (c Config) checkTemperature(t *float64) error {
	switch {
	case t == nil:
	case *t > 1:
		return kit.Unasked(name, fmt.Sprintf("Temperature: %v is too high: the API accepts 0 to 1", *t))
	case *t != 1 && c.Thinking.on():
		return kit.Unasked(name,
			fmt.Sprintf("Temperature: must be 1 or unset for a model that thinks (Thinking), not %v", *t))
	}
	return nil
}

// params converts a request. prefix is what thoughts of the reply are bound to.
func (m *Model) params(req loop.Request, model string) (p sdk.MessageNewParams, prefix string) {
	c, opening := turnsOf(req.Messages, model)
	p = sdk.MessageNewParams{Model: sdk.Model(model), Messages: c.turns, StopSequences: req.Stop,
		MaxTokens: kit.Least(m.cfg.MaxTokens, req.MaxOutputTokens)}
	if t := cmp.Or(req.Temperature, m.cfg.Temperature); t != nil {
		p.Temperature = sdk.Float(*t)
	}
	if m.cfg.TopP != nil {
		p.TopP = sdk.Float(*m.cfg.TopP)
	}
	if c.container != "" {
		p.Container.OfString = sdk.String(c.container)
	}
	if m.cfg.UserID != "" {
		p.Metadata.UserID = sdk.String(m.cfg.UserID)
	}
	p.OutputConfig.Effort = sdk.OutputConfigEffort(m.cfg.Effort)
	p.Tools, p.ToolChoice = offered(req.Tools, c.turns)
	if len(req.Tools) > 0 {
		p.ToolChoice = choice(req.ToolChoice)
	}
	instructions := m.cfg.output(&p, req.Output)
	for _, text := range append([]string{req.System}, append(opening, instructions)...) {
		if !kit.Blank(text) {
			p.System = append(p.System, sdk.TextBlockParam{Text: text})
		}
	}
	prefix = c.bind(&p)
	if p.ToolChoice.OfAny == nil && p.ToolChoice.OfTool == nil { // no call is forced of a model that thinks
		p.Thinking = m.cfg.thinking(p.Messages, p.MaxTokens)
	}
	m.cfg.mark(&p)
	return p, prefix
}

// output sets the API's own structured output, or returns the instructions that replace it.
func (c Config) output(p *sdk.MessageNewParams, s *schema.Schema) (instructions string) {
	if s == nil {
		return ""
	}
	raw := s.JSON()
	if c.Output == OutputNative {
		if sent, ok := outputSchema(raw); ok {
			format := kit.Object{kit.TextField("type", "json_schema"),
				kit.Field("schema", sent)}.JSON()
			p.OutputConfig.Format = param.Override[sdk.JSONOutputFormatParam](format)
			return ""
		}
	}
	return answerWith + string(raw)
}

// offered converts the tools of a request. If there are none but the transcript has calls, the API still
// wants the tools of those calls: they are declared, and the choice forbids them.
func offered(tools []*tool.Tool, turns []sdk.MessageParam) ([]sdk.ToolUnionParam, sdk.ToolChoiceUnionParam) {
	var list []sdk.ToolUnionParam
	for _, t := range tools {
		list = append(list, offer(t))
	}
	if len(list) > 0 {
		return list, sdk.ToolChoiceUnionParam{}
	}
	known := map[string]bool{}
	for _, turn := range turns {
		for _, b := range turn.Content {
			if b.OfToolUse == nil || known[b.OfToolUse.Name] {
				continue
			}
			known[b.OfToolUse.Name] = true
			gone := sdk.ToolParam{Name: b.OfToolUse.Name, InputSchema: inputSchema(openObject)}
			list = append(list, sdk.ToolUnionParam{OfTool: &gone})
		}
	}
	if len(list) == 0 {
		return nil, sdk.ToolChoiceUnionParam{}
	}
	return list, sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
}

func choice(c message.ToolChoice) (u sdk.ToolChoiceUnionParam) {
	switch c {
	case "":
	case message.AnyTool:
		u.OfAny = &sdk.ToolChoiceAnyParam{}
	case message.NoTool:
		u.OfNone = &sdk.ToolChoiceNoneParam{}
	default:
		u.OfTool = &sdk.ToolChoiceToolParam{Name: toolName(c.Tool())}
	}
	return u
}

func offer(t *tool.Tool) sdk.ToolUnionParam {
	sent, words := toolSchema(t.Parameters())
	p := sdk.ToolParam{Name: toolName(t.Name()), InputSchema: inputSchema(sent)}
	if about := strings.TrimSpace(t.Description() + "\n" + words); about != "" {
		p.Description = sdk.String(about)
	}
	return sdk.ToolUnionParam{OfTool: &p}
}

func inputSchema(raw json.RawMessage) sdk.ToolInputSchemaParam {
	return param.Override[sdk.ToolInputSchemaParam](raw)
}

// thinking returns the thinking part of the request. The API refuses a budget if the last calls were made
// without thinking. A budget is less than the reply has tokens.
func (c Config) thinking(turns []sdk.MessageParam, most int64) sdk.ThinkingConfigParamUnion {
	show := ""
	if c.ShowThinking {
		show = "summarized"
	}
	switch t := c.Thinking; {
	case t.Mode == Adaptive:
		adaptive := sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplay(show)}
		return sdk.ThinkingConfigParamUnion{OfAdaptive: &adaptive}
	case t.Mode == Budget && most > minBudget && !calledWithoutThinking(turns):
		budget := sdk.ThinkingConfigParamOfEnabled(min(t.BudgetTokens, most-1))
		budget.OfEnabled.Display = sdk.ThinkingConfigEnabledDisplay(show)
		return budget
	case t.Mode == NoThinking:
		return sdk.ThinkingConfigParamUnion{OfDisabled: &sdk.ThinkingConfigDisabledParam{}}
	}
	return sdk.ThinkingConfigParamUnion{}
}

// calledWithoutThinking reports whether the last turn of the model makes calls and does not begin with
// thoughts.
func calledWithoutThinking(turns []sdk.MessageParam) bool {
	for n := len(turns) - 1; n >= 0; n-- {
		if turns[n].Role != sdk.MessageParamRoleAssistant {
			continue
		}
		blocks := turns[n].Content
		for _, b := range blocks {
			if b.OfToolUse != nil {
				return !isThinking(blocks[0])
			}
		}
		return false
	}
	return false
}

func isThinking(b sdk.ContentBlockParamUnion) bool {
	raw, _ := b.Overrides()
	kept, isRaw := raw.(json.RawMessage)
	list, _ := kit.ReadObject(kept)
	return isRaw && isThought(list.Text("type"))
}

// isThought reports whether a block of a type is a thought.
func isThought(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

// newest is the number of the user's latest turns that are marked for the cache. The last one is what the
// next request reads; the one before is what this request reads, wherever the API would look otherwise: it
// finds no marks that are more than 20 blocks back. A request without tools that begins a conversation has
// probably no next one: of it none is marked, because writing costs more than plain input.
const newest = 2

// mark sets the cache breakpoints: after the tools and the system prompt, which do not change within a run,
// and after the newest turns of the user, because a transcript only grows. The API allows four.
func (c Config) mark(p *sdk.MessageNewParams) {
	if c.Cache == NoCache {
		return
	}
	mark := sdk.CacheControlEphemeralParam{TTL: sdk.CacheControlEphemeralTTL(c.Cache)}
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = mark
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = mark
	}
	isAnswer := func(turn sdk.MessageParam) bool { return turn.Role == sdk.MessageParamRoleAssistant }
	if len(p.Tools) == 0 && !slices.ContainsFunc(p.Messages, isAnswer) {
		return
	}
	left := newest
	for n := len(p.Messages) - 1; n >= 0 && left > 0; n-- {
		if turn := p.Messages[n]; turn.Role == sdk.MessageParamRoleUser && len(turn.Content) > 0 {
			markBlock(&turn.Content[len(turn.Content)-1], mark)
			left--
		}
	}
}

// markBlock sets the cache breakpoint after a block of the user.
func markBlock(b *sdk.ContentBlockParamUnion, mark sdk.CacheControlEphemeralParam) {
	raw, _ := b.Overrides()
	if medium, isRaw := raw.(json.RawMessage); isRaw {
		o, _ := kit.ReadObject(medium)
		control, _ := kit.Marshal(mark) // two texts always have a JSON form
		*b = param.Override[sdk.ContentBlockParamUnion](o.With("cache_control", control).JSON())
		return
	}
	if at := b.GetCacheControl(); at != nil {
		*at = mark
	}
}
