package session

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/seq"
)

// Each field of an attempt is set alone: one that is forgotten fails here.
func TestAnAttemptRestsWhole(t *testing.T) {
	all := []Attempt{{}}
	for n := range reflect.TypeFor[Attempt]().NumField() {
		var a Attempt
		switch v := reflect.ValueOf(&a).Elem().Field(n); v.Interface().(type) {
		case []fault.Issue:
			continue
		case message.Usage:
			a.Usage = message.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, APICalls: 5}
		case time.Time:
			a.At = time.Unix(7, 8).UTC()
		case bool:
			v.SetBool(true)
		default:
			if v.Kind() == reflect.String {
				v.SetString("x")
			} else {
				v.SetInt(-1 << 40)
			}
		}
		all = append(all, a)
	}
	s, err := New(Config{ID: "order-42"})
	require.NoError(t, err)
	require.NoError(t, s.Acquire())
	st := s.State()
	st.attempts = seq.Of(all...)
	require.NoError(t, s.Rest(st))
	require.Nil(t, s.frame.Load())
	require.Equal(t, all, s.State().attempts.Slice(0, len(all)))
	require.Equal(t, "order-42", s.ID())
	require.Equal(t, s.State(), s.State())
	st = s.State()
	require.True(t, s.frame.Load().fits(&st))
}

func TestWhatIsNotPlainRestsAsItIs(t *testing.T) {
	for name, st := range map[string]State{
		"issues":   State{}.AddAttempt(Attempt{Issues: []fault.Issue{{Rule: "type"}}}),
		"feedback": State{}.AddFeedback(feedback.RetryFeedback{Attempt: 1}),
		"errors":   State{}.AddReducerError(fault.ReducerError{Reducer: "x"}),
		"many":     {attempts: seq.Of(make([]Attempt, maxResting+1)...)},
	} {
		s, err := New(Config{})
		require.NoError(t, err)
		require.NoError(t, s.Acquire())
		require.NoError(t, s.Rest(st))
		if assert.NotNil(t, s.frame.Load(), name) {
			assert.Equal(t, st.attempts.Len()+st.feedback.Len()+st.ReducerErrors().Len(),
				s.State().attempts.Len()+s.State().feedback.Len()+s.State().ReducerErrors().Len(), name)
		}
	}
}

// A state without the slices that the session declares gets them.
func TestDeclaredSlicesDoNotRest(t *testing.T) {
	s, err := New(Config{Slices: []Declared{StateSlice[int]("total")}})
	require.NoError(t, err)
	require.NoError(t, s.Acquire())
	require.NoError(t, s.Rest(State{}.AddAttempt(Attempt{Attempt: 1})))
	assert.Len(t, s.State().Slices(), 1)
}

// Whatever is done to a session that rests is done to what it holds.
func TestASessionThatRestsIsThatSession(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, s *Session){
		"read":    func(*testing.T, *Session) {},
		"release": func(_ *testing.T, s *Session) { s.Release() },
		"adopt":   func(t *testing.T, s *Session) { require.NoError(t, s.Adopt("order-42")) },
		"another": func(t *testing.T, s *Session) { require.ErrorIs(t, s.Adopt("x"), ErrAdopted) },
		"replace": func(t *testing.T, s *Session) { require.NoError(t, s.Replace(s.State())) },
		"dispatch": func(t *testing.T, s *Session) {
			require.ErrorIs(t, s.Dispatch(Event{Name: "x"}), ErrBusy)
			s.Release()
			require.NoError(t, s.Dispatch(Event{Name: "x"}))
		},
		"rest": func(t *testing.T, s *Session) { require.NoError(t, s.Rest(s.State())) },
		"at once": func(_ *testing.T, s *Session) {
			seen := make(chan int)
			for range 8 {
				go func() { seen <- s.State().attempts.Len() }()
			}
			for range 8 {
				assert.Equal(t, 2, <-seen)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(Config{ID: "order-42"})
			require.NoError(t, err)
			require.ErrorIs(t, s.Rest(s.State()), ErrNotHeld)
			require.NoError(t, s.Acquire())
			st := s.State().AddAttempt(Attempt{Attempt: 1, Class: fault.Overloaded}).AddAttempt(Attempt{Attempt: 2})
			require.NoError(t, s.Rest(st))
			require.Nil(t, s.frame.Load())
			do(t, s)
			want, err := st.Snapshot()
			require.NoError(t, err)
			got, err := s.Snapshot()
			require.NoError(t, err)
			assert.JSONEq(t, string(want), string(got))
			assert.Empty(t, s.rest)
		})
	}
}
