package session_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// failed returns a state with one more attempt and its feedback.
func failed(s session.State) session.State {
	n := s.AttemptCount() + 1
	f := feedback.New(feedback.Input{Tool: "book", Attempt: n, MaxAttempts: n + 1, Class: fault.ToolValidation})
	return s.AddFeedback(f).AddAttempt(session.Attempt{Action: "book", Attempt: n})
}

// whole checks that [failed] made the state.
func whole(t assert.TestingT, s session.State) {
	if !assert.Equal(t, s.AttemptCount(), len(s.Feedback())) || s.AttemptCount() == 0 {
		return
	}
	a := s.Attempts()[len(s.Attempts())-1]
	f := s.Feedback()[len(s.Feedback())-1]
	assert.Equal(t, s.AttemptCount(), a.Attempt)
	assert.Equal(t, s.AttemptCount(), f.Attempt)
}

// Readers of a session that a run writes to see complete states, in order.
func TestReadersSeeWholeStates(t *testing.T) {
	s := must(session.New(session.Config{ID: "order-42"}))
	require.NoError(t, session.DriverOf(s).Acquire())
	const attempts = 500
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for seen := 0; seen < attempts; {
				st := s.State()
				whole(t, st)
				assert.LessOrEqual(t, seen, st.AttemptCount())
				seen = st.AttemptCount()
			}
		})
	}
	for st := s.State(); st.AttemptCount() < attempts; {
		st = failed(st)
		require.NoError(t, session.DriverOf(s).Replace(st))
	}
	readers.Wait()
}

// A session accepts any state that grew from its own: also one of another branch, and a shorter one.
func TestASessionHoldsWhatItWasGivenLast(t *testing.T) {
	s := must(session.New(session.Config{ID: "order-42"}))
	require.NoError(t, session.DriverOf(s).Acquire())
	states := []session.State{s.State()}
	for range 8 {
		states = append(states, failed(states[len(states)-1]))
	}
	aside := failed(failed(states[2]))
	for _, n := range []int{8, 3, 0, 4, 5, 4} {
		for _, st := range []session.State{states[n], aside, states[n]} {
			require.NoError(t, session.DriverOf(s).Replace(st))
			assert.Equal(t, snapshotOf(t, st), snapshotOf(t, s))
			whole(t, s.State())
		}
	}
	other := must(session.NewState("order-43"))
	assert.EqualError(t, session.DriverOf(s).Replace(other), "the session has another id already")
	assert.Equal(t, snapshotOf(t, states[4]), snapshotOf(t, s))
}

// Reading waits for no reducer, not even within one. A change within one is refused, because it would wait
// for itself.
func TestWhatAReducerMayDoWithItsSession(t *testing.T) {
	var s *session.Session
	within := map[string]func() error{
		"dispatch": func() error { return s.Dispatch(event("paid", `1`)) },
		"acquire":  func() error { return session.DriverOf(s).Acquire() },
		"adopt":    func() error { return session.DriverOf(s).Adopt("order-43") },
		"restore":  func() error { return s.RestoreSlices([]byte(snapshotOf(t, s))) },
	}
	for name, change := range within {
		t.Run(name, func(t *testing.T) {
			var got error
			s = must(session.New(session.Config{ID: "order-42", Slices: []session.Declared{total},
				Reducers: []session.Reducer{session.On(total, "paid", "sum", func(v reducer.View[int], n int) (reducer.Change[int], error) {
					assert.NotEmpty(t, snapshotOf(t, s))
					assert.Empty(t, s.Conversation())
					assert.Equal(t, "order-42", s.ID())
					got = change()
					return sums(v, n)
				})}}))
			require.NoError(t, s.Dispatch(event("paid", `5`)))
			assert.Equal(t, session.ErrReentrant, got)
			assert.Equal(t, []int{5}, values(s, total))
			require.NoError(t, s.Dispatch(event("paid", `5`)), "it is not held")
		})
	}
}

