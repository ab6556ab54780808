package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/policy"
)

func TestTheDefaultContext(t *testing.T) {
	from, to := policy.Context{}.Shares()
	assert.Equal(t, []int{75, 50, 4}, []int{from, to, policy.Context{}.Newest()})
	assert.True(t, policy.Context{}.IsZero())
	for _, c := range []policy.Context{{Steps: []policy.ContextStep{}}, {From: new(75)}, {To: new(50)}, {Keep: new(4)}} {
		assert.False(t, c.IsZero(), c)
	}
	assert.NoError(t, policy.Context{From: new(100), To: new(99)}.Validate())
}

func TestContextRulesAreChecked(t *testing.T) {
	require.NoError(t, policy.DefaultSet().Context.Validate())
	none := policy.Context{Steps: []policy.ContextStep{}}
	require.NoError(t, none.Validate())
	assert.Empty(t, none.Order(), "no steps: prompts stay as they are")
	assert.Equal(t, []policy.ContextStep{"fold", "clear", "window"}, policy.Context{}.Order())
	err := policy.Context{Steps: []policy.ContextStep{"squeeze", policy.Fold, policy.Fold}, From: new(101), Keep: new(0),
		To: new(101)}.Validate()
	assert.EqualError(t, err, `steps[0]: "squeeze" is not known; use one of fold, clear, summarise, window
steps[2]: "fold" appears twice; leave one out
keep: 0 is too few; write 1 or more
from: 101 is more than all of the window; write a percentage up to 100
to: 101 leaves nothing to gain; write a percentage below from, which is 101`)
	var set policy.Set
	require.NoError(t, json.Unmarshal([]byte(`{"context":{"steps":["fold"],"to":80}}`), &set))
	assert.Equal(t, policy.Context{Steps: []policy.ContextStep{policy.Fold}, To: new(80)}, set.Context)
	assert.EqualError(t, set.Validate(), "context.to: 80 leaves nothing to gain; write a percentage below from, which is 75")
}

// A run that was recorded without any step is replayed without any.
func TestNoStepsAreNotTheDefault(t *testing.T) {
	set := policy.DefaultSet()
	set.Context.Steps = []policy.ContextStep{}
	text, err := json.Marshal(&set)
	require.NoError(t, err)
	var read policy.Set
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Empty(t, read.Context.Order(), string(text))
	assert.NotNil(t, read.Context.Steps)
}
