package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// wrappers are the names of the call into which OpenAI's models write parallel calls.
var wrappers = []string{"parallel", "multi_tool_use.parallel"}

// apart returns the calls that a model made within one, or else the calls themselves. The API takes that one
// apart, except now and then (https://github.com/vercel/ai/issues/19067). The first call gets its id.
func (n wireNames) apart(calls []message.Call) []message.Call {
	if len(calls) != 1 || !slices.Contains(wrappers, calls[0].Name) || n.has(calls[0].Name) {
		return calls
	}
	var within struct {
		Uses []struct {
			Name       string          `json:"recipient_name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"tool_uses"`
	}
	if json.Unmarshal([]byte(calls[0].Arguments), &within) != nil {
		return calls
	}
	var all []message.Call
	for _, use := range within.Uses {
		name := strings.TrimPrefix(use.Name, "functions.")
		if !n.has(name) {
			return calls
		}
		all = append(all, message.Call{Name: n.registered(name), Arguments: kit.ArgumentText(use.Parameters)})
	}
	if len(all) == 0 {
		return calls
	}
	all[0].ID = calls[0].ID
	return all
}
