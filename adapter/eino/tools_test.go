package eino_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

const goodArgs = `{"city":"Lisbon","nights":2}`

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
		{"an error of its own", errors.New("secret"), "The call failed, and its effect may or may not have happened.", fault.ToolExecution, policy.ReasonNotRepeatable},
	} {
		t.Run(c.name, func(t *testing.T) {
			tries := 0
			book := bookRoom(t, func(context.Context, booking) (receipt, error) {
				tries++
				return receipt{}, fmt.Errorf("booking: %w", c.err)
			})
			script := []turn{calls(toolCall("c1", "book_room", goodArgs)), say("No room.")}
			_, err := play(t.Context(), t, agentConfig(newFake(script...), book), false)
			require.ErrorContains(t, err, "failed to invoke tool", "Eino alone")

			a, _ := newAdapter(t, eino.Config{})
			m := newFake(script...)
			conf := agentConfig(m, book)
			require.NoError(t, a.Agent(conf))
			ctx, run, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			text, err := play(ctx, t, conf, false)
			require.NoError(t, err)
			assert.Equal(t, "No room.", text)
			assert.Contains(t, last(m.requests()[1]).Content, c.told)
			assert.NotContains(t, last(m.requests()[1]).Content, "secret")
			result, err := run.End()
			require.NoError(t, err)
			assert.Equal(t, c.class, result.Attempts[0].Class)
			assert.Equal(t, c.reason, result.Attempts[0].Reason)
			assert.Equal(t, 2, tries)
		})
	}
}

func TestAToolThatPanicsFailsForGood(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	m := newFake(calls(toolCall("c1", "book_room", goodArgs)), say("No room."))
	conf := agentConfig(m, bookRoom(t, func(context.Context, booking) (receipt, error) { panic("boom") }))
	require.NoError(t, a.Agent(conf))
	ctx, _, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	require.NoError(t, err)
	assert.Equal(t, "The call failed, and its effect may or may not have happened.", last(m.requests()[1]).Content)
}

// A transport fault of a tool is retried with the same key after the wait. The other call of the reply runs
// once.
func TestATransportFaultOfAToolIsRetried(t *testing.T) {
	var mu sync.Mutex
	keys := map[string][]string{}
	book := bookRoom(t, func(ctx context.Context, b booking) (receipt, error) {
		mu.Lock()
		defer mu.Unlock()
		keys[b.City] = append(keys[b.City], tool.IdempotencyKey(ctx))
		if b.City == "Lisbon" && len(keys[b.City]) < 3 {
			return receipt{}, overloaded
		}
		return receipt{b.City}, nil
	})
	set := policy.DefaultSet()
	set.Transport = exactly()
	a, clock := newAdapter(t, eino.Config{Policy: &set, Idempotent: []string{"book_room"}})
	m := newFake(calls(toolCall("c1", "book_room", goodArgs), toolCall("c2", "book_room", `{"city":"Porto","nights":1}`)), say("Booked."))
	conf := agentConfig(m, book)
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	require.NoError(t, err)
	require.Len(t, keys["Lisbon"], 3)
	assert.NotEmpty(t, keys["Lisbon"][0])
	assert.Equal(t, keys["Lisbon"][0], keys["Lisbon"][2])
	assert.Len(t, keys["Porto"], 1)
	assert.Equal(t, 6*time.Second, clock.Now().Sub(looptest.Epoch))
	assert.JSONEq(t, `{"booked":"Lisbon"}`, m.requests()[1][2].Content)
	result, err := run.End()
	require.NoError(t, err)
	assert.Equal(t, 6*time.Second, result.Waited)
}

