package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// subject makes one whole run and returns its last text. Tools, agents and graphs are made before.
type subject struct {
	name string
	run  func() (string, error)
}

// subjects are all lines that run a script whose tool takes an A.
func subjects[A any](t testing.TB, s work.Script, onePass func(string) (A, []work.Fault)) []subject {
	return []subject{
		{"floor", byHandInOnePass(t, s, onePass)},
		{"hand", byHandWithValidator[A](t, s)},
		{"ours", ours[A](t, s)},
		{"eino_react", einoReact[A](t, s)},
		{"eino_adk", einoADK[A](t, s)},
		{"langchaingo", langchain[A](t, s)},
		{"adk", googleADK[A](t, s)},
	}
}

// BenchmarkRun uses orders of a kilobyte, BenchmarkRunSmall orders of three fields.
func BenchmarkRun(b *testing.B) {
	benchmarkRun(b, subjects(b, work.Large(), work.OrderByHand), work.Large().Answer)
}

func BenchmarkRunSmall(b *testing.B) {
	benchmarkRun(b, subjects(b, work.Small(), work.BookingByHand), work.Small().Answer)
}

func benchmarkRun(b *testing.B, all []subject, answer string) {
	for _, r := range all {
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if text, err := r.run(); err != nil || text != answer {
					b.Fatal(text, err)
				}
			}
		})
	}
}

func TestTheSameWork(t *testing.T) {
	all := append(subjects(t, work.Large(), work.OrderByHand), subjects(t, work.Small(), work.BookingByHand)...)
	for _, r := range all {
		text, err := r.run()
		require.NoError(t, err, r.name)
		require.Equal(t, work.Small().Answer, text, r.name)
	}
}

// ours also keeps a session with attempts and feedback.
func ours[A any](t testing.TB, s work.Script) func() (string, error) {
	tools, err := tool.NewSet(tool.New(s.Tool, s.Description, func(context.Context, A) (work.Receipt, error) {
		return work.Done(), nil
	}))
	require.NoError(t, err)
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		arguments, answer := s.Reply((len(req.Messages) - 1) / 2)
		if answer != "" {
			return message.Reply{Text: answer, Finish: message.Stop}, nil
		}
		return message.Reply{Calls: []message.Call{{ID: "c1", Name: s.Tool, Arguments: arguments}}, Finish: message.ToolUse}, nil
	})
	agent, err := loop.New(model, loop.Config{Tools: tools})
	require.NoError(t, err)
	return func() (string, error) {
		kept, err := session.New(session.Config{ID: "order-42"})
		if err != nil {
			return "", err
		}
		result, err := agent.Run(t.Context(), kept, loop.Input{Prompt: s.Prompt})
		if len(result.Attempts) < 3 {
			return "", work.ErrWrong
		}
		return result.Text, err
	}
}
