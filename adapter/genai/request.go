package genai

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// The instructions for a structured answer.
const (
	wantAnswer = "Answer with one JSON value that this JSON Schema accepts, and with nothing else: " +
		"no prose, no code fence.\n"
	// wantInTheEnd allows calls before the answer.
	wantInTheEnd = "Call functions first, where they are needed. Then give the final answer as one JSON value " +
		"that this JSON Schema accepts, and nothing else: no prose, no code fence.\n"
)

// request is the SDK's config of a request, and the parts that replace what the SDK writes.
type request struct {
	config   *sdk.GenerateContentConfig
	contents json.RawMessage
	tools    json.RawMessage
	output   json.RawMessage
	// names maps wire names of tools to the registered ones, if the core could not tell.
	names map[string]string
}

// request converts a request for the named model.
func (m *Model) request(req loop.Request, model string) (*request, error) {
	turns, system := turnsOf(req.Messages, model)
	system = append([]string{req.System}, system...)
	r := &request{config: m.cfg.generation(req), names: map[string]string{}}
	if req.Output != nil {
		r.want(req, m.cfg.Output, &system)
	}
	if text := kit.Join(system...); text != "" {
		r.config.SystemInstruction = &sdk.Content{Role: "user", Parts: []*sdk.Part{{Text: text}}}
	}
	r.declare(req)
	r.config.StopSequences = req.Stop
	if len(req.Tools) > 0 && req.ToolChoice != "" {
		r.config.ToolConfig = &sdk.ToolConfig{FunctionCallingConfig: choice(req.ToolChoice)}
	}
	var err error
	r.contents, err = kit.Marshal(turns)
	r.config.HTTPOptions = &sdk.HTTPOptions{
		RetryOptions:          &sdk.HTTPRetryOptions{Attempts: new(int32(1))},
		ExtrasRequestProvider: func(body map[string]any) map[string]any { return m.extend(r.fill(body)) },
	}
	return r, err
}

// generation returns the part of the request that depends on the config and on the bounds of the request.
func (c Config) generation(req loop.Request) *sdk.GenerateContentConfig {
	g := &sdk.GenerateContentConfig{AutomaticContinuation: new(false),
		MaxOutputTokens: int32(min(kit.Least(c.MaxTokens, req.MaxOutputTokens), math.MaxInt32))}
	if c.Seed != nil {
		g.Seed = new(int32(*c.Seed))
	}
	if t := cmp.Or(req.Temperature, c.Temperature); t != nil {
		g.Temperature = new(float32(*t))
	}
	if c.TopP != nil {
		g.TopP = new(float32(*c.TopP))
	}
	if c.Thinking != (Thinking{}) || c.ShowThinking {
		g.ThinkingConfig = &sdk.ThinkingConfig{
			IncludeThoughts: c.ShowThinking, ThinkingBudget: c.Thinking.Budget,
			ThinkingLevel: sdk.ThinkingLevel(strings.ToUpper(c.Thinking.Level)),
		}
	}
	return g
}

// want asks for a structured answer.
func (r *request) want(req loop.Request, how Output, system *[]string) {
	words := wantAnswer
	if len(req.Tools) > 0 {
		words = wantInTheEnd
	}
	if how == OutputInstructions || how == OutputNative && len(req.Tools) > 0 {
		*system = append(*system, words+string(req.Output.JSON()))
		return
	}
	r.config.ResponseMIMEType = "application/json"
	r.output = narrow(req.Output.JSON())
}

func choice(c message.ToolChoice) *sdk.FunctionCallingConfig {
	if c == message.NoTool {
		return &sdk.FunctionCallingConfig{Mode: sdk.FunctionCallingConfigModeNone}
	}
	calling := &sdk.FunctionCallingConfig{Mode: sdk.FunctionCallingConfigModeAny}
	if name := c.Tool(); name != "" {
		calling.AllowedFunctionNames = []string{toolName(name)}
	}
	return calling
}

// declare declares the tools.
func (r *request) declare(req loop.Request) {
	var functions []json.RawMessage
	for _, t := range req.Tools {
		sent := toolName(t.Name())
		if sent != tool.ProviderName(t.Name()) {
			r.names[sent] = t.Name()
		}
		f := kit.Object{kit.TextField("name", sent)}
		if t.Description() != "" {
			f = append(f, kit.TextField("description", t.Description()))
		}
		functions = append(functions, append(f, kit.Field("parametersJsonSchema",
			parameters(t.Parameters()))).JSON())
	}
	if functions != nil {
		r.tools = kit.Object{kit.Field("functionDeclarations", kit.List(functions...))}.JSON()
	}
}

// fill replaces the parts of the SDK's body that it would change.
func (r *request) fill(body map[string]any) map[string]any {
	body["contents"] = r.contents
	if r.tools != nil {
		others, _ := body["tools"].([]any)
		body["tools"] = append(slices.Clone(others), r.tools)
	}
	if generation, ok := body["generationConfig"].(map[string]any); ok && r.output != nil {
		generation["responseJsonSchema"] = r.output
	}
	return body
}

// extend calls the client's own function on the body.
func (m *Model) extend(body map[string]any) map[string]any {
	if m.extras == nil {
		return body
	}
	return m.extras(body)
}
