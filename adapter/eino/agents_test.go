package eino_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// ends has the ends of runs that began by themselves.
type ends struct {
	mu      sync.Mutex
	ids     []string
	results []loop.Result
	errs    []error
}

func (e *ends) note(s *session.Session, r loop.Result, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ids, e.results, e.errs = append(e.ids, s.ID()), append(e.results, r), append(e.errs, err)
}

// An agent that is a tool of another is corrected and recorded in a run of its own: with the same adapter, or
// with one of its own. Eino's own agent tool makes the tool.
func TestAnAgentAsAToolHasARunOfItsOwn(t *testing.T) {
	for name, apart := range map[string]bool{"one adapter": false, "two adapters": true} {
		t.Run(name, func(t *testing.T) {
			var end ends
			outer, err := eino.New(eino.Config{}, eino.WithEnd(end.note))
			require.NoError(t, err)
			inner := outer
			if apart {
				inner, err = eino.New(eino.Config{}, eino.WithEnd(end.note))
				require.NoError(t, err)
			}
			booked := newFake(calls(toolCall("c1", "book_room", `{"city":"Lisbon"}`)), calls(toolCall("c1", "book_room", goodArgs)), say("Booked inside."))
			helper := agentConfig(booked, bookRoom(t, nil))
			helper.Name, helper.Description = "helper", "Books rooms."
			require.NoError(t, inner.Agent(helper))
			agent, err := adk.NewChatModelAgent(t.Context(), helper)
			require.NoError(t, err)

			m := newFake(calls(toolCall("c1", "helper", `{"request":"Two nights in Lisbon."}`)), say("Done."))
			conf := agentConfig(m, adk.NewAgentTool(t.Context(), agent).(einotool.InvokableTool))
			require.NoError(t, outer.Agent(conf))
			ctx, run, err := outer.Start(t.Context(), newSession(t, "order-42"))
			require.NoError(t, err)
			text, err := play(ctx, t, conf, false)
			require.NoError(t, err)
			assert.Equal(t, "Done.", text)
			assert.Equal(t, "Booked inside.", last(m.requests()[1]).Content)
			assert.Contains(t, last(booked.requests()[1]).Content, "nights: required")

			result, err := run.End()
			require.NoError(t, err)
			assert.Equal(t, []string{"helper", ""}, actions(result.Attempts))
			require.Len(t, end.results, 1)
			require.NoError(t, end.errs[0])
			assert.Equal(t, []string{"book_room", "book_room", ""}, actions(end.results[0].Attempts))
			assert.Regexp(t, `^order-42/.+`, end.ids[0])
		})
	}
}

// The budgets of the agent within are its own, and its end is told to the agent around it.
func TestAnAgentAsAToolThatGivesUpIsAFailedTool(t *testing.T) {
	var end ends
	a, err := eino.New(eino.Config{}, eino.WithEnd(end.note))
	require.NoError(t, err)
	bad := calls(toolCall("c1", "book_room", `{"city":"Lisbon"}`))
	helper := agentConfig(newFake(bad, bad, bad, say("never")), bookRoom(t, nil))
	helper.Name, helper.Description = "helper", "Books rooms."
	require.NoError(t, a.Agent(helper))
	agent, err := adk.NewChatModelAgent(t.Context(), helper)
	require.NoError(t, err)
	m := newFake(calls(toolCall("c1", "helper", `{"request":"Two nights."}`)), say("It gave up."))
	conf := agentConfig(m, adk.NewAgentTool(t.Context(), agent).(einotool.InvokableTool))
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	text, err := play(ctx, t, conf, false)
	require.NoError(t, err)
	assert.Equal(t, "It gave up.", text)
	assert.Equal(t, "The call failed, and its effect may or may not have happened.", last(m.requests()[1]).Content)
	require.Len(t, end.errs, 1)
	exhaustedIn(t, end.errs[0])
	_, err = run.End()
	require.NoError(t, err)
}

