package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
)

// cooler are the settings of an action with three attempts.
func cooler() []policy.Settings {
	return []policy.Settings{{}, {Temperature: new(0.0)}, {Temperature: new(0.5), Model: "big"}}
}

// settingsOf returns the settings of requests.
func settingsOf(requests ...loop.Request) (all []policy.Settings) {
	for _, r := range requests {
		all = append(all, policy.Settings{Temperature: r.Temperature, Model: r.Model})
	}
	return all
}

func TestAModelIsAskedByTheSettingsOfTheAttempt(t *testing.T) {
	var asked []loop.Request
	model := func(reply string) loop.Model {
		return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
			asked = append(asked, r)
			return message.Reply{Text: reply, Finish: message.Stop}, nil
		})
	}
	set := policy.DefaultSet()
	set.Answer.PerAttempt = cooler()
	output, err := schema.Compile([]byte(`{"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}`))
	require.NoError(t, err)
	cfg := loop.Config{Policy: &set, Output: output}
	big := loop.WithModels(map[string]loop.Model{"big": model(`{"total": 42}`)})
	result, err := fixture.Run(t.Context(), model("It is a lot."), newSession(t), loop.Input{Prompt: "Add it up."}, cfg, big)
	require.NoError(t, err)
	assert.JSONEq(t, `{"total": 42}`, string(result.Value))
	assert.Equal(t, cooler(), settingsOf(asked...))

	const missing = `policy: answer.attempts[2].model: there is no model "big"; `
	_, err = loop.New(model(""), cfg)
	assert.ErrorContains(t, err, missing+"the run has no models by name: WithModels gives")
	others := map[string]loop.Model{"small": model(""), "big": nil}
	_, err = loop.NewPool(loop.PoolConfig{Config: cfg, Model: model(""), Options: []loop.Option{loop.WithModels(others)}})
	assert.ErrorContains(t, err, missing+"use one of small: WithModels gives")
}

func TestATryIsToldItsSettings(t *testing.T) {
	for name, s := range map[string]bool{"in a session": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			a := loop.ToolCall("book_room")
			a.Policy.PerAttempt = cooler()
			var told []policy.Settings
			tries := loop.Attempts(t.Context(), nil, a)
			if s {
				tries = loop.Attempts(t.Context(), newSession(t), a)
			}
			for try := range tries.All() {
				told = append(told, try.Settings)
				try.End(nights("type"))
			}
			assert.Equal(t, cooler(), told)
		})
	}
}
