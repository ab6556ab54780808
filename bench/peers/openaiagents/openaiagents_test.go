package openaiagents

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/nlpodyssey/openai-agents-go/agents"
	"github.com/nlpodyssey/openai-agents-go/tracing"
	"github.com/nlpodyssey/openai-agents-go/usage"
	"github.com/openai/openai-go/v2/packages/param"
	"github.com/openai/openai-go/v2/responses"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
)

type model struct{ script *work.Script }

func (m model) GetResponse(_ context.Context, p agents.ModelResponseParams) (*agents.ModelResponse, error) {
	turn := 0
	if items, ok := p.Input.(agents.InputItems); ok {
		for _, i := range items {
			if i.OfFunctionCallOutput != nil {
				turn++
			}
		}
	}
	arguments, answer := m.script.Reply(turn)
	item := responses.ResponseOutputItemUnion{ID: "1", CallID: "c1", Type: "function_call", Name: m.script.Tool, Arguments: arguments}
	if answer != "" {
		item = responses.ResponseOutputItemUnion{ID: "1", Type: "message", Role: "assistant", Status: "completed",
			Content: []responses.ResponseOutputMessageContentUnion{{Type: "output_text", Text: answer}}}
	}
	return &agents.ModelResponse{Output: []agents.TResponseOutputItem{item}, Usage: usage.NewUsage()}, nil
}

func (model) StreamResponse(context.Context, agents.ModelResponseParams, agents.ModelStreamResponseCallback) error {
	return work.ErrWrong
}

// run makes one whole run without tracing. The tool is made by hand like the library's constructor does,
// because its strict schemas refuse maps. It decodes, and the validator checks the rules. Without tracing
// the library logs an error in each turn; the log is dropped.
func run[A any](t testing.TB, s work.Script) func() (string, error) {
	tracing.SetLogger(slog.New(slog.DiscardHandler))
	v := work.Validator()
	var schema map[string]any
	require.NoError(t, json.Unmarshal(s.Schema, &schema))
	tool := agents.FunctionTool{
		Name: s.Tool, Description: s.Description, ParamsJSONSchema: schema, StrictJSONSchema: param.NewOpt(false),
		OnInvokeTool: func(_ context.Context, arguments string) (any, error) {
			var a A
			if err := json.Unmarshal([]byte(arguments), &a); err != nil {
				return nil, err
			}
			return work.Done(), v.Struct(a)
		},
	}
	agent := agents.New("traveller").WithModelInstance(model{&s}).WithTools(tool)
	runner := agents.Runner{Config: agents.RunConfig{TracingDisabled: true}}
	return func() (string, error) {
		result, err := runner.Run(t.Context(), agent, s.Prompt)
		if err != nil {
			return "", err
		}
		if len(result.RawResponses) != 3 {
			return "", work.ErrWrong
		}
		text, _ := result.FinalOutput.(string)
		return text, nil
	}
}

func TestTheSameWork(t *testing.T) {
	for _, run := range []func() (string, error){run[work.Order](t, work.Large()), run[work.Booking](t, work.Small())} {
		text, err := run()
		require.NoError(t, err)
		require.Equal(t, work.Small().Answer, text)
	}
}

func BenchmarkRun(b *testing.B) {
	b.Run("openai_agents", func(b *testing.B) { benchmarkRun(b, run[work.Order](b, work.Large())) })
}

func BenchmarkRunSmall(b *testing.B) {
	b.Run("openai_agents", func(b *testing.B) { benchmarkRun(b, run[work.Booking](b, work.Small())) })
}

func benchmarkRun(b *testing.B, run func() (string, error)) {
	b.ReportAllocs()
	for b.Loop() {
		if text, err := run(); err != nil || text != work.Small().Answer {
			b.Fatal(text, err)
		}
	}
}