// An interrupted call is not a failed one. It goes on in its run, with the attempts that are left, from
// another context.
func TestAnInterruptedRunKeepsItsBudgets(t *testing.T) {
	for name, goesOn := range map[string]bool{"resumed": true, "given up": false} {
		t.Run(name, func(t *testing.T) {
			a, _ := newAdapter(t, eino.Config{})
			ask := bookRoom(t, func(ctx context.Context, b booking) (receipt, error) {
				if was, _, _ := einotool.GetInterruptState[string](ctx); !was {
					return receipt{}, einotool.Interrupt(ctx, "are you sure?")
				}
				return receipt{b.City}, nil
			})
			look, err := utils.InferTool("look", "Look.", func(context.Context, struct{}) (receipt, error) { return receipt{}, errors.New("no light") })
			require.NoError(t, err)
			bad := calls(toolCall("c0", "book_room", "{}"))
			m := newFake(bad, calls(toolCall("c1", "book_room", goodArgs), toolCall("c2", "look", "{}")), say("Booked."))
			conf := agentConfig(m, ask, look)
			require.NoError(t, a.Agent(conf))
			ctx, cancel := context.WithCancel(t.Context())
			ctx, run, err := a.Start(ctx, nil)
			require.NoError(t, err)
			agent, err := adk.NewChatModelAgent(ctx, conf)
			require.NoError(t, err)
			runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, CheckPointStore: &store{}})
			require.NoError(t, drain(runner.Query(ctx, "Book.", adk.WithCheckPointID("1"))))
			cancel()
			if goesOn {
				events, err := runner.Resume(run.In(t.Context()), "1")
				require.NoError(t, err)
				require.NoError(t, drain(events))
			}
			result, err := run.End()
			var numbers []int
			for _, at := range result.Attempts {
				assert.NotEqual(t, policy.ReasonFailedForGood, at.Reason)
				numbers = append(numbers, at.Attempt)
			}
			if !goesOn {
				require.ErrorIs(t, err, policy.ReasonCancelled)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "Booked.", result.Text)
			assert.Equal(t, "The call failed, and its effect may or may not have happened.", last(m.requests()[2]).Content, "of the call beside it")
			assert.Equal(t, []string{"book_room", "look", "book_room", ""}, actions(result.Attempts))
			assert.Equal(t, []int{1, 1, 2, 1}, numbers)
		})
	}
}

func TestAnObserverIsToldOfARun(t *testing.T) {
	var log bytes.Buffer
	counts := &observe.Metrics{}
	to := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, _ := newAdapter(t, eino.Config{}, eino.WithObserver(observe.LogTo(to)), eino.WithObserver(counts))
	var within string
	book := bookRoom(t, func(ctx context.Context, b booking) (receipt, error) {
		l, err := loop.New(looptest.NewModel(looptest.Say("A room.")), loop.Config{}, loop.WithObserver(observe.LogTo(to)))
		if err != nil {
			return receipt{}, err
		}
		inner, err := l.Run(ctx, nil, loop.Input{Prompt: "A room?"})
		within = inner.Text
		return receipt{b.City}, err
	})
	conf := agentConfig(newFake(calls(toolCall("c1", "book_room", "{}")), turn{err: overloaded}, calls(toolCall("c2", "book_room", goodArgs)),
		say("Booked.")), book)
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), newSession(t, "order-42"))
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	require.NoError(t, err)
	_, err = run.End()
	require.NoError(t, err)
	assert.Equal(t, "A room.", within)
	var own []string
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "correlation_id=order-42") && strings.Contains(line, " ended\"") {
			own = append(own, strings.TrimSpace(line[strings.Index(line, "level="):]))
		}
	}
	log.Reset()
	require.Len(t, own, 4+1+4+1, "model calls, the tool, attempts, the run: %s", strings.Join(own, "\n"))
	assert.Contains(t, own[1], "model call ended", "the first attempt ended before it")
	assert.Contains(t, own[1], "error_type=tool_validation")
	assert.Contains(t, strings.Join(own, "\n"), `msg="tool ended" correlation_id=order-42 tool=book_room call_id=c2`)
	assert.Regexp(t, `level=INFO msg="run ended".* turns=3.* duration=[34]\.`, own[9])
	assert.Equal(t, int64(1), counts.Counts().CorrectionRetries)
	_, err = eino.New(eino.Config{}, eino.WithObserver(nil))
	require.ErrorContains(t, err, "WithObserver: the observer is nil")
}

