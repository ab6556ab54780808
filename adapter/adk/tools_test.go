package adk_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/platform"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	adksession "google.golang.org/adk/v2/session"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/retake-go/retake/adapter/adk"
	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// overloaded is the error of a service behind a tool.
var overloaded = &fault.ProviderError{Class: fault.Overloaded, RetryAfter: 3 * time.Second}

func TestWhatAToolSaysReachesTheModelAndTheSession(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		told   string
		class  fault.Class
		reason policy.Reason
	}{
		{
			"ask again", tool.AskAgain(fault.Issue{Pointer: "/nights", Rule: "minimum", Expected: "at least 3", Source: fault.FromTool}),
			"the tool book_room looked at your arguments and asks for others (attempt 1 of 3)", fault.ToolValidation, policy.ReasonImmediate,
		},
		{"failed for good", tool.Fail("The hotel has closed."), "The hotel has closed.", "", policy.ReasonFailedForGood},
		{"an error of its own", errors.New(`no "till", Authorization: Bearer secretsecretsecret`),
			`The call failed, and its effect may or may not have happened. The tool says: "booking: no \"till\"`, fault.ToolExecution, policy.ReasonNotRepeatable},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _, end := newAdapter(t, adk.Config{})
			m := newFake(calls(call("book_room", lisbon())), say("No room."))
			book := bookRoom(t, func(agent.Context, booking) (receipt, error) { return receipt{}, fmt.Errorf("booking: %w", c.err) })
			_, err := play(t.Context(), newRunner(t, a, m, book), agent.StreamingModeNone)
			require.NoError(t, err)
			shown := answers(m.requests()[1])[0].Response["error"]
			assert.Contains(t, shown, c.told)
			assert.NotContains(t, shown, "secret")
			require.NoError(t, end.errs[0])
			assert.Equal(t, c.class, end.results[0].Attempts[0].Class)
			assert.Equal(t, c.reason, end.results[0].Attempts[0].Reason)
		})
	}
}

// A tool that panics has no words for the model. The stack is for operators.
func TestAPanicOfAToolIsForOperators(t *testing.T) {
	var log strings.Builder
	a, _, end := newAdapter(t, adk.Config{Idempotent: []string{"book_room"}}, adk.WithObserver(observe.LogTo(slog.New(slog.NewTextHandler(&log, nil)))))
	m := newFake(calls(call("book_room", lisbon())), say("No room."))
	book := bookRoom(t, func(agent.Context, booking) (receipt, error) { panic("the till\nstack: burns") })
	_, err := play(t.Context(), newRunner(t, a, m, book), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"error": "The call failed, and its effect may or may not have happened."}, answers(m.requests()[1])[0].Response)
	assert.Contains(t, log.String(), `tool \"book_room\" panicked: the till stack: burns"`)
	assert.Contains(t, log.String(), `stack="goroutine `)
	assert.Equal(t, fault.ToolExecution, end.results[0].Attempts[0].Class)
}

// flaky fails twice for Lisbon and counts its calls.
func flaky(t *testing.T, tries map[string]int) adktool.Tool {
	var mu sync.Mutex
	return bookRoom(t, func(_ agent.Context, b booking) (receipt, error) {
		mu.Lock()
		defer mu.Unlock()
		if tries[b.City]++; b.City == "Lisbon" && tries[b.City] < 3 {
			return receipt{}, overloaded
		}
		return receipt{b.City}, nil
	})
}

func twoCalls() []turn {
	return []turn{calls(call("book_room", lisbon()), call("book_room", map[string]any{"city": "Porto", "nights": 1})), say("Booked.")}
}

func TestATransportFaultOfAToolIsRetried(t *testing.T) {
	tries := map[string]int{}
	set := policy.DefaultSet()
	set.Transport = exactly()
	a, clock, end := newAdapter(t, adk.Config{Policy: &set, Idempotent: []string{"book_room"}})
	m := newFake(twoCalls()...)
	_, err := play(t.Context(), newRunner(t, a, m, flaky(t, tries)), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"Lisbon": 3, "Porto": 1}, tries)
	assert.Equal(t, 6*time.Second, clock.Now().Sub(looptest.Epoch))
	assert.Equal(t, map[string]any{"booked": "Lisbon"}, answers(m.requests()[1])[0].Response)
	assert.Equal(t, 6*time.Second, end.results[0].Waited)
}