// Sequential calls cannot wait for each other, so the model reads such a fault at once.
func TestASequentialToolIsNotRetriedOnTheTransportPlane(t *testing.T) {
	for _, mode := range []turns.OnExhausted{turns.StopRun, turns.TellModel} {
		t.Run(string(mode), func(t *testing.T) {
			tries := 0
			book := bookRoom(t, func(_ context.Context, b booking) (receipt, error) {
				if tries++; b.City == "Lisbon" {
					return receipt{}, overloaded
				}
				return receipt{b.City}, nil
			})
			a, _ := newAdapter(t, eino.Config{OnExhausted: mode, Idempotent: []string{"book_room"}})
			m := newFake(calls(toolCall("c1", "book_room", goodArgs), toolCall("c2", "book_room", `{"city":"Porto","nights":1}`)), say("One."))
			conf := agentConfig(m, book)
			conf.ToolsConfig.ExecuteSequentially = true
			require.NoError(t, a.Agent(conf))
			ctx, run, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			_, err = play(ctx, t, conf, false)
			assert.Equal(t, 2, tries)
			require.NoError(t, err)
			assert.Equal(t, "The call failed, and its effect may or may not have happened.", m.requests()[1][2].Content)
			result, err := run.End()
			require.NoError(t, err)
			assert.Equal(t, policy.ReasonNotRetryable, result.Attempts[0].Reason)
		})
	}
}

func TestAnExhaustedToolMayBeToldToTheModel(t *testing.T) {
	bad := func(id string) turn { return calls(toolCall(id, "book_room", `{"city":"Lisbon"}`)) }
	a, _ := newAdapter(t, eino.Config{OnExhausted: turns.TellModel})
	m := newFake(bad("1"), bad("2"), bad("3"), say("I cannot book."))
	conf := agentConfig(m, bookRoom(t, nil))
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	text, err := play(ctx, t, conf, false)
	require.NoError(t, err)
	assert.Equal(t, "I cannot book.", text)
	assert.Contains(t, last(m.requests()[3]).Content, "No attempt is left. Do not call book_room again for this.")
	_, err = run.End()
	require.NoError(t, err)

	// The budgets still hold: 8 failed attempts in a run.
	var endless []turn
	for n := range 20 {
		endless = append(endless, bad(fmt.Sprint(n)))
	}
	m = newFake(endless...)
	conf = agentConfig(m, bookRoom(t, nil))
	require.NoError(t, a.Agent(conf))
	ctx, _, err = a.Start(t.Context(), nil)
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	assert.Equal(t, policy.ReasonToolBudget, exhaustedIn(t, err).Reason, "that of the tool is named first")
	assert.Len(t, m.requests(), 9)
}

var rooms = session.StateSlice[string]("rooms")

// fullSession refuses the second room of a run.
func fullSession(t *testing.T) *session.Session {
	t.Helper()
	s, err := session.New(session.Config{ID: "order-42", Slices: []session.Declared{rooms}, Reducers: []session.Reducer{
		session.On(rooms, session.EventToolResult, "keep_room", func(v reducer.View[string], ev session.ToolResultEvent) (reducer.Change[string], error) {
			if v.Len() > 0 {
				return reducer.None[string](), errors.New("one room is enough")
			}
			return reducer.Append(string(ev.Result)), nil
		}),
	}})
	require.NoError(t, err)
	return s
}

func TestReducersSeeResultsInCallOrder(t *testing.T) {
	first := make(chan struct{})
	book := bookRoom(t, func(_ context.Context, b booking) (receipt, error) {
		if b.City == "Lisbon" {
			<-first
		} else {
			close(first)
		}
		return receipt{b.City}, nil
	})
	a, _ := newAdapter(t, eino.Config{})
	s := fullSession(t)
	m := newFake(calls(toolCall("c1", "book_room", goodArgs), toolCall("c2", "book_room", `{"city":"Porto","nights":1}`)), say("One room."))
	conf := agentConfig(m, book)
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), s)
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	require.NoError(t, err)
	_, err = run.End()
	require.NoError(t, err)
	kept, _ := session.View(s.State(), rooms).Last()
	assert.JSONEq(t, `{"booked":"Lisbon"}`, kept)
	answers := m.requests()[1][2:]
	assert.JSONEq(t, `{"booked":"Lisbon"}`, answers[0].Content)
	assert.Contains(t, answers[1].Content, "one room is enough")
	assert.Equal(t, 1, len(s.State().ReducerErrors()))
}