// asking is a tracer that keeps the ends of model calls.
type asking []observe.WorkEnd

func (*asking) Observe(context.Context, observe.Notice) {}

func (l *asking) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	if w.Kind != observe.WorkModel {
		return ctx, nil
	}
	return ctx, func(e observe.WorkEnd) { *l = append(*l, e) }
}

// A tracer is told the class by which the run decides, and the provider's own word for the end of a reply.
func TestATracerIsToldOfModelCalls(t *testing.T) {
	var l asking
	gone := errors.New("gone")
	a, _ := newAdapter(t, eino.Config{}, eino.WithObserver(&l), eino.WithClassifier(func(error) fault.Failure {
		return fault.Failure{Class: fault.Overloaded}
	}))
	booked := say("Booked.")
	booked.msg.ResponseMeta = &schema.ResponseMeta{FinishReason: "end_turn"}
	conf := agentConfig(newFake(turn{err: gone}, booked), bookRoom(t, nil))
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	require.NoError(t, err)
	_, err = run.End()
	require.NoError(t, err)
	require.Len(t, l, 2)
	assert.Equal(t, fault.Overloaded, l[0].Class)
	assert.ErrorIs(t, l[0].Err, gone)
	assert.Equal(t, "end_turn", l[1].Source.Finish)
}

// meanwhile is a model that does something else before it is asked.
type meanwhile struct {
	*fakeModel
	do func()
}

func (m *meanwhile) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	m.do()
	return m.fakeModel.Generate(ctx, in, opts...)
}

func (m *meanwhile) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

// Agents that work at the same time may not share a run: that is said at once to the one that comes later,
// and no call gets another one's answer. With an adapter for each they work.
func TestAgentsThatWorkAtTheSameTime(t *testing.T) {
	for name, c := range map[string]struct{ apart, asked bool }{
		"a tool runs": {false, false}, "a model is asked": {false, true}, "a tool runs, two adapters": {true, false}, "a model is asked, two adapters": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := newAdapter(t, eino.Config{})
			ctx, run, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			other := a
			if c.apart {
				other, _ = newAdapter(t, eino.Config{})
				var second *eino.Run
				ctx, second, err = other.Start(ctx, nil)
				require.NoError(t, err)
				defer func() {
					_, err := second.End()
					require.NoError(t, err)
				}()
			}
			beside := agentConfig(newFake(calls(toolCall("c", "book_room", goodArgs)), say("Booked beside.")), bookRoom(t, nil))
			require.NoError(t, other.Agent(beside))
			var once sync.Once
			works := func() {
				once.Do(func() {
					text, err := play(ctx, t, beside, false)
					if c.apart {
						assert.NoError(t, err)
						assert.Equal(t, "Booked beside.", text)
						return
					}
					assert.ErrorContains(t, err, "retake: two agents work in one run at the same time, which would mix their calls; "+
						"give each an Adapter of its own, and pass Eino a context from the Start of each")
				})
			}
			m := &meanwhile{newFake(calls(toolCall("c", "book_room", goodArgs)), say("Booked.")), func() {}}
			book := func(_ context.Context, b booking) (receipt, error) {
				if !c.asked {
					works()
				}
				return receipt{b.City}, nil
			}
			if c.asked {
				m.do = works
			}
			conf := agentConfig(m, bookRoom(t, book))
			require.NoError(t, a.Agent(conf))
			text, err := play(ctx, t, conf, false)
			require.NoError(t, err)
			assert.Equal(t, "Booked.", text)
			assert.Equal(t, `{"booked":"Lisbon"}`, last(m.requests()[1]).Content)
			result, err := run.End()
			require.NoError(t, err)
			assert.Equal(t, []string{"book_room", ""}, actions(result.Attempts))
		})
	}
}