// Sequential calls cannot wait for each other, so the model reads such a fault at once.
func TestASequentialToolIsNotRetriedOnTheTransportPlane(t *testing.T) {
	oneByOne := func(ctx context.Context, tasks []func(context.Context)) {
		for _, task := range tasks {
			task(ctx)
		}
	}
	for _, mode := range []turns.OnExhausted{turns.StopRun, turns.TellModel} {
		tries := map[string]int{}
		a, _, end := newAdapter(t, adk.Config{OnExhausted: mode, Idempotent: []string{"book_room"}}, adk.WithSequential())
		m := newFake(twoCalls()...)
		ctx := platform.WithTaskRunner(t.Context(), oneByOne)
		_, err := play(ctx, newRunner(t, a, m, flaky(t, tries)), agent.StreamingModeNone)
		assert.Equal(t, map[string]int{"Lisbon": 1, "Porto": 1}, tries)
		require.NoError(t, err)
		assert.Equal(t, policy.ReasonNotRetryable, end.results[0].Attempts[0].Reason)
		assert.Equal(t, map[string]any{"error": `The call failed, and its effect may or may not have happened. The tool says: "overloaded"`}, answers(m.requests()[1])[0].Response)
		require.NoError(t, end.errs[0])
	}
}

var rooms = session.StateSlice[string]("rooms")

// oneRoom refuses the second room of a run.
func oneRoom(i adk.Invocation) (*session.Session, error) {
	return session.New(session.Config{ID: i.SessionID, Slices: []session.Declared{rooms}, Reducers: []session.Reducer{
		session.On(rooms, session.EventToolResult, "keep_room", func(v reducer.View[string], ev session.ToolResultEvent) (reducer.Change[string], error) {
			if v.Len() > 0 {
				return reducer.None[string](), errors.New("one room is enough")
			}
			return reducer.Append(string(ev.Result)), nil
		}),
	}})
}

func TestReducersSeeResultsInCallOrder(t *testing.T) {
	first := make(chan struct{})
	book := bookRoom(t, func(_ agent.Context, b booking) (receipt, error) {
		if b.City == "Lisbon" {
			<-first
		} else {
			close(first)
		}
		return receipt{b.City}, nil
	})
	a, _, end := newAdapter(t, adk.Config{}, adk.WithSessions(oneRoom))
	m := newFake(twoCalls()...)
	_, err := play(t.Context(), newRunner(t, a, m, book), agent.StreamingModeNone)
	require.NoError(t, err)
	require.NoError(t, end.errs[0])
	kept, _ := session.View(end.s[0].State(), rooms).Last()
	assert.JSONEq(t, `{"booked":"Lisbon"}`, kept)
	given := answers(m.requests()[1])
	assert.Equal(t, map[string]any{"booked": "Lisbon"}, given[0].Response)
	assert.Contains(t, given[1].Response["error"], "one room is enough")
	assert.Equal(t, 1, len(end.s[0].State().ReducerErrors()))
}

// confirmed sends a message that leads to a call which wants confirmation, and returns the user's yes.
func confirmed(t *testing.T, r *runner.Runner) *genai.Content {
	t.Helper()
	yes := confirmations(t, r)
	require.Len(t, yes.Parts, 1)
	return yes
}

// confirmations sends a message that leads to calls which want confirmation, and returns the user's yes to
// all.
func confirmations(t *testing.T, r *runner.Runner) *genai.Content {
	t.Helper()
	yes := &genai.Content{Role: genai.RoleUser}
	for ev, err := range r.Run(t.Context(), "user", "session", genai.NewContentFromText("Book.", genai.RoleUser), agent.RunConfig{}) {
		require.NoError(t, err)
		for _, p := range ev.LLMResponse.Content.Parts {
			if p.FunctionCall != nil && p.FunctionCall.Name == "adk_request_confirmation" {
				yes.Parts = append(yes.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
					ID: p.FunctionCall.ID, Name: "adk_request_confirmation", Response: map[string]any{"confirmed": true},
				}})
			}
		}
	}
	return yes
}

