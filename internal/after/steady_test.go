package after_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/after"
)

// telling is a clock that only tells the time.
type telling func() time.Time

func (c telling) Now() time.Time { return c() }

func (c telling) After(time.Duration) <-chan time.Time { return nil }

// A time that is steady is that of its clock, and goes on from where it was when the clock is set back.
func TestTheTimeGoesOnWhenTheClockIsSetBack(t *testing.T) {
	begun := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := begun
	s := after.SteadyTime(telling(func() time.Time { return clock }))
	for _, step := range []struct{ clock, reached, time, ahead time.Duration }{
		{clock: 0},
		{clock: time.Second, time: time.Second},
		{clock: -time.Hour, time: time.Second, ahead: time.Hour + time.Second},
		{clock: -time.Hour + time.Second, time: 2 * time.Second, ahead: time.Hour + time.Second},
		{clock: -time.Hour + time.Second, reached: 5 * time.Second, time: 5 * time.Second, ahead: time.Hour + 4*time.Second},
		{clock: -time.Hour + time.Second, reached: time.Second, time: 5 * time.Second, ahead: time.Hour + 4*time.Second},
		{clock: -time.Hour + 2*time.Second, time: 6 * time.Second, ahead: time.Hour + 4*time.Second},
	} {
		clock = begun.Add(step.clock)
		if step.reached > 0 {
			s.Reached(begun.Add(step.reached))
		}
		assert.Equal(t, begun.Add(step.time), s.Now())
		assert.Equal(t, step.ahead, s.Ahead())
	}
}

// A clock may use what waits for it while it is read. Of two that read it, the later one does not take the
// earlier reading for a clock that was set back.
func TestAClockIsReadWhileItIsRead(t *testing.T) {
	now, inner := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), true
	var s *after.Steady
	s = after.SteadyTime(telling(func() time.Time {
		read := now
		if inner {
			inner, now = false, now.Add(time.Second)
			assert.Equal(t, now, s.Now())
		}
		return read
	}))
	assert.Equal(t, now.Add(time.Second), s.Now())
	assert.Zero(t, s.Ahead())
}
