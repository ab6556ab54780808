package ollama

import (
	"encoding/json"
	"time"

	"github.com/retake-go/retake/adapter/kit"
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

// wireReply is the message of a response.
type wireReply struct {
	Content   kit.Piece  `json:"content"`
	Thinking  kit.Piece  `json:"thinking"`
	ToolCalls []wireCall `json:"tool_calls"`
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

// chatResponse is a whole response, or one line of a stream.
type chatResponse struct {
	Model           string          `json:"model"`
	Message         wireReply       `json:"message"`
	Done            bool            `json:"done"`
	DoneReason      string          `json:"done_reason"`
	PromptEvalCount int64           `json:"prompt_eval_count"`
	EvalCount       int64           `json:"eval_count"`
	Error           json.RawMessage `json:"error"`
}

// keepAlive is a duration in the API's form.
func keepAlive(d time.Duration) json.RawMessage {
	if d < 0 {
		return json.RawMessage("-1")
	}
	return kit.Quote(d.String())
}
