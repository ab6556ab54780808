package eino_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	retakeschema "github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
)

// overloaded is the error of an SDK when its provider is overloaded.
var overloaded = &fault.ProviderError{Class: fault.Overloaded, RetryAfter: 3 * time.Second}

// ways are the ways to run the same script: a ChatModelAgent with its hooks, and flow/agent/react with a
// wrapped model, each streamed or not.
var ways = []struct {
	name string
	play func(ctx context.Context, t *testing.T, a *eino.Adapter, m *fakeModel, tools ...tool.BaseTool) (string, error)
}{
	{"agent", func(ctx context.Context, t *testing.T, a *eino.Adapter, m *fakeModel, tools ...tool.BaseTool) (string, error) {
		conf := agentConfig(m, tools...)
		require.NoError(t, a.Agent(conf))
		return play(ctx, t, conf, false)
	}},
	{"streaming agent", func(ctx context.Context, t *testing.T, a *eino.Adapter, m *fakeModel, tools ...tool.BaseTool) (string, error) {
		conf := agentConfig(m, tools...)
		require.NoError(t, a.Agent(conf))
		return play(ctx, t, conf, true)
	}},
	{"react", func(ctx context.Context, t *testing.T, a *eino.Adapter, m *fakeModel, tools ...tool.BaseTool) (string, error) {
		msg, err := reactAgent(ctx, t, a, m, tools).Generate(ctx, []*schema.Message{schema.UserMessage("Two nights in Lisbon, please.")})
		if err != nil {
			return "", err
		}
		return msg.Content, nil
	}},
	{"streaming react", func(ctx context.Context, t *testing.T, a *eino.Adapter, m *fakeModel, tools ...tool.BaseTool) (string, error) {
		stream, err := reactAgent(ctx, t, a, m, tools).Stream(ctx, []*schema.Message{schema.UserMessage("Two nights in Lisbon, please.")})
		if err != nil {
			return "", err
		}
		msg, err := schema.ConcatMessageStream(stream)
		if err != nil {
			return "", err
		}
		return msg.Content, nil
	}},
}

func reactAgent(ctx context.Context, t *testing.T, a *eino.Adapter, m *fakeModel, tools []tool.BaseTool) *react.Agent {
	conf := compose.ToolsNodeConfig{Tools: tools}
	require.NoError(t, a.Tools(&conf))
	agent, err := react.NewAgent(ctx, &react.AgentConfig{ToolCallingModel: a.Model(m), ToolsConfig: conf})
	require.NoError(t, err)
	return agent
}

func TestReactAloneEndsWithAnError(t *testing.T) {
	for _, c := range rescued {
		t.Run(c.name, func(t *testing.T) {
			agent, err := react.NewAgent(t.Context(), &react.AgentConfig{
				ToolCallingModel: newFake(c.bad, say("never")), ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{bookRoom(t, nil)}},
			})
			require.NoError(t, err)
			_, err = agent.Generate(t.Context(), []*schema.Message{schema.UserMessage("Book.")})
			require.ErrorContains(t, err, c.alone)
		})
	}
}

// exactly is a transport layer without jitter, for tests of times.
func exactly() policy.Layer {
	p := policy.Transport()
	p.Backoff.Jitter = backoff.Jitter{Kind: backoff.NoJitter}
	return p.TransportLayer()
}

