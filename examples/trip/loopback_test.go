package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/message"
)

// loopback is a provider's API on this machine that follows a script.
type loopback struct {
	server *httptest.Server
	header http.Header
	status int

	mu   sync.Mutex
	seen []string
}

// serveScript plays the script in a provider's form. At its end, or if a status is set, it replies with an
// error.
func serveScript(t *testing.T, says func(message.Reply) any) *loopback {
	t.Helper()
	s := &loopback{header: http.Header{"Content-Type": {"application/json"}}}
	var bodies [][]byte
	for _, turn := range script() {
		if says != nil {
			body, err := json.Marshal(says(turn.Reply))
			require.NoError(t, err)
			bodies = append(bodies, body)
		}
	}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.note(r)
		for name, values := range s.header {
			w.Header()[name] = values
		}
		if s.status != 0 || n >= len(bodies) {
			w.WriteHeader(max(s.status, http.StatusUnauthorized))
			_, _ = io.WriteString(w, "{}")
			return
		}
		_, _ = w.Write(bodies[n])
	}))
	t.Cleanup(s.server.Close)
	return s
}

// note keeps a request and returns the number of those before it.
func (s *loopback) note(r *http.Request) int {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, fmt.Sprint(r.URL, r.Header, string(body), err))
	return len(s.seen) - 1
}

func (s *loopback) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

func (s *loopback) url(provider string) string {
	if provider == "openai" {
		return s.server.URL + "/v1"
	}
	return s.server.URL
}

type object map[string]any

// encoders write a reply in the form of each provider.
var encoders = map[string]func(message.Reply) any{
	"openai": func(r message.Reply) any {
		said := object{"role": "assistant", "content": r.Text}
		finish := "stop"
		for _, c := range r.Calls {
			function := object{"name": c.Name, "arguments": c.Arguments}
			said["tool_calls"], finish = []object{{"id": c.ID, "type": "function", "function": function}}, "tool_calls"
		}
		return object{
			"object": "chat.completion", "model": "a-model", "choices": []object{{"message": said, "finish_reason": finish}},
			"usage": object{"prompt_tokens": r.Usage.InputTokens, "completion_tokens": r.Usage.OutputTokens},
		}
	},
	"anthropic": func(r message.Reply) any {
		content, stop := []object{{"type": "text", "text": r.Text}}, "end_turn"
		for _, c := range r.Calls {
			content = []object{{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Arguments)}}
			stop = "tool_use"
		}
		return object{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "a-model", "content": content, "stop_reason": stop,
			"usage": object{"input_tokens": r.Usage.InputTokens, "output_tokens": r.Usage.OutputTokens},
		}
	},
	"gemini": func(r message.Reply) any {
		part := object{"text": r.Text}
		for _, c := range r.Calls {
			part = object{"functionCall": object{"id": c.ID, "name": c.Name, "args": json.RawMessage(c.Arguments)}, "thoughtSignature": "c2lnbmVk"}
		}
		return object{
			"modelVersion":  "a-model",
			"candidates":    []object{{"content": object{"role": "model", "parts": []object{part}}, "finishReason": "STOP"}},
			"usageMetadata": object{"promptTokenCount": r.Usage.InputTokens, "candidatesTokenCount": r.Usage.OutputTokens},
		}
	},
	"ollama": func(r message.Reply) any {
		said := object{"role": "assistant", "content": r.Text}
		for _, c := range r.Calls {
			function := object{"name": c.Name, "arguments": json.RawMessage(c.Arguments)}
			said["tool_calls"] = []object{{"id": c.ID, "function": function}}
		}
		return object{
			"model": "a-model", "message": said, "done": true, "done_reason": "stop",
			"prompt_eval_count": r.Usage.InputTokens, "eval_count": r.Usage.OutputTokens,
		}
	},
}
