package session_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
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
	require.NoError(t, s.Acquire())
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
		require.NoError(t, s.Replace(st))
	}
	readers.Wait()
}

// A session accepts any state that grew from its own: also one of another branch, and a shorter one.
func TestASessionHoldsWhatItWasGivenLast(t *testing.T) {
	s := must(session.New(session.Config{ID: "order-42"}))
	require.NoError(t, s.Acquire())
	states := []session.State{s.State()}
	for range 8 {
		states = append(states, failed(states[len(states)-1]))
	}
	aside := failed(failed(states[2]))
	for _, n := range []int{8, 3, 0, 4, 5, 4} {
		for _, st := range []session.State{states[n], aside, states[n]} {
			require.NoError(t, s.Replace(st))
			assert.Equal(t, snapshotOf(t, st), snapshotOf(t, s))
			whole(t, s.State())
		}
	}
	other := must(session.NewState("order-43"))
	assert.ErrorIs(t, s.Replace(other), session.ErrAdopted)
	assert.Equal(t, snapshotOf(t, states[4]), snapshotOf(t, s))
}
