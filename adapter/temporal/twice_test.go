package temporal

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// declared is a set with the tool echo and this declaration.
func declared(t *testing.T, do func() (string, error), opts ...tool.Option) *tool.Set {
	t.Helper()
	set, err := tool.NewSet(tool.New("echo", "Says it.", func(context.Context, struct {
		Text string `json:"text"`
	}) (string, error) {
		return do()
	}, opts...))
	require.NoError(t, err)
	return set
}

// A call that lost its worker is repeated only if the tool is declared read-only or idempotent. Otherwise
// the model reads that it may have had an effect, and the run continues.
func TestACallThatLostItsWorkerIsNotMadeTwice(t *testing.T) {
	for name, tt := range map[string]struct {
		opts   []tool.Option
		begins int
		told   string
	}{
		"undeclared": {nil, 1, "may"},
		"read_only":  {[]tool.Option{tool.ReadOnly()}, 4, `done`},
		"idempotent": {[]tool.Option{tool.Idempotent()}, 4, `done`},
	} {
		t.Run(name, func(t *testing.T) {
			runs, begins := 0, 0
			var verdicts []machine.Verdict
			w := Worker{Model: one(), Deaths: 5, Tools: declared(t, func() (string, error) { runs++; return "done", nil }, tt.opts...)}
			w.hooks.step = func(ev machine.Event, _ []machine.Effect, _ machine.State) {
				if ev.Tool != nil {
					verdicts = append(verdicts, ev.Tool.Verdict)
				}
			}
			b := newBench(t, w, loop.Config{})
			b.OnActivity(b.agent.named("tool"), anything, anything).Return(func(ctx context.Context, in wire[toolCall]) (wire[toolResult], error) {
				if begins++; begins < 4 {
					return wire[toolResult]{}, sdk.NewHeartbeatTimeoutError()
				}
				return b.agent.callTool(ctx, in)
			})
			r, err := b.run()
			require.NoError(t, err)
			assert.Equal(t, "Done.", r.Text)
			assert.Equal(t, tt.begins, begins)
			assert.Contains(t, r.Transcript[2].Text, tt.told)
			assert.Equal(t, 1, query[Status](b, QueryStatus).MaybePaid)
			if tt.opts == nil {
				assert.Zero(t, runs)
				assert.Equal(t, []machine.Verdict{machine.Unknown}, verdicts)
			}
		})
	}
}

// A worker that is stopped ends the contexts of its calls, and may live for long enough to say so. That is no
// outcome of theirs: what may be repeated is, and the run continues.
func TestACallWhoseWorkerStopsIsAsOneThatLostIt(t *testing.T) {
	for name, tt := range map[string]struct {
		opts   []tool.Option
		begins int
		told   string
		doubts int
	}{
		"undeclared": {nil, 1, "The outcome of this call is not known", 1},
		"read_only":  {[]tool.Option{tool.ReadOnly()}, 2, `done`, 0},
		"idempotent": {[]tool.Option{tool.Idempotent()}, 2, `done`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			begins := 0
			living, stop := context.WithCancelCause(t.Context())
			set, err := tool.NewSet(tool.New("echo", "Says it.", func(ctx context.Context, _ struct {
				Text string `json:"text"`
			}) (string, error) {
				if begins++; begins == 1 {
					stop(errors.New("the worker stops"))
					<-ctx.Done()
					return "", ctx.Err()
				}
				return "done", nil
			}, tt.opts...))
			require.NoError(t, err)
			b := newBench(t, Worker{Model: one(), Deaths: 1, Tools: set}, loop.Config{})
			first := true
			b.OnActivity(b.agent.named("tool"), anything, anything).Return(func(ctx context.Context, in wire[toolCall]) (wire[toolResult], error) {
				if first { // the next worker lives
					first = false
					ended, end := context.WithCancelCause(ctx)
					defer context.AfterFunc(living, func() { end(context.Cause(living)) })()
					ctx = ended
				}
				return b.agent.callTool(ctx, in)
			})
			r, err := b.run()
			require.NoError(t, err)
			assert.Equal(t, "Done.", r.Text)
			assert.Equal(t, tt.begins, begins)
			assert.Contains(t, r.Transcript[2].Text, tt.told)
			assert.Len(t, r.InDoubt, tt.doubts)
			assert.Equal(t, 1, query[Status](b, QueryStatus).MaybePaid)
		})
	}
}

