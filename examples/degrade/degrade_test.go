package degrade_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	example "github.com/retake-go/retake/examples/degrade"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

var errBroken = errors.New("broken: ECONNREFUSED 127.0.0.1:443")

func TestHistorySelectionFailsToNoContext(t *testing.T) {
	f := &degrade.Fallbacks{}
	failing := func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
		return "You remember much.", []message.Message{{Role: message.User, Text: "old"}}, errBroken
	}
	model := looptest.NewModel(looptest.Say("Hello."))
	l, err := loop.New(model, loop.Config{}, loop.WithPrompt(example.PromptOr(f, failing, "You book rooms.")))
	require.NoError(t, err)
	run, err := l.Run(t.Context(), nil, loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	assert.Equal(t, "You book rooms.", model.Requests()[0].System)
	assert.Len(t, model.Requests()[0].Messages, 1)
	r := agent.Envelope(run, err)
	r.Meta = r.Meta.Warn(f.Warnings()...)
	require.NoError(t, r.Validate())
	assert.True(t, r.IsSuccess())
	assert.Equal(t, []string{string(degrade.HistoryFailed)}, r.Warnings)
}

func TestSummaryGenerationFailsToTruncatedText(t *testing.T) {
	var debug []observe.DebugInfo
	f := &degrade.Fallbacks{Callbacks: &observe.Callbacks{OnDebug: func(_ string, d observe.DebugInfo) {
		debug = append(debug, d)
	}}}
	long := strings.Repeat("é", 100)
	broken := func(context.Context, string) (string, error) { return "", errBroken }
	assert.Equal(t, strings.Repeat("é", 8)+"…", example.Summarize(t.Context(), f, long, 20, broken))
	short := func(context.Context, string) (string, error) { return "short", nil }
	assert.Equal(t, "short", example.Summarize(t.Context(), f, long, 20, short))
	assert.Equal(t, []string{string(degrade.SummaryFailed)}, f.Warnings())
	require.Len(t, debug, 1)
	require.ErrorIs(t, debug[0].Err, errBroken)
}
