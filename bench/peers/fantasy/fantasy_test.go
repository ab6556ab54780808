package fantasy

import (
	"context"
	"encoding/json"
	"testing"

	"charm.land/fantasy"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
)

var sinkOrder work.Order

type model struct{ script *work.Script }

func (model) Provider() string { return "fake" }
func (model) Model() string    { return "fake" }

func (m model) Generate(_ context.Context, c fantasy.Call) (*fantasy.Response, error) {
	turn := 0
	for _, said := range c.Prompt {
		if said.Role == fantasy.MessageRoleAssistant {
			turn++
		}
	}
	arguments, answer := m.script.Reply(turn)
	if answer != "" {
		return &fantasy.Response{FinishReason: fantasy.FinishReasonStop, Content: fantasy.ResponseContent{fantasy.TextContent{Text: answer}}}, nil
	}
	call := fantasy.ToolCallContent{ToolCallID: "c1", ToolName: m.script.Tool, Input: arguments}
	return &fantasy.Response{FinishReason: fantasy.FinishReasonToolCalls, Content: fantasy.ResponseContent{call}}, nil
}

func (model) Stream(context.Context, fantasy.Call) (fantasy.StreamResponse, error) {
	return nil, work.ErrWrong
}

func (model) GenerateObject(context.Context, fantasy.ObjectCall) (*fantasy.ObjectResponse, error) {
	return nil, work.ErrWrong
}

func (model) StreamObject(context.Context, fantasy.ObjectCall) (fantasy.ObjectStreamResponse, error) {
	return nil, work.ErrWrong
}

// run makes one whole run. The tool uses the validator, because fantasy only checks required keys.
func run[A any](t testing.TB, s work.Script) func() (string, error) {
	v := work.Validator()
	book := fantasy.NewAgentTool(s.Tool, s.Description, func(_ context.Context, a A, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
		if err := v.Struct(a); err != nil {
			return fantasy.NewTextErrorResponse(err.Error()), nil
		}
		result, err := json.Marshal(work.Done())
		return fantasy.NewTextResponse(string(result)), err
	})
	agent := fantasy.NewAgent(model{&s}, fantasy.WithTools(book))
	return func() (string, error) {
		result, err := agent.Generate(t.Context(), fantasy.AgentCall{Prompt: s.Prompt})
		if err != nil {
			return "", err
		}
		if len(result.Steps) != 3 {
			return "", work.ErrWrong
		}
		return result.Response.Content.Text(), nil
	}
}

// check returns the faults of an order; empty for none.
func check(t testing.TB) func([]byte) string {
	v := work.Validator()
	order := fantasy.NewAgentTool("place_order", "Place an order.", func(_ context.Context, o work.Order, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
		sinkOrder = o
		if err := v.Struct(o); err != nil {
			return fantasy.NewTextErrorResponse(err.Error()), nil
		}
		return fantasy.NewTextResponse("ok"), nil
	})
	return func(doc []byte) string {
		result, err := order.Run(t.Context(), fantasy.ToolCall{ID: "c1", Name: "place_order", Input: string(doc)})
		if err != nil || !result.IsError {
			return ""
		}
		return result.Content
	}
}

func TestTheSameWork(t *testing.T) {
	for _, run := range []func() (string, error){run[work.Order](t, work.Large()), run[work.Booking](t, work.Small())} {
		text, err := run()
		require.NoError(t, err)
		require.Equal(t, work.Small().Answer, text)
	}
	require.Empty(t, check(t)(work.GoodOrder()))
	require.NotEmpty(t, check(t)(work.BadOrder()))
}

func BenchmarkRun(b *testing.B) {
	b.Run("fantasy", func(b *testing.B) { benchmarkRun(b, run[work.Order](b, work.Large())) })
}

func BenchmarkRunSmall(b *testing.B) {
	b.Run("fantasy", func(b *testing.B) { benchmarkRun(b, run[work.Booking](b, work.Small())) })
}

func BenchmarkCheckGood(b *testing.B) {
	b.Run("fantasy_validator", func(b *testing.B) { benchmarkCheck(b, check(b), work.GoodOrder(), true) })
}

func BenchmarkCheckBad(b *testing.B) {
	b.Run("fantasy_validator", func(b *testing.B) { benchmarkCheck(b, check(b), work.BadOrder(), false) })
}

func benchmarkRun(b *testing.B, run func() (string, error)) {
	b.ReportAllocs()
	for b.Loop() {
		if text, err := run(); err != nil || text != work.Small().Answer {
			b.Fatal(text, err)
		}
	}
}

func benchmarkCheck(b *testing.B, check func([]byte) string, doc []byte, good bool) {
	b.ReportAllocs()
	for b.Loop() {
		if text := check(doc); (text == "") != good {
			b.Fatal(text)
		}
	}
}
