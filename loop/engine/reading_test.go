package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// A run that waits for people, as many may for days, does not keep what the check of its reply has decoded. A
// call that needs no person keeps it until it is made.
func TestARunThatAsksKeepsNoDecodedArguments(t *testing.T) {
	type payment struct {
		Cents int `json:"cents"`
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, payment) (string, error) { return "paid", nil },
		tool.NeedsApproval(func(p payment) bool { return p.Cents > 100 })))
	require.NoError(t, err)
	cfg, err := loop.Config{Tools: tools}.Machine()
	require.NoError(t, err)
	m, err := machine.Compile(&cfg)
	require.NoError(t, err)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for arguments, kept := range map[string]bool{`{"cents":1}`: true, `{"cents":500}`: false} {
		s, err := session.New(session.Config{ID: "order-42"})
		require.NoError(t, err)
		r, err := engine.New(engine.RunnerConfig{Session: s, Machine: m, Offer: engine.Offer{Tools: tools}})
		require.NoError(t, err)
		_, err = r.Start(now, message.Message{Role: message.User, Text: "Pay."})
		require.NoError(t, err)
		effects, err := r.Reply(now, message.Reply{Calls: []message.Call{{ID: "c1", Name: "pay", Arguments: arguments}}})
		require.NoError(t, err)
		if asked := effects[len(effects)-1]; !kept {
			require.Equal(t, machine.AskPerson, asked.Kind)
			effects, err = r.Respond(now, machine.Response{Question: asked.Asks[0].ID, Verdict: machine.Approve})
			require.NoError(t, err)
		}
		run := effects[len(effects)-1]
		require.Equal(t, machine.RunTools, run.Kind)
		assert.Equal(t, kept, r.Checked(run.Tools[0]) != nil, arguments)
		r.Close()
	}
}

// Servers that do not know a model's thoughts return them as its text.
func TestThoughtsAloneAreNoAnswer(t *testing.T) {
	for _, text := range []string{"<think>Let me see.</think>", "<think>Let me see.", "Let me see.</think>\n", "[THINK]Let me see.[/THINK]", "<think>a</think> <think>b</think>"} {
		read := engine.Read(message.Reply{Text: text, Thinking: "So."}, engine.Offer{}, "", engine.Settings(nil))
		assert.Empty(t, read.Message.Text, text)
		assert.Equal(t, "So.\n"+text, read.Message.Thinking)
		assert.Nil(t, read.Answer)
	}
	for _, text := range []string{"<think>Let me see.</think>In Lisbon.", "Write `<think>` first.", "3 < 4", "<b>Lisbon</b>", ""} {
		read := engine.Read(message.Reply{Text: text}, engine.Offer{}, "", engine.Settings(nil))
		assert.Equal(t, message.Reply{Text: text}, read.Message)
	}
}
