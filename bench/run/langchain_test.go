package run

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/retake-go/retake/bench/work"
)

type langchainModel struct{ script *work.Script }

func (langchainModel) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", work.ErrWrong
}

func (m langchainModel) GenerateContent(_ context.Context, in []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	turn := 0
	for _, said := range in {
		if said.Role == llms.ChatMessageTypeAI {
			turn++
		}
	}
	arguments, answer := m.script.Reply(turn)
	choice := &llms.ContentChoice{Content: answer}
	if answer == "" {
		choice.ToolCalls = []llms.ToolCall{{ID: "c1", Type: "function", FunctionCall: &llms.FunctionCall{Name: m.script.Tool, Arguments: arguments}}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// langchainTool checks its own arguments, because its tools are functions of a string. Faults are its
// result, because an error would end the run.
type langchainTool[A any] struct {
	script *work.Script
	check  func(arguments string, into any) error
}

func (t langchainTool[A]) Name() string        { return t.script.Tool }
func (t langchainTool[A]) Description() string { return t.script.Description }

func (t langchainTool[A]) Call(_ context.Context, arguments string) (string, error) {
	var a A
	if err := t.check(arguments, &a); err != nil {
		return err.Error(), nil
	}
	result, err := json.Marshal(work.Done())
	return string(result), err
}

func langchain[A any](t testing.TB, s work.Script) func() (string, error) {
	v := work.Validator()
	check := func(arguments string, into any) error { return decode(v, arguments, into) }
	agent := agents.NewOpenAIFunctionsAgent(langchainModel{&s}, []tools.Tool{langchainTool[A]{&s, check}})
	executor := agents.NewExecutor(agent)
	return func() (string, error) { return chains.Run(t.Context(), executor, s.Prompt) }
}
