package limittest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// Lister tests what tells of the limits in a store, which has none yet: all scopes, in order of name. An
// error of it begins with name.
func Lister(t *testing.T, s limiter.Store, name string, lists ...func(context.Context) ([]limiter.Status, error)) {
	t.Helper()
	for scope, inFlight := range map[string]int64{"b": 3, "a": 0} {
		require.True(t, swap(t, s, scope, 0, recordOf(t, inFlight)))
	}
	for _, list := range lists {
		all, err := list(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 2)
		assert.Equal(t, "a", all[0].Scope)
		assert.EqualValues(t, 0, all[0].State.InFlight)
		assert.Equal(t, "b", all[1].Scope)
		assert.EqualValues(t, 3, all[1].State.InFlight)
	}
	require.True(t, swap(t, s, "c", 0, "one"))
	for _, list := range lists {
		_, err := list(t.Context())
		require.ErrorContains(t, err, name+`: limits: scope "c": the record in the store cannot be read`)
	}
}

// recordOf returns what a limiter keeps of a scope with so many calls in flight.
func recordOf(t *testing.T, inFlight int64) string {
	st, err := limit.New(limit.Config{})
	require.NoError(t, err)
	st.InFlight = inFlight
	value, err := json.Marshal(map[string]limit.State{"state": st})
	require.NoError(t, err)
	return string(value)
}