// What is said to a run changes nothing in the session, and waits for no reducer.
func TestAReducerMaySaySomething(t *testing.T) {
	var s *session.Session
	var got error
	s = must(session.New(session.Config{ID: "order-42", Slices: []session.Declared{total},
		Reducers: []session.Reducer{session.On(total, "paid", "sum", func(v reducer.View[int], n int) (reducer.Change[int], error) {
			got = s.Say(session.Words{Text: "Paid."})
			return sums(v, n)
		})}}))
	require.NoError(t, s.Dispatch(event("paid", `5`)))
	assert.Equal(t, session.ErrNotHeld, got)
	assert.EqualError(t, got, "session: no run holds it: begin one; a message is its prompt")
}

// A dispatch from another goroutine waits for the reducer, and is not lost.
func TestADispatchFromAnotherGoroutineWaits(t *testing.T) {
	var others sync.WaitGroup
	var s *session.Session
	s = must(session.New(session.Config{Slices: []session.Declared{total},
		Reducers: []session.Reducer{session.On(total, "paid", "sum", func(v reducer.View[int], n int) (reducer.Change[int], error) {
			if n == 1 {
				for range 4 {
					begun := make(chan bool)
					others.Go(func() {
						close(begun)
						assert.NoError(t, s.Dispatch(event("paid", `10`)))
					})
					<-begun
				}
			}
			return sums(v, n)
		})}}))
	require.NoError(t, s.Dispatch(event("paid", `1`)))
	others.Wait()
	assert.Equal(t, []int{41}, values(s, total))
}

// A snapshot has the state and the conversation of one moment.
func TestASnapshotIsOfOneMoment(t *testing.T) {
	s := must(session.New(session.Config{ID: "order-42"}))
	require.NoError(t, session.DriverOf(s).Acquire())
	const runs = 200
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for seen := 0; seen < runs; {
				copied := must(session.Restore(session.Config{}, []byte(snapshotOf(t, s))))
				seen = copied.State().AttemptCount()
				if !assert.Len(t, copied.Conversation(), seen) {
					return
				}
			}
		})
	}
	var said []message.Message
	for range runs {
		said = append(said, message.Message{Role: message.User, Text: "Go on."})
		require.NoError(t, session.DriverOf(s).Conclude(session.Contents{State: failed(s.State()), Conversation: said}))
	}
	readers.Wait()
	require.ErrorIs(t, session.DriverOf(must(session.New(session.Config{}))).Conclude(session.Contents{State: s.State(), Conversation: said}),
		session.ErrNotHeld)
}

// A reducer that changes another session waits for it like any other caller, and is not refused.
func TestAReducerWaitsForAnotherSession(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	with := func(name string, do func() error) *session.Session {
		return must(session.New(session.Config{
			Slices: []session.Declared{total},
			Reducers: []session.Reducer{session.On(total, "go", name, func(reducer.View[int], int) (reducer.Change[int], error) {
				return reducer.Append(1), do()
			})},
		}))
	}
	busy := with("busy", func() error {
		select {
		case <-end:
		default:
			close(began)
			<-end
		}
		return nil
	})
	other := with("other", func() error { return busy.Dispatch(event("go", "1")) })
	var all sync.WaitGroup
	all.Go(func() { assert.NoError(t, busy.Dispatch(event("go", "1"))) })
	<-began
	got := make(chan error, 1)
	all.Go(func() { got <- other.Dispatch(event("go", "1")) })
	waits := func() bool {
		text := make([]byte, 1<<20)
		return strings.Contains(string(text[:runtime.Stack(text, true)]), "(*Mutex).lockSlow")
	}
	for len(got) == 0 && !waits() {
		runtime.Gosched()
	}
	close(end)
	require.NoError(t, <-got)
	all.Wait()
	assert.Len(t, values(busy, total), 2)
}
