package eino_test

import (
	"context"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

func TestAFaultyConfigIsRefusedWithAllItsFields(t *testing.T) {
	set := policy.DefaultSet()
	set.MaxTurns = 0
	_, err := eino.New(eino.Config{Policy: &set, OnExhausted: "shout", Feedback: "{{"})
	require.Error(t, err)
	for _, want := range []string{"on_exhausted: \"shout\"", "max_turns", "feedback"} {
		assert.ErrorContains(t, err, want)
	}
}

func TestAnOptionThatIsNilIsNamed(t *testing.T) {
	_, err := eino.New(eino.Config{}, eino.WithClock(nil), nil)
	require.EqualError(t, err, "retake: option 2 is nil; leave it out")
}

func TestWhatIsInTheWayIsRefused(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	conf := agentConfig(newFake(), bookRoom(t, nil))
	conf.ModelRetryConfig = &adk.ModelRetryConfig{MaxRetries: 3}
	conf.ToolsConfig.UnknownToolsHandler = func(context.Context, string, string) (string, error) { return "", nil }
	conf.ToolsConfig.ToolArgumentsHandler = func(context.Context, string, string) (string, error) { return "", nil }
	conf.ToolsConfig.ToolAliases = map[string]compose.ToolAliasConfig{"book_room": {NameAliases: []string{"book"}}}
	err := a.Agent(conf)
	for _, want := range []string{"ModelRetryConfig: must be nil", "UnknownToolsHandler: must be nil", "ToolArgumentsHandler: must be nil", "ToolAliases: must be empty"} {
		assert.ErrorContains(t, err, want)
	}
	assert.Empty(t, conf.Handlers, "nothing was changed")
}

func TestARunMustBeStarted(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	conf := agentConfig(newFake(say("never")), bookRoom(t, nil))
	require.NoError(t, a.Agent(conf))
	_, err := play(t.Context(), t, conf, false)
	require.ErrorIs(t, err, eino.ErrNoRun)
}

func TestASessionIsForOneRunAtATime(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	s := newSession(t, "order-42")
	_, run, err := a.Start(t.Context(), s)
	require.NoError(t, err)
	_, _, err = a.Start(t.Context(), s)
	require.ErrorIs(t, err, session.ErrBusy)
	_, err = run.End()
	require.NoError(t, err)
	_, run, err = a.Start(t.Context(), s)
	require.NoError(t, err)
	_, err = run.End()
	require.NoError(t, err)
}

func TestToolsWithoutTheModelAreAnError(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	conf := compose.ToolsNodeConfig{Tools: []einotool.BaseTool{bookRoom(t, nil)}}
	require.NoError(t, a.Tools(&conf))
	m := newFake(calls(toolCall("c1", "book_hotel", "{}")), say("never"))
	agent, err := react.NewAgent(t.Context(), &react.AgentConfig{ToolCallingModel: m, ToolsConfig: conf})
	require.NoError(t, err)
	ctx, _, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	_, err = agent.Generate(ctx, []*schema.Message{schema.UserMessage("Book.")})
	require.ErrorContains(t, err, "retake saw no reply")
}

// Each answer ends a run of the core. The next message begins another one in the same session.
func TestAConversationGoesOnInItsSession(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	s := newSession(t, "order-42")
	conf := agentConfig(newFake(calls(toolCall("c1", "book_room", "{}")), say("One."), calls(toolCall("c2", "book_room", "{}")), say("Two.")), bookRoom(t, nil))
	require.NoError(t, a.Agent(conf))
	for _, want := range []string{"One.", "Two."} {
		ctx, run, err := a.Start(t.Context(), s)
		require.NoError(t, err)
		text, err := play(ctx, t, conf, false)
		require.NoError(t, err)
		assert.Equal(t, want, text)
		result, err := run.End()
		require.NoError(t, err)
		require.Len(t, result.Attempts, 2)
		assert.Equal(t, 1, result.Attempts[0].Attempt)
	}
	assert.Equal(t, 4, s.State().AttemptCount())
	assert.Equal(t, 2, len(s.State().Feedback()))
}

// An agent within a tool has an adapter and a run of its own.
func TestAnAgentWithinATool(t *testing.T) {
	outer, _ := newAdapter(t, eino.Config{})
	inner, _ := newAdapter(t, eino.Config{})
	helper := agentConfig(newFake(calls(toolCall("c1", "book_room", "{}")), say("Booked inside.")), bookRoom(t, nil))
	require.NoError(t, inner.Agent(helper))
	delegate, err := utils.InferTool("delegate", "Let the helper do it.", func(ctx context.Context, _ struct{}) (string, error) {
		ctx, run, err := inner.Start(ctx, nil)
		if err != nil {
			return "", err
		}
		text, err := play(ctx, t, helper, false)
		if _, ended := run.End(); ended != nil {
			return "", ended
		}
		return text, err
	})
	require.NoError(t, err)
	m := newFake(calls(toolCall("c1", "delegate", "{}")), say("Done."))
	conf := agentConfig(m, delegate)
	require.NoError(t, outer.Agent(conf))
	ctx, run, err := outer.Start(t.Context(), nil)
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	require.NoError(t, err)
	assert.Equal(t, "Booked inside.", last(m.requests()[1]).Content)
	_, err = run.End()
	require.NoError(t, err)
}

// store keeps checkpoints in memory.
type store struct{ kept sync.Map }

func (s *store) Get(_ context.Context, id string) ([]byte, bool, error) {
	data, ok := s.kept.Load(id)
	if !ok {
		return nil, false, nil
	}
	return data.([]byte), true, nil
}

func (s *store) Set(_ context.Context, id string, data []byte) error {
	s.kept.Store(id, data)
	return nil
}

func TestAPausedCallIsMadeAgainWhenTheRunResumes(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		a, _ := newAdapter(t, eino.Config{})
		ask := bookRoom(t, func(ctx context.Context, b booking) (receipt, error) {
			if was, _, _ := einotool.GetInterruptState[string](ctx); !was {
				return receipt{}, einotool.Interrupt(ctx, "are you sure?")
			}
			return receipt{b.City}, nil
		})
		m := newFake(calls(toolCall("c1", "book_room", goodArgs)), say("Booked."))
		conf := agentConfig(m, ask)
		require.NoError(t, a.Agent(conf))
		ctx, run, err := a.Start(t.Context(), nil)
		require.NoError(t, err)
		agent, err := adk.NewChatModelAgent(ctx, conf)
		require.NoError(t, err)
		runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, CheckPointStore: &store{}})
		require.NoError(t, drain(runner.Query(ctx, "Book.", adk.WithCheckPointID("1"))))
		if fresh {
			_, err = run.End()
			require.ErrorIs(t, err, policy.ReasonCancelled)
			ctx, run, err = a.Start(t.Context(), nil)
			require.NoError(t, err)
		}
		events, err := runner.Resume(ctx, "1")
		require.NoError(t, err)
		require.NoError(t, drain(events))
		assert.JSONEq(t, `{"booked":"Lisbon"}`, last(m.requests()[1]).Content)
		result, err := run.End()
		require.NoError(t, err)
		assert.Equal(t, "Booked.", result.Text)
	}
}

func drain(events *adk.AsyncIterator[*adk.AgentEvent]) error {
	var failed error
	for {
		ev, ok := events.Next()
		if !ok {
			return failed
		}
		if ev.Err != nil {
			failed = ev.Err
		}
	}
}
