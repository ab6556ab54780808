package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

var heardOf = session.LogSlice[string]("heard")

// hearing is a session whose slice has the notices of its reducers in order. refuse is the error of each.
func hearing(t testing.TB, refuse func(event string) error, events ...string) *session.Session {
	cfg := session.Config{ID: "s", Slices: []session.Declared{heardOf}}
	for _, name := range events {
		cfg.Reducers = append(cfg.Reducers, session.On(heardOf, name, "of_"+name,
			func(_ reducer.View[string], e struct {
				Action   string    `json:"action"`
				Class    string    `json:"class"`
				Reason   string    `json:"reason"`
				Text     string    `json:"text"`
				Tool     string    `json:"tool"`
				Feedback *struct{} `json:"feedback"`
			}) (reducer.Change[string], error) {
				if refuse != nil && refuse(name) != nil {
					return reducer.Change[string]{}, refuse(name)
				}
				text := name
				for _, more := range []string{e.Action, e.Tool, e.Class, e.Reason, e.Text} {
					if more != "" {
						text += " " + more
					}
				}
				if e.Feedback != nil {
					text += " with feedback"
				}
				return reducer.Append(text), nil
			}))
	}
	s, err := session.New(cfg)
	require.NoError(t, err)
	return s
}

func heard(t testing.TB, s *session.Session) []string {
	raw, ok := s.State().Values("heard")
	require.True(t, ok)
	all := []string{}
	for _, one := range raw {
		var text string
		require.NoError(t, json.Unmarshal(one, &text))
		all = append(all, text)
	}
	return all
}

// Reducers get everything that happens in a run. They get a failure before the next prompt is made.
func TestReducersHearEverything(t *testing.T) {
	s := hearing(t, nil, session.Notices()...)
	tools, err := tool.NewSet(
		tool.New("book_room", "Book.", booked),
		tool.New("pay", "Pay.", func(context.Context, struct{}) (int, error) { return 0, tool.Fail("the card was refused") }),
	)
	require.NoError(t, err)
	var prompts [][]string
	model := looptest.NewModel(
		looptest.Call(call("book_room", `{"city": 7}`)), looptest.Call(call("pay", `{}`)), looptest.Say("Done."),
	)
	_, err = fixture.Run(t.Context(), loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		prompts = append(prompts, heard(t, s))
		return model.Reply(ctx, req)
	}), s, loop.Input{Prompt: "Book."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	first := []string{"replied", "attempt_failed book_room tool_validation immediate with feedback"}
	second := append(first[:2:2], "replied", "tool_failed pay tool_execution")
	assert.Equal(t, [][]string{{}, first, second}, prompts)
	assert.Equal(t, append(second[:4:4], "replied Done.", "run_ended accepted Done."), heard(t, s))
}

// Reducers get exhaustion and cancellation, and cannot change the outcome.
func TestReducersHearOfTheEnd(t *testing.T) {
	s := hearing(t, nil, session.EventExhausted, session.EventRunEnded)
	bad := looptest.Call(call("book_room", `{}`))
	_, err := fixture.Run(t.Context(), looptest.NewModel(bad, bad, bad), s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()))
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	assert.Equal(t, []string{"exhausted book_room tool_validation attempts_exhausted", "run_ended attempts_exhausted"}, heard(t, s))

	s = hearing(t, nil, session.EventRunEnded)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = fixture.Run(ctx, loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		cancel()
		return message.Reply{}, ctx.Err()
	}), s, loop.Input{Prompt: "Book."}, loop.Config{})
	require.ErrorIs(t, err, policy.ReasonCancelled)
	assert.Equal(t, []string{"run_ended cancelled"}, heard(t, s))
}