// What a later worker is told of a call is no word about the try that lost its worker, unless it succeeds.
func TestACallThatFailsAfterItLostItsWorkerIsInDoubt(t *testing.T) {
	for name, tt := range map[string]struct {
		declared tool.Option
		doubts   int
		told     string
	}{
		"idempotent": {tool.Idempotent(), 1, `The call failed, and its effect may or may not have happened. The tool says: "no such file"`},
		"read_only":  {tool.ReadOnly(), 0, `The tool failed: "no such file"`},
	} {
		t.Run(name, func(t *testing.T) {
			begins := 0
			fails := func() (string, error) { return "", tool.Fail("no such file") }
			b := newBench(t, Worker{Model: one(), Deaths: 1, Tools: declared(t, fails, tt.declared)}, loop.Config{})
			b.OnActivity(b.agent.named("tool"), anything, anything).Return(func(ctx context.Context, in wire[toolCall]) (wire[toolResult], error) {
				if begins++; begins == 1 {
					return wire[toolResult]{}, sdk.NewHeartbeatTimeoutError()
				}
				return b.agent.callTool(ctx, in)
			})
			r, err := b.run()
			require.NoError(t, err)
			assert.Equal(t, tt.told, r.Transcript[2].Text)
			assert.Len(t, r.InDoubt, tt.doubts)
		})
	}
}

// A call lives by the heartbeat of the worker that asked for it. One with a longer heartbeat, as after a
// deploy, may make it.
func TestACallBeatsAsOftenAsItWasAskedTo(t *testing.T) {
	beaten := make(chan bool, 1)
	other, err := newAgent(Worker{Heartbeat: time.Hour, Model: loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		select {
		case <-beaten:
			return message.Reply{Text: "Done."}, nil
		case <-time.After(10 * time.Second):
			return message.Reply{}, errors.New("the server takes the worker for dead")
		}
	})})
	require.NoError(t, err)
	b := newBench(t, Worker{Heartbeat: time.Second, Model: one()}, loop.Config{})
	b.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) {
		select {
		case beaten <- true:
		default:
		}
	})
	b.SetTestTimeout(time.Minute)
	b.OnActivity(b.agent.named("model"), anything, anything).Return(other.callModel)
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, "Done.", r.Text)
}

// A worker of the queue that does not know the agent, as before a deploy that adds it, has begun nothing.
func TestAWorkerWithoutTheAgentIsAsOneThatRefuses(t *testing.T) {
	for _, kind := range []string{"model", "tool"} {
		t.Run(kind, func(t *testing.T) {
			runs, begins := 0, 0
			set := declared(t, func() (string, error) { runs++; return "done", nil })
			b := newBench(t, Worker{Model: one(), Deaths: 2, Tools: set}, loop.Config{})
			lacks := func() error {
				if begins++; begins <= 2 {
					// as the SDK's own error, which has no name outside of it
					return sdk.NewApplicationError("unable to find activityType=retake."+kind, "ActivityNotRegisteredError")
				}
				return nil
			}
			b.OnActivity(b.agent.named(kind), anything, anything).Return(map[string]any{
				"model": func(ctx context.Context, in wire[modelCall]) (wire[modelResult], error) {
					if err := lacks(); err != nil {
						return wire[modelResult]{}, err
					}
					return b.agent.callModel(ctx, in)
				},
				"tool": func(ctx context.Context, in wire[toolCall]) (wire[toolResult], error) {
					if err := lacks(); err != nil {
						return wire[toolResult]{}, err
					}
					return b.agent.callTool(ctx, in)
				},
			}[kind])
			r, err := b.run()
			require.NoError(t, err)
			assert.Equal(t, "Done.", r.Text)
			assert.Equal(t, 1, runs)
			assert.Zero(t, query[Status](b, QueryStatus).MaybePaid, "nothing was begun")
		})
	}
	b := newBench(t, Worker{Model: one(), Deaths: 2}, loop.Config{})
	b.OnActivity(b.agent.named("model"), anything, anything).Return(func(context.Context, wire[modelCall]) (wire[modelResult], error) {
		return wire[modelResult]{}, sdk.NewApplicationError("unable to find activityType=retake.model", "ActivityNotRegisteredError")
	})
	_, err := b.run()
	require.ErrorContains(t, err, "a worker of the task queue does not have the agent retake: register it in all of them "+
		"(3 workers were asked)")
}

