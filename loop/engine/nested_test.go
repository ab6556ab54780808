package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
)

// A run within a call ends with the call and with the run around it, unless it is to end before.
func TestARunEndsWithTheCallAroundIt(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		timeout          time.Duration
		outer, own, want time.Time
	}{
		{0, time.Time{}, time.Time{}, time.Time{}},
		{0, time.Time{}, now.Add(time.Hour), now.Add(time.Hour)},
		{time.Minute, time.Time{}, time.Time{}, now.Add(time.Minute)},
		{time.Minute, time.Time{}, now.Add(time.Hour), now.Add(time.Minute)},
		{time.Minute, time.Time{}, now.Add(time.Second), now.Add(time.Second)},
		{0, now.Add(time.Second), time.Time{}, now.Add(time.Second)},
		{time.Minute, now.Add(time.Second), now.Add(time.Hour), now.Add(time.Second)},
		{time.Minute, now.Add(time.Hour), time.Time{}, now.Add(time.Minute)},
	} {
		outer := machine.State{Config: &machine.Config{Deadline: tt.outer}}
		o := engine.Outer{State: outer, Run: machine.ToolRun{Timeout: tt.timeout}}
		assert.Equal(t, tt.want, o.Deadline(tt.own, now))
	}
}

// The outermost run bounds the depth; a run within may only bound it further.
func TestTheDepthOfRunsIsThatOfTheOutermost(t *testing.T) {
	o := engine.Outer{Depth: 0, Deepest: 2}
	assert.False(t, o.TooDeep())
	o.Depth, o.Deepest = o.Depths(8)
	assert.Equal(t, engine.Outer{Depth: 1, Deepest: 2}, o)
	assert.False(t, o.TooDeep())
	depth, deepest := o.Depths(0)
	assert.Equal(t, [2]int{2, 2}, [2]int{depth, deepest})
	assert.True(t, (&engine.Outer{Depth: depth, Deepest: deepest}).TooDeep())
}
