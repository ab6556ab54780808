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

// subject makes one whole run and gives its last text. What a program makes once (tools, agents, graphs) is made before.
type subject struct {
	name string
	run  func() (string, error)
}

func subjects(t testing.TB) []subject {
	return []subject{
		{"floor", byHandInOnePass(t)},
		{"hand", byHandWithValidator(t)},
		{"ours", ours(t)},
		{"eino_react", einoReact(t)},
		{"eino_adk", einoADK(t)},
		{"langchaingo", langchain(t)},
		{"adk", googleADK(t)},
	}
}

func BenchmarkRun(b *testing.B) {
	for _, r := range subjects(b) {
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if text, err := r.run(); err != nil || text != work.Answer {
					b.Fatal(text, err)
				}
			}
		})
	}
}

func TestTheSameWork(t *testing.T) {
	for _, r := range subjects(t) {
		text, err := r.run()
		require.NoError(t, err, r.name)
		require.Equal(t, work.Answer, text, r.name)
	}
}

// scripted is what a model says in its turn, counted from 0: how many replies it has made is read from the conversation, so that
// one model serves all runs.
func scripted(turn int) (arguments string, answer string) {
	switch turn {
	case 0:
		return work.BadCall, ""
	case 1:
		return work.GoodCall, ""
	}
	return "", work.Answer
}

// ours keeps a session besides: attempts, feedback and what reducers would be told.
func ours(t testing.TB) func() (string, error) {
	tools, err := tool.NewSet(tool.New(work.Tool, work.Description, func(_ context.Context, b work.Booking) (work.Receipt, error) {
		return work.Book(b), nil
	}))
	require.NoError(t, err)
	cfg := loop.Config{Tools: tools}
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		arguments, answer := scripted((req.Messages.Len() - 1) / 2)
		if answer != "" {
			return message.Reply{Text: answer, Finish: message.Stop}, nil
		}
		return message.Reply{Calls: []message.Call{{ID: "c1", Name: work.Tool, Arguments: arguments}}, Finish: message.ToolUse}, nil
	})
	return func() (string, error) {
		s, err := session.New(session.Config{ID: "order-42"})
		if err != nil {
			return "", err
		}
		result, err := loop.Run(t.Context(), model, s, work.Prompt, cfg)
		if len(result.Attempts) < 3 {
			return "", work.ErrWrong
		}
		return result.Text, err
	}
}