// A worker whose tool is no longer declared in this way does not repeat the call.
func TestADeclarationThatIsGoneIsNotTrusted(t *testing.T) {
	runs, begins := 0, 0
	b := newBench(t, Worker{Model: one(), Tools: declared(t, func() (string, error) { return "done", nil }, tool.Idempotent())}, loop.Config{})
	other, err := newAgent(Worker{Model: one(), Tools: declared(t, func() (string, error) { runs++; return "done", nil })})
	require.NoError(t, err)
	b.OnActivity(b.agent.named("tool"), anything, anything).Return(func(ctx context.Context, in wire[toolCall]) (wire[toolResult], error) {
		if begins++; begins == 1 {
			return wire[toolResult]{}, sdk.NewHeartbeatTimeoutError()
		}
		assert.EqualValues(t, 2, activity.GetInfo(ctx).Attempt)
		return other.callTool(ctx, in)
	})
	_, err = b.run()
	require.NoError(t, err)
	assert.Zero(t, runs)
	assert.Equal(t, 2, begins)
}

// A tool's typed request for another attempt is sent as data. The text of an error requests nothing.
func TestATryLaterCrosses(t *testing.T) {
	runs := 0
	b := newBench(t, Worker{Model: one(), Tools: declared(t, func() (string, error) {
		if runs++; runs < 3 {
			return "", tool.TryLater(errors.New("not yet"), 90*time.Second)
		}
		return "done", nil
	})}, loop.Config{})
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, 3, runs)
	assert.GreaterOrEqual(t, r.Waited, 180*time.Second)

	runs = 0
	b = newBench(t, Worker{Model: looptest.NewModel(call("c1", `{"text":"a"}`), looptest.Say("Done.")), Tools: declared(t, func() (string, error) {
		runs++
		return "", errors.New("payment accepted, but reading the receipt failed: connection reset by peer")
	})}, loop.Config{})
	_, err = b.run()
	require.NoError(t, err)
	assert.Equal(t, 1, runs)
}

// With one call at a time, none begins before the outcome of the previous one is recorded, because that may
// end the run.
func TestNoCallBeginsOnceTheRunHasEnded(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.OnReducerError = policy.ReducerStopsRun
	begins := 0
	b := newBench(t, Worker{
		Parallel: 1, Session: refusesSome(1), Tools: declared(t, func() (string, error) { return "done", nil }),
		Model: looptest.NewModel(looptest.Call(
			message.Call{ID: "c1", Name: "echo", Arguments: `{"text":"a"}`}, message.Call{ID: "c2", Name: "echo", Arguments: `{"text":"b"}`},
			message.Call{ID: "c3", Name: "echo", Arguments: `{"text":"c"}`},
		)),
	}, loop.Config{Policy: &set})
	b.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == b.agent.named("tool") {
			begins++
		}
	})
	_, err := b.run()
	require.ErrorIs(t, err, policy.ReasonReducerError)
	assert.Equal(t, 1, begins)
}

// An attempt of an action that lost its worker is not repeated. Its caller reads that it may have had an
// effect.
func TestATryThatLostItsWorkerIsNotMadeTwice(t *testing.T) {
	begins := 0
	b := newBench(t, Worker{Try: func(context.Context, Try) (message.Usage, error) { return message.Usage{}, nil }}, loop.Config{})
	m, err := loop.ToolCall("pay").Machine()
	require.NoError(t, err)
	b.order = order{Session: "order-42", Config: m}
	b.OnActivity(b.agent.named("try"), anything, anything).Return(func(context.Context, wire[tryCall]) (wire[tryResult], error) {
		begins++
		return wire[tryResult]{}, sdk.NewHeartbeatTimeoutError()
	})
	_, err = b.run()
	require.ErrorIs(t, err, policy.ReasonCancelled)
	require.ErrorContains(t, err, "a try was begun and has no outcome: its effect may have happened")
	assert.Equal(t, 1, begins)
}