// A run that waits for a confirmation waits in the memory of its process. In another one the confirmed call
// runs once, unwatched, and the attempts before the restart do not count.
func TestAConfirmationAfterARestartBeginsANewRun(t *testing.T) {
	ran := 0
	book, err := functiontool.New(functiontool.Config{Name: "book_room", Description: "Book.", RequireConfirmation: true},
		func(_ agent.Context, b booking) (receipt, error) { ran++; return receipt{b.City}, nil })
	require.NoError(t, err)
	kept := adksession.InMemoryService()
	start := func(m model.LLM) (*runner.Runner, *ending) {
		a, _, end := newAdapter(t, adk.Config{})
		p, err := a.Plugin()
		require.NoError(t, err)
		r, err := runner.New(runner.Config{
			AppName: "trips", Agent: llmAgent(t, a.Model(m), book), SessionService: kept, AutoCreateSession: true,
			PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{p}},
		})
		require.NoError(t, err)
		return r, end
	}
	before, _ := start(newFake(calls(call("book_room", nil)), calls(call("book_room", lisbon()))))
	yes := confirmed(t, before)
	m := newFake(calls(call("book_room", nil)), say("Booked."))
	after, end := start(m)
	for _, err := range after.Run(t.Context(), "user", "session", yes, agent.RunConfig{}) {
		require.NoError(t, err)
	}
	assert.Equal(t, 1, ran)
	require.Len(t, end.results, 1)
	require.NoError(t, end.errs[0])
	attempts := end.results[0].Attempts
	assert.Equal(t, []string{"book_room", ""}, actions(attempts))
	assert.Equal(t, 1, attempts[0].Attempt, "the failed call before the restart is not counted")
}

func TestAToolThatWantsConfirmationIsLeftToADK(t *testing.T) {
	book, err := functiontool.New(functiontool.Config{Name: "book_room", Description: "Book.", RequireConfirmation: true},
		func(_ agent.Context, b booking) (receipt, error) { return receipt{b.City}, nil })
	require.NoError(t, err)
	a, _, end := newAdapter(t, adk.Config{})
	r := newRunner(t, a, newFake(calls(call("book_room", nil)), calls(call("book_room", lisbon())), say("Booked.")), book)
	yes := confirmed(t, r)
	assert.Empty(t, end.errs, "the run is open")
	text := ""
	for ev, err := range r.Run(t.Context(), "user", "session", yes, agent.RunConfig{}) {
		require.NoError(t, err)
		if c := ev.LLMResponse.Content; c != nil && c.Parts[0].Text != "" {
			text = c.Parts[0].Text
		}
	}
	assert.Equal(t, "Booked.", text)
	require.Len(t, end.errs, 1)
	require.NoError(t, end.errs[0])
	attempts := end.results[0].Attempts
	assert.Equal(t, []string{"book_room", "book_room", ""}, actions(attempts))
	assert.Equal(t, 2, attempts[1].Attempt, "the attempts are counted on")
	assert.True(t, attempts[1].Passed())
}

// A run that waits for a confirmation ends when the conversation goes on without it.
func TestAConfirmationThatNeverComesEndsItsRun(t *testing.T) {
	book, err := functiontool.New(functiontool.Config{Name: "book_room", Description: "Book.", RequireConfirmation: true},
		func(_ agent.Context, b booking) (receipt, error) { return receipt{b.City}, nil })
	require.NoError(t, err)
	a, _, end := newAdapter(t, adk.Config{})
	r := newRunner(t, a, newFake(calls(call("book_room", lisbon())), say("Never mind.")), book)
	_, err = play(t.Context(), r, agent.StreamingModeNone)
	require.NoError(t, err)
	text, err := play(t.Context(), r, agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, "Never mind.", text)
	require.Len(t, end.errs, 2)
	require.ErrorIs(t, end.errs[0], policy.ReasonCancelled)
	assert.Empty(t, end.results[0].InDoubt, "the tool did nothing yet")
	require.NoError(t, end.errs[1])
	for _, at := range end.results[0].Attempts {
		assert.NotEqual(t, policy.ReasonFailedForGood, at.Reason)
	}
}

