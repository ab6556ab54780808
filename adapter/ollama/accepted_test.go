package ollama_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/retake-go/retake/tool"
)

// accepts returns why the server would refuse a conversation, or misread it.
func accepts(body []byte) error {
	var b struct {
		Messages []struct {
			Role, Content string
			ToolName      string `json:"tool_name"`
			ToolCallID    string `json:"tool_call_id"`
			ToolCalls     []struct {
				ID       string
				Function struct {
					Name      string
					Arguments map[string]any
				}
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	said := b.Messages
	if len(said) > 0 && said[0].Role == "system" {
		said = said[1:]
	}
	if len(said) == 0 || said[0].Role != "user" || said[len(said)-1].Role == "assistant" {
		return fmt.Errorf("it does not begin with the user, or ends with the model")
	}
	ids := map[string]bool{}
	for n, m := range said {
		switch {
		case m.Role == "system", n > 0 && m.Role != "tool" && said[n-1].Role == m.Role:
			return fmt.Errorf("message %d: %s after %s", n, m.Role, said[n-1].Role)
		case m.Role == "user" && strings.TrimSpace(m.Content) == "":
			return fmt.Errorf("message %d is empty", n)
		}
		for k, c := range m.ToolCalls {
			answer := said[n+1+k]
			if ids[c.ID] || c.Function.Arguments == nil || tool.ProviderName(c.Function.Name) != c.Function.Name {
				return fmt.Errorf("message %d: call %d: its id, arguments or name", n, k)
			}
			ids[c.ID] = true
			if answer.Role != "tool" || answer.ToolCallID != c.ID || answer.ToolName != c.Function.Name {
				return fmt.Errorf("message %d: call %d has no answer in its place", n, k)
			}
		}
	}
	return nil
}
