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

// oneByOne are a zero record, and such of which one field each is set.
func oneByOne[T any]() []T {
	all := make([]T, 1)
	for n := range reflect.TypeFor[T]().NumField() {
		var record T
		switch v := reflect.ValueOf(&record).Elem().Field(n); v.Interface().(type) {
		case []fault.Issue:
			v.Set(reflect.ValueOf(oneByOne[fault.Issue]()))
		case message.Usage:
			v.Set(reflect.ValueOf(message.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, APICalls: 5}))
		case time.Time:
			v.Set(reflect.ValueOf(time.Unix(7, 8).UTC()))
		case *feedback.Schedule:
			for _, s := range oneByOne[feedback.Schedule]() {
				v.Set(reflect.ValueOf(&s))
				all = append(all, record)
			}
		case feedback.Diff:
			for _, d := range oneByOne[feedback.Diff]() {
				v.Set(reflect.ValueOf(d))
				all = append(all, record)
			}
		case bool:
			v.SetBool(true)
		default:
			if v.Kind() == reflect.String {
				v.SetString("x")
			} else {
				v.SetInt(-1 << 40)
			}
		}
		all = append(all, record)
	}
	return all
}

// rested is what a session holds that rested with a state.
func rested(t *testing.T, attempts []Attempt, told []feedback.RetryFeedback) State {
	s, err := New(Config{ID: "order-42"})
	require.NoError(t, err)
	require.NoError(t, s.Acquire())
	st := s.State()
	st.attempts, st.feedback = seq.Of(attempts...), seq.Of(told...)
	require.NoError(t, s.Rest(st))
	require.Nil(t, s.frame.Load())
	require.Equal(t, "order-42", s.ID())
	require.Equal(t, s.State(), s.State())
	st = s.State()
	require.True(t, s.frame.Load().fits(&st))
	return st
}

// Each field of a record is set alone: one that is forgotten fails here.
func TestRecordsRestWhole(t *testing.T) {
	attempts, told := oneByOne[Attempt](), oneByOne[feedback.RetryFeedback]()
	require.Greater(t, len(told), maxResting)
	for _, told := range [][]feedback.RetryFeedback{told[:maxResting], told[len(told)-maxResting:], nil} {
		st := rested(t, attempts, told)
		assert.Equal(t, attempts, st.attempts.Slice(0, st.attempts.Len()))
		assert.Equal(t, told, st.feedback.Slice(0, st.feedback.Len()))
	}
}

// Issues that several records have are taken once.
func TestIssuesRestOnce(t *testing.T) {
	first, second := []fault.Issue{{Rule: "type"}, {Rule: "required"}}, []fault.Issue{{Rule: "type"}}
	attempts := []Attempt{{Attempt: 1, Issues: first}, {Attempt: 2}, {Attempt: 3, Issues: second}, {Attempt: 4, Issues: first}}
	told := []feedback.RetryFeedback{
		{Attempt: 1, Issues: first, Diff: feedback.Diff{New: first}},
		{Attempt: 3, Issues: second, Diff: feedback.Diff{Fixed: first[1:], Persistent: second}},
	}
	st := rested(t, attempts, told)
	assert.Equal(t, attempts, st.attempts.Slice(0, len(attempts)))
	assert.Equal(t, told, st.feedback.Slice(0, len(told)))
	for n, at := range []int{0, 2} {
		f := st.feedback.At(n)
		assert.Same(t, &f.Issues[0], &st.attempts.At(at).Issues[0])
	}
	f := st.feedback.At(1)
	assert.Same(t, &f.Issues[0], &f.Diff.Persistent[0])
}

func TestWhatIsNotPlainRestsAsItIs(t *testing.T) {
	for name, st := range map[string]State{
		"errors":        State{}.AddReducerError(fault.ReducerError{Reducer: "x"}),
		"many attempts": {attempts: seq.Of(make([]Attempt, maxResting+1)...)},
		"much feedback": {feedback: seq.Of(make([]feedback.RetryFeedback, maxResting+1)...)},
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