func TestAToolThatInterruptsIsLeftToEino(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	ask := bookRoom(t, func(ctx context.Context, _ booking) (receipt, error) {
		return receipt{}, einotool.Interrupt(ctx, "are you sure?")
	})
	conf := agentConfig(newFake(calls(toolCall("c1", "book_room", goodArgs)), say("never")), ask)
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	require.NoError(t, err, "an interrupt is no error")
	result, err := run.End()
	require.ErrorIs(t, err, policy.ReasonCancelled)
	assert.Empty(t, result.InDoubt, "the tool did nothing yet")
}

// A call that runs when the run is cancelled is in doubt; one that had its result is not.
func TestACallThatRunsWhenTheRunIsCancelledIsInDoubt(t *testing.T) {
	began, over := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	book := bookRoom(t, func(_ context.Context, b booking) (receipt, error) {
		if b.City == "Lisbon" {
			close(began)
			<-over
			return receipt{b.City}, nil
		}
		<-began
		cancel()
		return receipt{}, tool.Fail("No room.")
	})
	a, _ := newAdapter(t, eino.Config{}, eino.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		if n.Kind == observe.Ended {
			close(over)
		}
	})))
	m := newFake(calls(toolCall("c1", "book_room", goodArgs), toolCall("c2", "book_room", `{"city":"Porto","nights":1}`),
		toolCall("c3", "book_room", `{}`)), say("never"))
	conf := agentConfig(m, book)
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(ctx, nil)
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	require.Error(t, err)
	result, err := run.End()
	require.ErrorIs(t, err, policy.ReasonCancelled)
	require.Len(t, result.InDoubt, 2)
	assert.Equal(t, []string{"c1", "c2"}, []string{result.InDoubt[0].CallID, result.InDoubt[1].CallID})
	assert.NotEmpty(t, result.InDoubt[0].Key)
	assert.Equal(t, result.InDoubt, exhaustedIn(t, err).InDoubt)
}

func TestStreamsAndEnhancedToolsAreWatchedToo(t *testing.T) {
	type made func(t *testing.T) einotool.BaseTool
	for name, make := range map[string]made{
		"streamable": func(t *testing.T) einotool.BaseTool {
			made, err := utils.InferStreamTool("book_room", "Book.", func(_ context.Context, b booking) (*schema.StreamReader[string], error) {
				if b.Nights > 5 {
					return nil, tool.AskAgain(fault.Issue{Pointer: "/nights", Rule: "maximum", Expected: "at most 5"})
				}
				return schema.StreamReaderFromArray([]string{"Booked ", b.City}), nil
			})
			require.NoError(t, err)
			return made
		},
		"enhanced": func(t *testing.T) einotool.BaseTool {
			made, err := utils.InferEnhancedTool("book_room", "Book.", func(_ context.Context, b booking) (*schema.ToolResult, error) {
				if b.Nights > 5 {
					return nil, tool.AskAgain(fault.Issue{Pointer: "/nights", Rule: "maximum", Expected: "at most 5"})
				}
				return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: "Booked " + b.City}}}, nil
			})
			require.NoError(t, err)
			return made
		},
		"enhanced streamable": func(t *testing.T) einotool.BaseTool {
			made, err := utils.InferEnhancedStreamTool("book_room", "Book.", func(_ context.Context, b booking) (*schema.StreamReader[*schema.ToolResult], error) {
				if b.Nights > 5 {
					return nil, tool.AskAgain(fault.Issue{Pointer: "/nights", Rule: "maximum", Expected: "at most 5"})
				}
				part := &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: "Booked " + b.City}}}
				return schema.StreamReaderFromArray([]*schema.ToolResult{part}), nil
			})
			require.NoError(t, err)
			return made
		},
	} {
		for _, way := range ways[:2] {
			t.Run(name+", "+way.name, func(t *testing.T) {
				a, _ := newAdapter(t, eino.Config{})
				m := newFake(calls(toolCall("1", "book_room", `{"city":5}`)), calls(toolCall("2", "book_room", `{"city":"Lisbon","nights":9}`)),
					calls(toolCall("3", "book_room", goodArgs)), say("Done."))
				ctx, run, err := a.Start(t.Context(), nil)
				require.NoError(t, err)
				text, err := way.play(ctx, t, a, m, make(t))
				require.NoError(t, err)
				assert.Equal(t, "Done.", text)
				assert.Contains(t, wholeText(last(m.requests()[1])), "city: expected string, got integer")
				assert.Contains(t, wholeText(last(m.requests()[2])), "nights: expected \"at most 5\"")
				assert.Contains(t, wholeText(last(m.requests()[3])), "Booked Lisbon")
				_, err = run.End()
				require.NoError(t, err)
			})
		}
	}
}

