package run

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/plugin/retryandreflect"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/retake-go/retake/bench/work"
)

type adkModel struct{ script *work.Script }

func (adkModel) Name() string { return "fake" }

func (m adkModel) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		turn := 0
		for _, c := range req.Contents {
			if c.Role == genai.RoleModel {
				turn++
			}
		}
		arguments, answer := m.script.Reply(turn)
		content := genai.NewContentFromText(answer, genai.RoleModel)
		if answer == "" {
			var args map[string]any
			if err := json.Unmarshal([]byte(arguments), &args); err != nil {
				yield(nil, err)
				return
			}
			content = genai.NewContentFromFunctionCall(m.script.Tool, args, genai.RoleModel)
		}
		yield(&model.LLMResponse{Content: content, FinishReason: genai.FinishReasonStop}, nil)
	}
}

// googleADK checks the rules with retake's schema in its tool, and corrects with retryandreflect. Each run
// has its own session, which is deleted.
func googleADK[A any](t testing.TB, s work.Script) func() (string, error) {
	var input jsonschema.Schema
	require.NoError(t, json.Unmarshal(s.Schema, &input))
	book, err := functiontool.New(functiontool.Config{Name: s.Tool, Description: s.Description, InputSchema: &input},
		func(agent.Context, A) (work.Receipt, error) { return work.Done(), nil })
	require.NoError(t, err)
	root, err := llmagent.New(llmagent.Config{Name: "traveller", Description: "Books rooms.", Model: adkModel{&s}, Tools: []tool.Tool{book}})
	require.NoError(t, err)
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{
		AppName: "trips", Agent: root, SessionService: sessions, AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{retryandreflect.MustNew()}},
	})
	require.NoError(t, err)
	n := 0
	return func() (string, error) {
		n++
		id, text := strconv.Itoa(n), ""
		for ev, err := range r.Run(t.Context(), "user", id, genai.NewContentFromText(s.Prompt, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				return "", err
			}
			if c := ev.LLMResponse.Content; c != nil && c.Role == genai.RoleModel {
				text = c.Parts[0].Text
			}
		}
		return text, sessions.Delete(t.Context(), &session.DeleteRequest{AppName: "trips", UserID: "user", SessionID: id})
	}
}