// A reducer's error about a notice is recorded and reported. It ends the run only if the policy says so.
func TestAReducerThatRefusesANotice(t *testing.T) {
	errNo := errors.New("no")
	for name, stops := range map[string]bool{"by default": false, "on_reducer_error: stop": true} {
		t.Run(name, func(t *testing.T) {
			s := hearing(t, func(string) error { return errNo }, session.EventAttemptFailed, session.EventRunEnded)
			var told []string
			s.OnReducerError(func(e fault.ReducerError) { told = append(told, e.Reducer) })
			cfg := loop.Config{Tools: bookRoom(t, booked)}
			if stops {
				set := policy.DefaultSet()
				set.Global.OnReducerError = policy.ReducerStopsRun
				cfg.Policy = &set
			}
			model := looptest.NewModel(looptest.Call(call("book_room", `{}`)), looptest.Say("Done."))
			_, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, cfg, loop.WithClock(looptest.NewClock()))
			if stops {
				require.ErrorIs(t, err, policy.ReasonReducerError)
				require.ErrorIs(t, err, errNo)
				assert.Equal(t, []string{"of_attempt_failed", "of_attempt_failed", "of_run_ended"}, told)
			} else {
				require.NoError(t, err)
				assert.Equal(t, []string{"of_attempt_failed", "of_run_ended"}, told)
			}
			assert.Equal(t, len(told), len(s.State().ReducerErrors()))
			assert.Empty(t, heard(t, s))
		})
	}
}

// Reducers get the same notices for attempts of an action as for a run, and handle what the program
// dispatches.
func TestTriesTellTheReducersToo(t *testing.T) {
	s := hearing(t, nil, append(session.Notices(), session.EventToolResult, "mine")...)
	n := 0
	got, err := loop.Do(t.Context(), s, loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) {
		if n++; n == 1 {
			return 0, &fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Rule: "type", Expected: "a number"}}}
		}
		return 7, s.Dispatch(session.Event{Name: "mine", Payload: json.RawMessage(`{"text": "paid"}`)})
	}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	assert.Equal(t, 7, got)
	assert.Equal(t, []string{
		"attempt_failed pay tool_validation immediate with feedback", "mine paid", "tool_result pay", "run_ended accepted",
	}, heard(t, s))
	require.NoError(t, s.Dispatch(session.Event{Name: "mine"}), "it is free again")
}

// A reducer that refuses the outcome of an attempt ends the action with its error.
func TestAReducerRefusesATry(t *testing.T) {
	errNo := errors.New("no")
	s := hearing(t, func(string) error { return errNo }, session.EventToolResult)
	var told []string
	s.OnReducerError(func(e fault.ReducerError) { told = append(told, e.Reducer) })
	_, err := loop.Do(t.Context(), s, loop.ToolCall("pay"), func(context.Context, loop.Attempt) (string, error) { return "x", nil })
	require.ErrorIs(t, err, policy.ReasonReducerError)
	require.ErrorIs(t, err, errNo)
	var refused *fault.ReducerError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, []string{"of_tool_result"}, told)
	assert.Equal(t, 1, len(s.State().ReducerErrors()))
}

// A run that was left before its reducers ran continues with their results.
func TestARunThatWasCutIsHeardOfAfterwards(t *testing.T) {
	store := &looptest.Store{}
	run := func(s *session.Session, script ...looptest.Turn) error {
		j, err := journal.Open(t.Context(), store, "s", journal.Settings{})
		require.NoError(t, err)
		defer j.Close()
		_, err = fixture.Run(t.Context(), looptest.NewModel(script...), fixture.In(s, j), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()))
		return err
	}
	s := hearing(t, nil, session.Notices()...)
	require.NoError(t, run(s, looptest.Call(call("book_room", `{}`)), looptest.Say("Done.")))
	whole, lines := heard(t, s), bytes.SplitAfter(store.Text("s"), []byte("\n"))
	for n := 3; n < len(lines); n++ {
		cut := &looptest.Store{}
		log, err := cut.Open(t.Context(), "s")
		require.NoError(t, err)
		require.NoError(t, log.Append(t.Context(), 0, bytes.Join(lines[:n], nil), false))
		require.NoError(t, log.Close())
		j, err := journal.Open(t.Context(), cut, "s", journal.Settings{})
		require.NoError(t, err)
		past, err := j.Past()
		require.NoError(t, err)
		script := []looptest.Turn{looptest.Call(call("book_room", `{}`)), looptest.Say("Done.")}[min(past.State.TranscriptLen()/3, 1):]
		again := hearing(t, nil, session.Notices()...)
		_, err = fixture.Resume(t.Context(), looptest.NewModel(script...), fixture.In(again, j), loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()))
		require.NoError(t, j.Close())
		require.NoError(t, err, "cut after line %d", n)
		assert.Equal(t, whole, heard(t, again), "cut after line %d", n)
	}
}