// A call that runs when the run is cancelled is in doubt.
func TestACallThatRunsWhenTheRunIsCancelledIsInDoubt(t *testing.T) {
	began, over := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	book := bookRoom(t, func(_ agent.Context, b booking) (receipt, error) {
		if b.City == "Lisbon" {
			close(began)
			<-over
			return receipt{b.City}, nil
		}
		<-began
		cancel()
		return receipt{}, tool.Fail("No room.")
	})
	a, _, end := newAdapter(t, adk.Config{}, adk.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		if n.Kind == observe.Ended {
			close(over)
		}
	})))
	_, _ = play(ctx, newRunner(t, a, newFake(twoCalls()...), book), agent.StreamingModeNone)
	require.Len(t, end.errs, 1)
	require.ErrorIs(t, end.errs[0], policy.ReasonCancelled)
	require.Len(t, end.results[0].InDoubt, 2)
	assert.Equal(t, "book_room", end.results[0].InDoubt[0].Tool)
	assert.NotEmpty(t, end.results[0].InDoubt[0].Key)
}

// ADK keeps no result of an invocation that was cancelled while a tool ran. The next one tells the model that
// the call may have had an effect.
func TestAConversationGoesOnAfterACancelledCall(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	book := bookRoom(t, func(ctx agent.Context, b booking) (receipt, error) {
		cancel()
		return receipt{b.City}, nil
	})
	m := newFake(calls(call("book_room", lisbon()), call("book_room", lisbon())), say("It may be booked."), say("As I said."))
	r := newRunner(t, a, m, book)
	_, err := play(ctx, r, agent.StreamingModeNone)
	require.ErrorIs(t, err, context.Canceled)
	text, err := play(t.Context(), r, agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, "It may be booked.", text)
	said := m.requests()[1]
	require.Len(t, said, 4)
	given := answers(said[:3])
	require.Len(t, given, 2)
	lost := map[string]any{"error": "No result is known. The effect of this call may or may not have happened."}
	assert.Equal(t, lost, given[0].Response)
	assert.Equal(t, lost, given[1].Response)
	require.NoError(t, end.errs[1])

	text, err = play(t.Context(), r, agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, "As I said.", text)
	assert.Equal(t, given, answers(m.requests()[2][:3]))
}

// The callbacks of an agent see a tool's error, and may heal it.
func TestCallbacksOfTheAgentSeeAToolsError(t *testing.T) {
	for name, healed := range map[string]bool{"told": false, "healed": true} {
		t.Run(name, func(t *testing.T) {
			a, _, end := newAdapter(t, adk.Config{})
			var seen error
			m := newFake(calls(call("book_room", lisbon())), say("Done."))
			made, err := llmagent.New(llmagent.Config{
				Name: "traveller", Description: "Books.", Model: a.Model(m),
				Tools: []adktool.Tool{bookRoom(t, func(agent.Context, booking) (receipt, error) { return receipt{}, errors.New("no till") })},
				OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{func(_ agent.Context, _ adktool.Tool, _ map[string]any, err error) (map[string]any, error) {
					if seen = err; healed {
						return map[string]any{"booked": "by hand"}, nil
					}
					return nil, nil
				}},
			})
			require.NoError(t, err)
			p, err := a.Plugin()
			require.NoError(t, err)
			_, err = play(t.Context(), runnerOf(t, []*plugin.Plugin{p}, made), agent.StreamingModeNone)
			require.NoError(t, err)
			require.ErrorContains(t, seen, "no till")
			given := answers(m.requests()[1])[0].Response
			if healed {
				assert.Equal(t, map[string]any{"booked": "by hand"}, given)
			} else {
				assert.Equal(t, map[string]any{"error": `The call failed, and its effect may or may not have happened. The tool says: "no till"`}, given)
			}
			assert.Equal(t, healed, end.results[0].Attempts[0].Passed())
		})
	}
}

func TestAToolThatADKDoesNotShowToPluginsHoldsNobodyUp(t *testing.T) {
	made, err := functiontool.NewStreaming(functiontool.Config{Name: "read_aloud", Description: "Read aloud."},
		func(agent.Context, struct{}) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) { yield("Once upon a time", nil) }
		})
	require.NoError(t, err)
	tries := map[string]int{}
	a, _, end := newAdapter(t, adk.Config{Idempotent: []string{"book_room"}})
	m := newFake(calls(call("read_aloud", nil), call("book_room", lisbon())), say("Done."))
	_, err = play(t.Context(), newRunner(t, a, m, made, flaky(t, tries)), agent.StreamingModeNone)
	require.NoError(t, err)
	given := answers(m.requests()[1])
	assert.Equal(t, map[string]any{"result": "Once upon a time"}, given[0].Response)
	assert.Equal(t, map[string]any{"booked": "Lisbon"}, given[1].Response)
	require.NoError(t, end.errs[0])
}