// Every way ends well, with the same feedback and times.
func TestEveryWayTakesTheSameDecisions(t *testing.T) {
	cut := say(`{"city":"Lis`)
	cut.msg.ResponseMeta.FinishReason = "length"
	broken := say("Half")
	broken.broken = overloaded
	output, err := retakeschema.Compile([]byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Global.RetryableErrors = append(policy.Correction().RetryableErrors, fault.Truncated)
	set.Transport = exactly()
	for _, c := range []struct {
		name    string
		script  []turn
		classes []fault.Class
		waited  time.Duration
		text    string
	}{
		{"bad calls", []turn{
			calls(toolCall("c1", "book_hotel", `{}`)), calls(toolCall("c2", "book_room", `{"city":"Lisbon","nights":"two"}`)),
			calls(toolCall("c3", "book_room", `{"city":"Lisbon","nights":2}`)), say(`{"city":"Lisbon"}`),
		}, []fault.Class{fault.UnknownTool, fault.ToolValidation, "", ""}, 0, `{"city":"Lisbon"}`},
		{
			"a provider that is overloaded", []turn{{err: overloaded}, say(`{"city":"Lisbon"}`)},
			[]fault.Class{fault.Overloaded, ""}, 3 * time.Second, `{"city":"Lisbon"}`,
		},
		{
			"a stream that breaks", []turn{broken, say(`{"city":"Lisbon"}`)},
			[]fault.Class{fault.Overloaded, ""}, 3 * time.Second, `{"city":"Lisbon"}`,
		},
		{"answers that cannot be used", []turn{
			say("Certainly!"), cut, say(`{"city":"Lisbon"}`),
		}, []fault.Class{fault.StructuredOutput, fault.Truncated, ""}, 0, `{"city":"Lisbon"}`},
	} {
		for _, way := range ways {
			t.Run(c.name+", "+way.name, func(t *testing.T) {
				a, clock := newAdapter(t, eino.Config{Policy: &set, Output: output})
				m := newFake(c.script...)
				ctx, run, err := a.Start(t.Context(), nil)
				require.NoError(t, err)
				text, err := way.play(ctx, t, a, m, bookRoom(t, nil))
				require.NoError(t, err)
				assert.Equal(t, c.text, text)
				assert.Equal(t, c.waited, clock.Now().Sub(looptest.Epoch))
				result, err := run.End()
				require.NoError(t, err)
				var classes []fault.Class
				for _, at := range result.Attempts {
					classes = append(classes, at.Class)
				}
				assert.Equal(t, c.classes, classes)
				assert.Equal(t, c.waited, result.Waited)
			})
		}
	}
}

func TestAnAnswerIsCorrectedInTheConversation(t *testing.T) {
	output, err := retakeschema.Compile([]byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))
	require.NoError(t, err)
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			a, _ := newAdapter(t, eino.Config{Output: output})
			m := newFake(say("Certainly!"), say("No."), say("Never."), say("not asked for"))
			ctx, run, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			_, err = way.play(ctx, t, a, m, bookRoom(t, nil))
			exhausted := exhaustedIn(t, err)
			assert.Equal(t, policy.ReasonAttemptsExhausted, exhausted.Reason)
			assert.Len(t, exhausted.Attempts, 3)

			second := m.requests()[1]
			require.Len(t, second, 3)
			assert.Equal(t, schema.Assistant, second[1].Role)
			assert.Equal(t, "Certainly!", second[1].Content)
			assert.Equal(t, schema.User, second[2].Role)
			assert.Contains(t, second[2].Content, "your answer is not the JSON value that was asked for (attempt 1 of 3)")
			assert.Len(t, m.requests()[2], 5)
			_, ended := run.End()
			assert.ErrorIs(t, ended, policy.ReasonAttemptsExhausted)
		})
	}
}

func TestTransportFaultsAreRetriedUnderThePolicyAndNoFurther(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			a, clock := newAdapter(t, eino.Config{})
			m := newFake(turn{err: overloaded}, turn{err: overloaded}, turn{err: overloaded}, turn{err: overloaded}, say("never"))
			ctx, run, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			_, err = way.play(ctx, t, a, m, bookRoom(t, nil))
			exhausted := exhaustedIn(t, err)
			assert.Equal(t, fault.Transport, exhausted.Plane)
			assert.ErrorIs(t, err, overloaded)
			assert.Len(t, m.requests(), exhausted.MaxAttempts)
			assert.GreaterOrEqual(t, clock.Now().Sub(looptest.Epoch), 9*time.Second)
			_, ended := run.End()
			require.Error(t, ended)
		})
	}
}

func TestAnErrorThatIsNotRetriedEndsTheRun(t *testing.T) {
	odd := errors.New("odd")
	a, _ := newAdapter(t, eino.Config{}, eino.WithClassifier(func(error) fault.Failure {
		return fault.Failure{Plane: fault.Transport, Class: fault.Auth}
	}))
	conf := agentConfig(newFake(turn{err: odd}), bookRoom(t, nil))
	require.NoError(t, a.Agent(conf))
	ctx, _, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	assert.Equal(t, policy.ReasonNotRetryable, exhaustedIn(t, err).Reason)
	assert.ErrorIs(t, err, odd)
}

// A wait of the correction plane is before the next model call.
func TestAWaitOfTheCorrectionPlaneIsMadeByTheClock(t *testing.T) {
	slow := policy.DefaultSet()
	delay := policy.Correction()
	delay.Backoff = backoff.Constant(2 * time.Second)
	slow.Global = delay.Layer()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			a, clock := newAdapter(t, eino.Config{Policy: &slow})
			m := newFake(calls(toolCall("c1", "book_room", `{}`)), say("Enough."))
			ctx, _, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			_, err = way.play(ctx, t, a, m, bookRoom(t, nil))
			require.NoError(t, err)
			assert.Equal(t, 2*time.Second, clock.Now().Sub(looptest.Epoch))
		})
	}
}

func TestACancelledContextEndsTheRun(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	s := newSession(t, "order-42")
	ctx, cancel := context.WithCancel(t.Context())
	ctx, run, err := a.Start(ctx, s)
	require.NoError(t, err)
	stop := bookRoom(t, func(context.Context, booking) (receipt, error) {
		cancel()
		return receipt{}, ctx.Err()
	})
	conf := agentConfig(newFake(calls(toolCall("c1", "book_room", `{"city":"Lisbon","nights":2}`)), say("never")), stop)
	require.NoError(t, a.Agent(conf))
	_, err = play(ctx, t, conf, false)
	require.Error(t, err)
	_, err = run.End()
	require.ErrorIs(t, err, policy.ReasonCancelled)
	require.NoError(t, session.DriverOf(s).Acquire(), "the session is free again")
}
