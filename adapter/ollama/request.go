package ollama

import (
	"cmp"
	"encoding/json"
	"maps"
	"time"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// chatRequest is the body of a request.
type chatRequest struct {
	Model     string                     `json:"model"`
	Messages  []wireMessage              `json:"messages"`
	Tools     []wireTool                 `json:"tools,omitempty"`
	Format    json.RawMessage            `json:"format,omitempty"`
	Options   map[string]json.RawMessage `json:"options,omitempty"`
	Stream    bool                       `json:"stream"`
	Think     json.RawMessage            `json:"think,omitempty"`
	KeepAlive json.RawMessage            `json:"keep_alive,omitempty"`
	Truncate  *bool                      `json:"truncate,omitempty"`
	Shift     *bool                      `json:"shift,omitempty"`
}

// wireMessage is a message of the request.
type wireMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Images     []string   `json:"images,omitempty"`
	Thinking   string     `json:"thinking,omitempty"`
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string       `json:"id,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type wireTool struct {
	Type     string   `json:"type"`
	Function wireSpec `json:"function"`
}

type wireSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// keepAlive is a duration in the API's form.
func keepAlive(d time.Duration) json.RawMessage {
	if d < 0 {
		return json.RawMessage("-1")
	}
	return kit.Quote(d.String())
}

// The instructions for a structured answer.
const (
	wantAnswer = "Answer with one JSON value that this JSON Schema accepts, and with nothing else: " +
		"no prose, no code fence.\n"
	// wantInTheEnd allows calls before the answer.
	wantInTheEnd = "Call tools first, where they are needed. Then give the final answer as one JSON value " +
		"that this JSON Schema accepts, and nothing else: no prose, no code fence.\n"
)

// body returns the body of a request for the named model.
func (c Config) body(req loop.Request, model string) ([]byte, error) {
	r := chatRequest{Model: model, Stream: req.Stream != nil, Think: thinking(c.Think),
		Options: c.options(req)}
	turns, system := turnsOf(req.Messages, model)
	system = append([]string{req.System}, system...)
	if req.ToolChoice == message.NoTool {
		req.Tools = nil
	}
	for _, t := range req.Tools {
		spec := wireSpec{Name: toolName(t.Name()), Description: t.Description(),
			Parameters: toolSchema(t.Parameters())}
		r.Tools = append(r.Tools, wireTool{"function", spec})
	}
	if req.Output != nil {
		want := wantAnswer
		if len(r.Tools) > 0 {
			want = wantInTheEnd
		} else if c.Output == OutputNative {
			r.Format = formatSchema(req.Output.JSON())
		}
		system = append(system, want+string(req.Output.JSON()))
	}
	if text := kit.Join(system...); text != "" {
		r.Messages = append(r.Messages, wireMessage{Role: "system", Content: text})
	}
	r.Messages = append(r.Messages, turns...)
	if c.KeepAlive != nil {
		r.KeepAlive = keepAlive(*c.KeepAlive)
	}
	if !c.Truncate {
		r.Truncate, r.Shift = new(false), new(false)
	}
	return kit.Marshal(r)
}

// options merges the options of the config and of the request.
func (c Config) options(req loop.Request) map[string]json.RawMessage {
	all := maps.Clone(c.Options)
	set := func(name string, value any) {
		if all == nil {
			all = map[string]json.RawMessage{}
		}
		all[name], _ = kit.Marshal(value) // numbers and texts always have a JSON form
	}
	if len(req.Stop) > 0 {
		set("stop", req.Stop)
	}
	if most := kit.Least(c.MaxTokens, req.MaxOutputTokens); most != 0 {
		set("num_predict", most)
	}
	if c.ContextTokens != 0 {
		set("num_ctx", c.ContextTokens)
	}
	if t := cmp.Or(req.Temperature, c.Temperature); t != nil {
		set("temperature", *t)
	}
	if c.Seed != nil {
		set("seed", *c.Seed)
	}
	return all
}