// Other goroutines may dispatch during an attempt, and wait for one another. The hook of a reducer error,
// which is called during a dispatch, cannot.
func TestEventsOfATryFromOtherGoroutines(t *testing.T) {
	errNo := errors.New("no")
	s := hearing(t, func(event string) error {
		if event == "bad" {
			return errNo
		}
		return nil
	}, "good", "bad")
	var again []error
	s.OnReducerError(func(fault.ReducerError) { again = append(again, s.Dispatch(session.Event{Name: "good"})) })
	const tries, each = 2, 8
	_, err := loop.Do(t.Context(), s, loop.FinalAnswer(), func(_ context.Context, a loop.Attempt) (string, error) {
		var all sync.WaitGroup
		for range each {
			all.Go(func() { assert.NoError(t, s.Dispatch(session.Event{Name: "good"})) })
		}
		all.Wait()
		if a.Number == 1 {
			return "", &fault.StructuredOutputError{Issues: []fault.Issue{{Rule: "enum", Expected: "Lisbon"}}}
		}
		require.ErrorIs(t, s.Dispatch(session.Event{Name: "bad"}), errNo)
		return "Lisbon", nil
	}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	assert.Equal(t, []error{session.ErrReentrant}, again)
	assert.Len(t, heard(t, s), tries*each)
}

// In a redacted journal no line has what the reducers got, nor has the state with which a later run begins.
func TestWhatReducersHeardIsLeftOutOfRedactedJournals(t *testing.T) {
	for name, rules := range map[string]journal.Redaction{
		"replies": {Replies: true}, "answer": {Answer: []string{""}}, "slice": {Slices: []string{"heard"}, Replies: true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := session.Config{ID: "s", Slices: []session.Declared{heardOf}}
			for _, event := range []string{session.EventReplied, session.EventStructuredOutput, session.EventRunEnded} {
				cfg.Reducers = append(cfg.Reducers, session.On(heardOf, event, "of_"+event,
					func(_ reducer.View[string], said json.RawMessage) (reducer.Change[string], error) {
						return reducer.Append(event + string(said)), nil
					}))
			}
			s, err := session.New(cfg)
			require.NoError(t, err)
			store := &looptest.Store{}
			run := func(s *session.Session, prompt string, model loop.Model) {
				j, err := journal.Open(t.Context(), store, "s", journal.Settings{Redact: &rules})
				require.NoError(t, err)
				defer j.Close()
				_, err = fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: prompt, NewConversation: true}, loop.Config{})
				require.NoError(t, err)
				assert.NotContains(t, string(store.Text("s")), "S3CR3T")
				_, err = journal.Replay(bytes.NewReader(store.Text("s")), nil)
				require.NoError(t, err)
			}
			run(s, "Where?", looptest.NewModel(looptest.Say("S3CR3T")))
			require.Len(t, heard(t, s), 3)
			require.Contains(t, heard(t, s), `structured_output"S3CR3T"`)
			store = &looptest.Store{}
			run(s, "And?", looptest.NewModel(looptest.Say("done")))
		})
	}
}