func wholeText(m *schema.Message) string {
	text := m.Content
	for _, p := range m.UserInputMultiContent {
		text += p.Text
	}
	return text
}

func TestManyRunsShareAnAdapter(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	probe := agentConfig(newFake(), bookRoom(t, nil))
	require.NoError(t, a.Agent(probe))
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			m := newFake(
				calls(toolCall("c1", "book_room", goodArgs), toolCall("c2", "book_room", `{}`), toolCall("c3", "book_boat", `{}`)),
				calls(toolCall("c4", "book_room", goodArgs)), say(fmt.Sprint("Booked ", n)))
			conf := agentConfig(m, bookRoom(t, nil))
			conf.ToolsConfig, conf.Handlers, conf.ModelRetryConfig = probe.ToolsConfig, probe.Handlers, probe.ModelRetryConfig
			ctx, run, err := a.Start(t.Context(), newSession(t, fmt.Sprint("order-", n)))
			assert.NoError(t, err)
			text, err := play(ctx, t, conf, n%2 == 0)
			assert.NoError(t, err)
			assert.Equal(t, fmt.Sprint("Booked ", n), text)
			result, err := run.End()
			assert.NoError(t, err)
			assert.Equal(t, []string{"book_room", "book_boat", "book_room", ""}, actions(result.Attempts))
		})
	}
	all.Wait()
}

// A tool knows as much of its call as a tool of loop.Run does.
func TestAToolKnowsItsCall(t *testing.T) {
	type known struct {
		session          string
		number, most, at int
		progress         int
		view             bool
	}
	var all []known
	book := bookRoom(t, func(ctx context.Context, b booking) (receipt, error) {
		k := known{session: tool.SessionID(ctx)}
		k.number, k.most, k.at = tool.Attempt(ctx)
		tool.LastProgress(ctx, &k.progress)
		_, k.view = loop.View(ctx)
		all = append(all, k)
		require.NoError(t, tool.Progress(ctx, len(all)*10))
		if len(all) == 1 {
			return receipt{}, tool.TryLater(nil, 0)
		}
		return receipt{b.City}, nil
	})
	a, _ := newAdapter(t, eino.Config{})
	m := newFake(calls(toolCall("c1", "book_room", `{}`)), calls(toolCall("c2", "book_room", goodArgs)), say("Booked."))
	conf := agentConfig(m, book)
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), newSession(t, "order-42"))
	require.NoError(t, err)
	_, err = play(ctx, t, conf, false)
	require.NoError(t, err)
	_, err = run.End()
	require.NoError(t, err)
	assert.Equal(t, []known{{"order-42", 2, 3, 1, 0, true}, {"order-42", 2, 3, 2, 10, true}}, all)
}

// Of equal calls of a reply one is run, and all have its result, whether Eino makes them at the same time or
// not.
func TestEqualCallsOfAReplyHaveOneResult(t *testing.T) {
	for name, sequential := range map[string]bool{"at the same time": false, "one by one": true} {
		t.Run(name, func(t *testing.T) {
			a, _ := newAdapter(t, eino.Config{})
			ran := 0
			m := newFake(calls(toolCall("c1", "book_room", goodArgs), toolCall("c2", "book_room", goodArgs)), say("Booked."))
			conf := agentConfig(m, bookRoom(t, func(_ context.Context, b booking) (receipt, error) {
				ran++
				return receipt{b.City}, nil
			}))
			conf.ToolsConfig.ExecuteSequentially = sequential
			require.NoError(t, a.Agent(conf))
			ctx, _, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			_, err = play(ctx, t, conf, false)
			require.NoError(t, err)
			assert.Equal(t, 1, ran)
			assert.Contains(t, last(m.requests()[1]).Content, `Not run: it equals another call of the same reply, which has the result: {"booked":"Lisbon"}`)
		})
	}
}
