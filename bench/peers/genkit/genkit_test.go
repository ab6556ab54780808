package genkit

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
)

var sinkOrder work.Order

func generate(script *work.Script) ai.ModelFunc {
	return func(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		turn := 0
		for _, m := range req.Messages {
			if m.Role == ai.RoleModel {
				turn++
			}
		}
		arguments, answer := script.Reply(turn)
		if answer != "" {
			return &ai.ModelResponse{Request: req, FinishReason: ai.FinishReasonStop, Message: ai.NewModelTextMessage(answer)}, nil
		}
		var input map[string]any
		if err := json.Unmarshal([]byte(arguments), &input); err != nil {
			return nil, err
		}
		call := ai.NewToolRequestPart(&ai.ToolRequest{Ref: "c1", Name: script.Tool, Input: input})
		return &ai.ModelResponse{Request: req, FinishReason: ai.FinishReasonStop, Message: ai.NewModelMessage(call)}, nil
	}
}

// run makes one whole run. Genkit checks the rules with the schema of the type. Middleware turns its errors
// into results, because errors would end the run.
func run[A any](t testing.TB, s work.Script) func() (string, error) {
	g := genkit.Init(t.Context())
	model := genkit.DefineModel(g, "test/fake", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, generate(&s))
	book := genkit.DefineTool(g, s.Tool, s.Description, func(_ *ai.ToolContext, in any) (work.Receipt, error) {
		var a A
		return work.Done(), decode(in, &a)
	}, ai.WithInputSchema(schemaOf(t, s.Schema)))
	feedback := ai.MiddlewareFunc(func(context.Context) (*ai.Hooks, error) {
		return &ai.Hooks{WrapTool: func(ctx context.Context, p *ai.ToolParams, next ai.ToolNext) (*ai.MultipartToolResponse, error) {
			out, err := next(ctx, p)
			if err != nil {
				return &ai.MultipartToolResponse{Output: err.Error()}, nil
			}
			return out, nil
		}}, nil
	})
	return func() (string, error) {
		resp, err := genkit.Generate(t.Context(), g, ai.WithModel(model), ai.WithPrompt(s.Prompt), ai.WithTools(book), ai.WithUse(feedback))
		if err != nil {
			return "", err
		}
		return resp.Text(), nil
	}
}

func schemaOf(t testing.TB, text []byte) map[string]any {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(text, &schema))
	return schema
}

// decode decodes the value of a tool whose schema is not made from its type.
func decode(in, into any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// check returns the faults of an order; empty for none.
func check(t testing.TB) func([]byte) string {
	g := genkit.Init(t.Context())
	order := genkit.DefineTool(g, "place_order", "Place an order.", func(_ *ai.ToolContext, in any) (string, error) {
		return "ok", decode(in, &sinkOrder)
	}, ai.WithInputSchema(schemaOf(t, work.OrderSchema)))
	return func(doc []byte) string {
		var input map[string]any
		if err := json.Unmarshal(doc, &input); err != nil {
			return err.Error()
		}
		if _, err := order.RunRaw(t.Context(), input); err != nil {
			return err.Error()
		}
		return ""
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
	b.Run("genkit", func(b *testing.B) { benchmarkRun(b, run[work.Order](b, work.Large())) })
}

func BenchmarkRunSmall(b *testing.B) {
	b.Run("genkit", func(b *testing.B) { benchmarkRun(b, run[work.Booking](b, work.Small())) })
}

func BenchmarkCheckGood(b *testing.B) {
	b.Run("genkit", func(b *testing.B) { benchmarkCheck(b, check(b), work.GoodOrder(), true) })
}

func BenchmarkCheckBad(b *testing.B) {
	b.Run("genkit", func(b *testing.B) { benchmarkCheck(b, check(b), work.BadOrder(), false) })
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
