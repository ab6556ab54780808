package ratelimit_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/ratelimit"
)

// A nil list is left out of the JSON; an empty list stays.
func TestListsAreNeverNull(t *testing.T) {
	t.Parallel()
	for want, state := range map[string]ratelimit.State{
		`{"limited":false}`:                                        {},
		`{"limited":false,"windows":[],"ignored":[]}`:              {Windows: []ratelimit.Window{}, Ignored: []ratelimit.Ignored{}},
		`{"limited":true,"windows":[{"name":"a","resource":"a"}]}`: {Limited: true, Windows: []ratelimit.Window{{Name: "a", Resource: "a"}}},
	} {
		data, err := json.Marshal(state)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
		var back ratelimit.State
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, state, back)
	}
}
