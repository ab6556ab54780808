package session_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// A session that returns to an earlier state keeps its logs: later attempts stay on record.
func TestALiveSessionIsRestoredAndKeepsItsLogs(t *testing.T) {
	cart, visits := session.StateSlice[string]("cart"), session.LogSlice[string]("visits")
	refuse := func(_ reducer.View[string], e string) (reducer.Change[string], error) {
		return reducer.None[string](), errors.New("refused")
	}
	s, err := session.New(session.Config{ID: "order-42", Slices: []session.Declared{cart, visits}, Reducers: []session.Reducer{
		session.On(cart, "add", "cart", reducer.Appending[string]()),
		session.On(visits, "add", "visits", reducer.Appending[string]()),
		session.On(cart, "bad", "bad", refuse),
	}})
	require.NoError(t, err)
	event := func(name, item string) session.Event {
		payload, _ := json.Marshal(item)
		return session.Event{Name: name, Payload: payload}
	}
	require.NoError(t, s.Dispatch(event("add", "tea")))
	before, err := s.Snapshot()
	require.NoError(t, err)
	require.NoError(t, s.Dispatch(event("add", "cup")))
	require.Error(t, s.Dispatch(event("bad", "gun")))

	require.NoError(t, s.RestoreSlices(before))
	state := s.State()
	held := func(name string) (all []string) {
		values, _ := state.Values(name)
		for _, v := range values {
			all = append(all, string(v))
		}
		return all
	}
	assert.Equal(t, []string{`"tea"`}, held("cart"))
	assert.Equal(t, []string{`"tea"`, `"cup"`}, held("visits"))
	assert.Equal(t, 1, len(state.ReducerErrors()))

	require.NoError(t, session.DriverOf(s).Acquire())
	require.ErrorIs(t, s.RestoreSlices(before), session.ErrBusy)
	session.DriverOf(s).Release()
	other, err := session.New(session.Config{ID: "another", Slices: []session.Declared{cart, visits}})
	require.NoError(t, err)
	require.ErrorContains(t, other.RestoreSlices(before), "id")
	require.Error(t, s.RestoreSlices([]byte("{")))
	assert.True(t, state.Same(s.State()), "nothing was changed")

	logs, err := session.NewState("order-42", visits)
	require.NoError(t, err)
	text, err := logs.Snapshot()
	require.NoError(t, err)
	require.NoError(t, s.RestoreSlices(text))
	now := s.State()
	assert.Empty(t, session.View(now, cart).Len(), "the snapshot does not have it")
	assert.Equal(t, 2, session.View(now, visits).Len())
	assert.Equal(t, 1, session.View(state, cart).Len(), "a state that was taken before stays as it was")
}