// An agent that takes over continues the same run with its own tools.
func TestATransferGoesOnInTheSameRun(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	sub := newFake(calls(call("book_room", map[string]any{"city": "Lisbon"})), calls(call("book_room", lisbon())), say("Booked by the booker."))
	booker, err := llmagent.New(llmagent.Config{Name: "booker", Description: "Books.", Model: a.Model(sub), Tools: []adktool.Tool{bookRoom(t, nil)}})
	require.NoError(t, err)
	root := newFake(calls(call("transfer_to_agent", map[string]any{"agent_name": "booker"})))
	lead, err := llmagent.New(llmagent.Config{Name: "lead", Description: "Leads.", Model: a.Model(root), SubAgents: []agent.Agent{booker}})
	require.NoError(t, err)
	p, err := a.Plugin()
	require.NoError(t, err)
	text, err := play(t.Context(), runnerOf(t, []*plugin.Plugin{p}, lead), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, "Booked by the booker.", text)
	require.Len(t, end.results, 1)
	assert.Equal(t, []string{"transfer_to_agent", "book_room", "book_room", ""}, actions(end.results[0].Attempts))
}

// Parallel agents have a run for each branch.
func TestParallelAgentsHaveRunsOfTheirOwn(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	var subs []agent.Agent
	for _, name := range []string{"one", "two", "three"} {
		m := newFake(calls(call("book_room", nil)), calls(call("book_room", lisbon())), say("Booked by "+name))
		made, err := llmagent.New(llmagent.Config{Name: name, Description: "Books.", Model: a.Model(m), Tools: []adktool.Tool{bookRoom(t, nil)}})
		require.NoError(t, err)
		subs = append(subs, made)
	}
	all, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "all", SubAgents: subs}})
	require.NoError(t, err)
	p, err := a.Plugin()
	require.NoError(t, err)
	_, err = play(t.Context(), runnerOf(t, []*plugin.Plugin{p}, all), agent.StreamingModeNone)
	require.NoError(t, err)
	require.Len(t, end.results, 3)
	for n, r := range end.results {
		require.NoError(t, end.errs[n])
		assert.Equal(t, []string{"book_room", "book_room", ""}, actions(r.Attempts))
		assert.Contains(t, end.s[n].ID(), end.at[n].Branch)
	}
}

// Without the model's wrapper, calls are watched. What only another model call could correct is recorded.
func TestThePluginAlone(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	p, err := a.Plugin()
	require.NoError(t, err)
	m := newFake(calls(call("book_room", nil)), calls(call("book_room", lisbon())), turn{err: busy})
	_, err = play(t.Context(), runnerOf(t, []*plugin.Plugin{p}, llmAgent(t, m, bookRoom(t, nil))), agent.StreamingModeNone)
	assert.ErrorAs(t, err, new(genai.APIError))
	assert.Contains(t, answers(m.requests()[1])[0].Response["error"], "attempt 1 of 3")
	require.ErrorIs(t, end.errs[0], policy.ReasonCancelled)
	attempts := end.results[0].Attempts
	assert.Equal(t, []string{"book_room", "book_room", ""}, actions(attempts))
	assert.Equal(t, fault.Unavailable, attempts[2].Class)
}

func TestManyInvocationsShareAnAdapter(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			m := newFake(calls(call("book_room", lisbon()), call("book_room", nil), call("book_boat", nil)),
				calls(call("book_room", lisbon())), say(fmt.Sprint("Booked ", n)))
			text, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), modes[n%2])
			assert.NoError(t, err)
			assert.Equal(t, fmt.Sprint("Booked ", n), text)
		})
	}
	all.Wait()
	require.Len(t, end.results, 16)
	for n, r := range end.results {
		require.NoError(t, end.errs[n])
		assert.Equal(t, []string{"book_room", "book_boat", "book_room", ""}, actions(r.Attempts))
	}
}
