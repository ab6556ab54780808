package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

const (
	noRoom = "no room left: api_key=sk-0123456789abcdef"
	scrub  = "no room left: api_key=[key left out]"
)

// guarded returns a session with a slice whose reducer refuses each event "order".
func guarded(t *testing.T, refuse func() error) *session.Session {
	stock := session.StateSlice[int]("stock")
	s, err := session.New(session.Config{
		Slices: []session.Declared{stock},
		Reducers: []session.Reducer{session.On(stock, "order", "stock", func(reducer.View[int], any) (reducer.Change[int], error) {
			return reducer.None[int](), refuse()
		})},
	})
	require.NoError(t, err)
	return s
}

// An event that a try dispatched and the state refused ends the try as in Run: with the reducer's words.
func TestARefusedEventOfATryKeepsTheReducersWords(t *testing.T) {
	refuse := func() error { return errors.New(noRoom) }
	for name, c := range map[string]struct {
		set    func(*loop.Action)
		tries  int
		reason policy.Reason
	}{
		"as_it_is": {func(*loop.Action) {}, 1, policy.ReasonReducerError},
		"retried": {func(a *loop.Action) {
			a.Policy.RetryableErrors = append(a.Policy.RetryableErrors, fault.Reducer)
		}, 3, policy.ReasonAttemptsExhausted},
	} {
		for _, recorded := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s := guarded(t, refuse)
				if recorded {
					j, err := journal.Open(t.Context(), journal.Dir(t.TempDir()), "order-42", journal.Settings{})
					require.NoError(t, err)
					defer j.Close()
					s = fixture.In(s, j)
				}
				a, told := loop.ToolCall("order"), []feedback.RetryFeedback(nil)
				c.set(a)
				a.ID = "one"
				_, err := loop.Do(t.Context(), s, a, func(_ context.Context, at loop.Attempt) (int, error) {
					told = append(told, at.Feedback())
					return 0, s.Dispatch(session.Event{Name: "order", Payload: []byte(`{}`)})
				})
				require.ErrorIs(t, err, c.reason)
				require.Len(t, told, c.tries)
				for _, f := range told[1:] {
					assert.Equal(t, scrub, f.Detail)
				}
				var e *loop.RetryExhaustedError
				require.ErrorAs(t, err, &e)
				assert.Equal(t, fault.Reducer, e.Failure.Class)
				assert.Equal(t, `reducer "stock": `+scrub, e.Failure.Message)
				assert.Contains(t, err.Error(), scrub)
				require.NotNil(t, e.Feedback)
				assert.Equal(t, scrub, e.Feedback.Detail)
				assert.Contains(t, e.Feedback.Message, scrub)
				var by *fault.ReducerError
				require.ErrorAs(t, err, &by)
				assert.Equal(t, "stock", by.Reducer)
				assert.Len(t, s.State().ReducerErrors(), c.tries, "each is in the slice once")
				assert.Len(t, s.State().Feedback(), c.tries)
				assert.Equal(t, e.Reason, s.State().Attempts()[c.tries-1].Reason)
			})
		}
	}
}

// The same without a session, and for an error that was made by hand.
func TestARefusalWithoutASessionIsDecidedAlike(t *testing.T) {
	refused := &fault.ReducerError{Reducer: "stock", Message: noRoom}
	for _, retried := range []bool{false, true} {
		var ends [2]*loop.RetryExhaustedError
		for n, s := range []*session.Session{nil, newSession(t)} {
			a := loop.ToolCall("order")
			if retried {
				a.Policy.RetryableErrors = append(a.Policy.RetryableErrors, fault.Reducer)
			}
			_, err := loop.Do(t.Context(), s, a, func(_ context.Context, at loop.Attempt) (int, error) {
				if at.Number > 1 {
					assert.Equal(t, scrub, at.Feedback().Detail)
				}
				return 0, refused
			})
			require.ErrorAs(t, err, &ends[n])
		}
		assert.Equal(t, ends[1].Reason, ends[0].Reason)
		assert.Equal(t, ends[1].Failure, ends[0].Failure)
		assert.Equal(t, ends[1].Feedback.Message, ends[0].Feedback.Message)
		assert.Equal(t, ends[1].Error(), ends[0].Error())
	}
}

// Nothing that a reducer says is shown with a key in it, and a panic is not shown in its words.
func TestTheWordsOfReducersAreScrubbed(t *testing.T) {
	for name, c := range map[string]struct {
		refuse func() error
		told   string
		kept   string
	}{
		"error": {func() error { return errors.New(noRoom) }, scrub, scrub},
		"panic": {func() error { panic(noRoom) }, "the program failed while it updated its state", "panic: " + scrub},
	} {
		t.Run(name, func(t *testing.T) {
			s := guarded(t, c.refuse)
			order, err := tool.NewSet(tool.New("order", "Orders.", func(ctx context.Context, _ struct{}) (string, error) {
				return "ordered", tool.Emit(ctx, "order", struct{}{})
			}))
			require.NoError(t, err)
			model := looptest.NewModel(looptest.Call(call("order", `{}`)), looptest.Say("No."))
			_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Order."}, loop.Config{Tools: order, System: `{{range values "reducer_errors"}}{{.}}{{end}}`})
			require.NoError(t, err)
			shown := model.Requests()[1]
			assert.Contains(t, shown.Last().Text, c.told)
			whole := shown.System
			for _, m := range shown.Messages {
				whole += m.Text
			}
			assert.NotContains(t, whole, "sk-0123")
			if name == "panic" {
				assert.NotContains(t, shown.Last().Text, "no room")
			}
			require.Len(t, s.State().ReducerErrors(), 1)
			assert.Equal(t, c.kept, s.State().ReducerErrors()[0].Message)
			snapshot, err := s.State().Snapshot()
			require.NoError(t, err)
			assert.False(t, strings.Contains(string(snapshot), "sk-0123"), "nor in a snapshot")
		})
	}
}

// A key in what a reducer says does not stand in the warning about a tool that ran.
func TestAWarningAboutARefusalHasNoKey(t *testing.T) {
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(ctx context.Context, _ struct{}) (string, error) {
		return "paid", tool.Emit(ctx, "order", 1)
	}))
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Say("Done."))
	result, _ := fixture.Run(t.Context(), model, guarded(t, func() error { return errors.New(noRoom) }), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
	require.Len(t, result.Warnings, 1)
	assert.Contains(t, result.Warnings[0], scrub)
}
