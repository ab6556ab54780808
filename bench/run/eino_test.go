package run

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
)

type einoModel struct{ script *work.Script }

func (m einoModel) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	turn := 0
	for _, said := range in {
		if said.Role == schema.Assistant {
			turn++
		}
	}
	arguments, answer := m.script.Reply(turn)
	if answer != "" {
		return schema.AssistantMessage(answer, nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: "c1", Function: schema.FunctionCall{Name: m.script.Tool, Arguments: arguments}}}), nil
}

func (m einoModel) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	msg, err := m.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{msg}), err
}

func (m einoModel) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

// einoTools are the tool, with the validator in it, and the middleware that turns its errors into feedback.
// Without it the first bad call ends the run.
func einoTools[A any](t testing.TB, s work.Script) compose.ToolsNodeConfig {
	v := work.Validator()
	made, err := utils.InferTool(s.Tool, s.Description, func(_ context.Context, a A) (work.Receipt, error) {
		if err := v.Struct(a); err != nil {
			return work.Receipt{}, err
		}
		return work.Done(), nil
	})
	require.NoError(t, err)
	feedback := func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
		return func(ctx context.Context, in *compose.ToolInput) (*compose.ToolOutput, error) {
			out, err := next(ctx, in)
			if err != nil {
				return &compose.ToolOutput{Result: "The call failed: " + err.Error() + "\nCall the tool again."}, nil
			}
			return out, nil
		}
	}
	return compose.ToolsNodeConfig{Tools: []tool.BaseTool{made}, ToolCallMiddlewares: []compose.ToolMiddleware{{Invokable: feedback}}}
}

func einoReact[A any](t testing.TB, s work.Script) func() (string, error) {
	agent, err := react.NewAgent(t.Context(), &react.AgentConfig{ToolCallingModel: einoModel{&s}, ToolsConfig: einoTools[A](t, s)})
	require.NoError(t, err)
	return func() (string, error) {
		reply, err := agent.Generate(t.Context(), []*schema.Message{schema.UserMessage(s.Prompt)})
		if err != nil {
			return "", err
		}
		return reply.Content, nil
	}
}

func einoADK[A any](t testing.TB, s work.Script) func() (string, error) {
	agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "traveller", Description: "Books rooms.", Model: einoModel{&s}, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: einoTools[A](t, s)},
	})
	require.NoError(t, err)
	runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent})
	return func() (string, error) {
		text, events := "", runner.Query(t.Context(), s.Prompt)
		for ev, ok := events.Next(); ok; ev, ok = events.Next() {
			if ev.Err != nil {
				return "", ev.Err
			}
			if ev.Output == nil || ev.Output.MessageOutput == nil {
				continue
			}
			msg, err := ev.Output.MessageOutput.GetMessage()
			if err != nil {
				return "", errors.Join(work.ErrWrong, err)
			}
			text = msg.Content
		}
		return text, nil
	}
}
