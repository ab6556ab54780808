package openaiagents

import (
	"context"
	"log/slog"
	"testing"

	"github.com/nlpodyssey/openai-agents-go/agents"
	"github.com/nlpodyssey/openai-agents-go/tracing"
	"github.com/nlpodyssey/openai-agents-go/usage"
	"github.com/openai/openai-go/v2/responses"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
)

type model struct{}

func (model) GetResponse(_ context.Context, p agents.ModelResponseParams) (*agents.ModelResponse, error) {
	turn := 0
	if items, ok := p.Input.(agents.InputItems); ok {
		for _, i := range items {
			if i.OfFunctionCallOutput != nil {
				turn++
			}
		}
	}
	item := responses.ResponseOutputItemUnion{ID: "1", CallID: "c1", Type: "function_call", Name: work.Tool}
	if turn > 1 {
		item = responses.ResponseOutputItemUnion{ID: "1", Type: "message", Role: "assistant", Status: "completed",
			Content: []responses.ResponseOutputMessageContentUnion{{Type: "output_text", Text: work.Answer}}}
	} else {
		item.Arguments = []string{work.BadCall, work.GoodCall}[turn]
	}
	return &agents.ModelResponse{Output: []agents.TResponseOutputItem{item}, Usage: usage.NewUsage()}, nil
}

func (model) StreamResponse(context.Context, agents.ModelResponseParams, agents.ModelStreamResponseCallback) error {
	return work.ErrWrong
}

// run makes one whole run without tracing: a tool's rules are checked by the validator in it, for the library decodes only.
// Without tracing the library logs an error a turn: that is thrown away.
func run(t testing.TB) func() (string, error) {
	tracing.SetLogger(slog.New(slog.DiscardHandler))
	v := work.Validator()
	book := agents.NewFunctionTool(work.Tool, work.Description, func(_ context.Context, b work.Booking) (work.Receipt, error) {
		if err := v.Struct(b); err != nil {
			return work.Receipt{}, err
		}
		return work.Book(b), nil
	})
	agent := agents.New("traveller").WithModelInstance(model{}).WithTools(book)
	runner := agents.Runner{Config: agents.RunConfig{TracingDisabled: true}}
	return func() (string, error) {
		result, err := runner.Run(t.Context(), agent, work.Prompt)
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
	text, err := run(t)()
	require.NoError(t, err)
	require.Equal(t, work.Answer, text)
}

func BenchmarkRun(b *testing.B) {
	b.Run("openai_agents", func(b *testing.B) { benchmarkRun(b, run(b)) })
}

func benchmarkRun(b *testing.B, run func() (string, error)) {
	b.ReportAllocs()
	for b.Loop() {
		if text, err := run(); err != nil || text != work.Answer {
			b.Fatal(text, err)
		}
	}
}
