package temporal

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// booking has rules that JSON Schema cannot express.
type booking struct {
	Email  string  `json:"email" validate:"required,email"`
	From   int     `json:"from"`
	To     int     `json:"to" validate:"gtfield=From"`
	Price  float32 `json:"price"`
	Nights int8    `json:"nights"`
}

func schemaOf[T any](t *testing.T) *schema.Schema {
	t.Helper()
	typed, err := schema.For[T]()
	require.NoError(t, err)
	return typed.Schema()
}

// Workers check answers of a Go type as in process: the same verdicts, words and attempts.
func TestAnswersAreJudgedByTheTypeOfTheWorker(t *testing.T) {
	script := []looptest.Turn{
		looptest.Say(`{"email":"nobody","from":1,"to":2,"price":1,"nights":1}`),
		looptest.Say(`{"email":"a@b.example","from":3,"to":2,"price":1,"nights":1}`),
		looptest.Say(`{"email":"a@b.example","from":1,"to":2,"price":1e39,"nights":200}`),
		looptest.Say(`{"email":"a@b.example","from":1,"to":2,"price":1,"nights":9223372036854775808}`),
	}
	for n := range script {
		turns := append(append([]looptest.Turn{}, script[:n+1]...), looptest.Say(`{"email":"a@b.example","from":1,"to":2,"price":1.5,"nights":3}`))
		cfg := loop.Config{Seed: "s", Output: schemaOf[booking](t)}
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		want, wantErr := loopRun(t.Context(), looptest.NewModel(turns...), s, "Hello.", cfg)
		b := newBench(t, Worker{Model: looptest.NewModel(turns...), Outputs: []*schema.Schema{cfg.Output}}, cfg)
		got, gotErr := b.run()
		assert.Equal(t, texts(want.Transcript), texts(got.Transcript))
		assert.Equal(t, string(want.Value), string(got.Value))
		assert.Len(t, got.Attempts, len(want.Attempts))
		assert.Equal(t, errText(wantErr), errText(gotErr))
	}
}

func texts(said []message.Message) (all []string) {
	for _, m := range said {
		all = append(all, m.Text)
	}
	return all
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAnAnswerThatTheWorkerDoesNotHaveIsRefusedByName(t *testing.T) {
	type looser struct {
		Email string `json:"email" validate:"required"`
	}
	type float struct {
		N float32 `json:"n"`
	}
	for name, tt := range map[string]struct {
		wants *schema.Schema
		has   []*schema.Schema
		want  string
	}{
		"missing": {schemaOf[booking](t), nil, "the answer type temporal.booking, which this worker of agent retake does not have: add it to Outputs"},
		"another": {schemaOf[booking](t), []*schema.Schema{schemaOf[looser](t)}, "the answer type temporal.booking, which this worker of agent retake does not have"},
		"schema":  {renamed(t), []*schema.Schema{schemaOf[booking](t)}, "type temporal.booking, which has another schema in this worker of agent retake"},
		"rules":   {sameText(t), []*schema.Schema{schemaOf[float](t)}, "type temporal.float, which has other rules in this worker of agent retake"},
	} {
		t.Run(name, func(t *testing.T) {
			model := looptest.NewModel(looptest.Say("{}"))
			_, err := newBench(t, Worker{Model: model, Outputs: tt.has}, loop.Config{Output: tt.wants}).run()
			var run *RunError
			require.ErrorAs(t, err, &run)
			assert.ErrorContains(t, err, tt.want)
			assert.Empty(t, model.Requests(), "nothing is begun")
		})
	}
}

// renamed is another type with the name of booking.
func renamed(t *testing.T) *schema.Schema {
	type booking struct {
		Email string `json:"email"`
	}
	return schemaOf[booking](t)
}

// sameText is a type with the name and the JSON Schema of float.
func sameText(t *testing.T) *schema.Schema {
	type float struct {
		N float64 `json:"n"`
	}
	return schemaOf[float](t)
}

// tools makes tools with those names and arguments of type T.
func tools[T any](t *testing.T, names ...string) *tool.Set {
	t.Helper()
	var all []*tool.Tool
	for _, name := range names {
		all = append(all, tool.New(name, "Does it.", func(context.Context, T) (string, error) { return "done", nil }))
	}
	set, err := tool.NewSet(all...)
	require.NoError(t, err)
	return set
}

// A worker that lacks something of the run begins nothing, and another one takes the call.
func TestAWorkerThatLacksAToolIsRefused(t *testing.T) {
	type args struct {
		Text string `json:"text"`
	}
	type other struct {
		Number int `json:"number"`
	}
	script := []looptest.Turn{call("c1", `{"text":"a"}`), looptest.Say("Done.")}
	for name, tt := range map[string]struct {
		lacking *tool.Set
		at      string
		want    string
	}{
		"model":        {tools[args](t, "echo"), "model", `the run needs the tool "pay", which this worker of agent retake does not have: add it to Tools`},
		"model_schema": {tools[other](t, "echo", "pay"), "model", `the run needs the tool "echo", which has another schema in this worker of agent retake`},
		"tool":         {tools[args](t, "pay"), "tool", `the run needs the tool "echo", which this worker of agent retake does not have: add it to Tools`},
		"tool_schema":  {tools[other](t, "echo", "pay"), "tool", `the run needs the tool "echo", which has another schema in this worker of agent retake`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, comes := range []bool{true, false} {
				own := looptest.NewModel(script...)
				b := newBench(t, Worker{Model: own, Tools: tools[args](t, "echo", "pay"), Deaths: 3}, loop.Config{})
				foreign, err := newAgent(Worker{Model: own, Tools: tt.lacking})
				require.NoError(t, err)
				asked := 0
				lacks := func() bool { asked++; return !comes || asked <= 2 }
				b.OnActivity(b.agent.named("model"), anything, anything).Return(func(ctx context.Context, in wire[modelCall]) (wire[modelResult], error) {
					if tt.at == "model" && lacks() {
						return foreign.callModel(ctx, in)
					}
					return b.agent.callModel(ctx, in)
				}).Maybe()
				b.OnActivity(b.agent.named("tool"), anything, anything).Return(func(ctx context.Context, in wire[toolCall]) (wire[toolResult], error) {
					if tt.at == "tool" && lacks() {
						return foreign.callTool(ctx, in)
					}
					return b.agent.callTool(ctx, in)
				}).Maybe()
				r, err := b.run()
				if comes {
					require.NoError(t, err)
					assert.Equal(t, "Done.", r.Text)
					assert.Len(t, own.Requests(), 2)
					assert.Zero(t, query[Status](b, QueryStatus).MaybePaid)
					continue
				}
				var run *RunError
				require.ErrorAs(t, err, &run)
				require.ErrorContains(t, err, tt.want)
				assert.True(t, strings.HasSuffix(err.Error(), "(4 workers were asked)"), err)
				assert.Equal(t, 4, asked)
			}
		})
	}
}
