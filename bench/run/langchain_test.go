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

type langchainModel struct{}

func (langchainModel) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", work.ErrWrong
}

func (langchainModel) GenerateContent(_ context.Context, in []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	turn := 0
	for _, m := range in {
		if m.Role == llms.ChatMessageTypeAI {
			turn++
		}
	}
	arguments, answer := scripted(turn)
	choice := &llms.ContentChoice{Content: answer}
	if answer == "" {
		choice.ToolCalls = []llms.ToolCall{{ID: "c1", Type: "function", FunctionCall: &llms.FunctionCall{Name: work.Tool, Arguments: arguments}}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// langchainTool checks its own arguments, for a tool is a function of a string there; an error would end the run, so that what is
// wrong is its result.
type langchainTool struct {
	check func(arguments string, into any) error
}

func (langchainTool) Name() string        { return work.Tool }
func (langchainTool) Description() string { return work.Description }

func (t langchainTool) Call(_ context.Context, arguments string) (string, error) {
	var b work.Booking
	if err := t.check(arguments, &b); err != nil {
		return err.Error(), nil
	}
	result, err := json.Marshal(work.Book(b))
	return string(result), err
}

func langchain(t testing.TB) func() (string, error) {
	v := work.Validator()
	check := func(arguments string, into any) error { return decode(v, arguments, into) }
	agent := agents.NewOpenAIFunctionsAgent(langchainModel{}, []tools.Tool{langchainTool{check}})
	executor := agents.NewExecutor(agent)
	return func() (string, error) { return chains.Run(t.Context(), executor, work.Prompt) }
}
